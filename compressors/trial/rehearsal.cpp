#include "compressors/trial/rehearsal.h"

#include <utility>

#include "model/error.h"

namespace breakeven {

Rehearsal::Rehearsal(const Compressor& compressor, std::vector<Shape> tensors, const Worker& worker,
                     GradientKind kind)
    : plan_(compressor.plan(tensors, worker.workers)),
      kernel_(compressor.kernel(tensors, worker)),
      gradient_(breakeven::elements(tensors)),
      mean_(breakeven::elements(tensors)) {
  if (kernel_ == nullptr) {
    throw Error(Fault::value, "kernel", "the scheme is described only", "a scheme with code");
  }
  fill_gradient(gradient_.span(), tensors, kind, worker.seed + worker.rank + 1);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const auto sent = encode(i);
    const std::vector<Payload> payloads(worker.workers, Payload(sent.begin(), sent.end()));
    received_.push_back(exchanged(plan_[i], payloads, worker.rank));
    decode(i);
  }
}

}  // namespace breakeven
