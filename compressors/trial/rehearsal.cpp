#include "compressors/trial/rehearsal.h"

#include <algorithm>
#include <utility>

#include "model/error.h"

namespace breakeven {
namespace {

Buffer<float> made_gradient(std::span<const Shape> tensors, const Worker& worker, GradientKind kind) {
  Buffer<float> gradient(elements(tensors));
  fill_gradient(gradient.span(), tensors, kind, worker.seed + worker.rank + 1);
  return gradient;
}

}  // namespace

Rehearsal::Rehearsal(const Compressor& compressor, std::vector<Shape> tensors, const Worker& worker,
                     GradientKind kind)
    : Rehearsal(compressor, tensors, worker, made_gradient(tensors, worker, kind)) {}

Rehearsal::Rehearsal(const Compressor& compressor, std::span<const Shape> tensors, const Worker& worker,
                     Buffer<float> gradient)
    : plan_(compressor.plan(tensors, worker.workers)),
      kernel_(compressor.kernel(tensors, worker)),
      gradient_(std::move(gradient)),
      mean_(gradient_.size()) {
  if (kernel_ == nullptr) {
    throw Error(Fault::value, "kernel", "the scheme is described only", "a scheme with code");
  }
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const auto sent = encode(i);
    const std::vector<Payload> payloads(worker.workers, Payload(sent.begin(), sent.end()));
    const Payload received = exchanged(plan_[i], payloads, worker.rank);
    received_.emplace_back(received.size());
    std::copy(received.begin(), received.end(), received_.back().data());
    decode(i);
  }
}

}  // namespace breakeven
