#include "bench/message.h"

#include <utility>

#include "profiles/catalogue.h"

namespace breakeven::bench {
namespace {

constexpr std::uint64_t kSeed = 1;

}  // namespace

Message::Message(std::vector<Shape> tensors, GradientKind kind)
    : tensors_(std::move(tensors)), elements_(breakeven::elements(tensors_)), kind_(kind) {}

const Buffer<float>& Message::gradient() {
  if (gradient_.size() != elements_) {
    gradient_ = Buffer<float>(elements_);
    fill_gradient(gradient_.span(), tensors_, kind_, kSeed);
  }
  return gradient_;
}

Buffer<float>& Message::scratch() {
  if (scratch_.size() != elements_) {
    scratch_ = Buffer<float>(elements_);
  }
  return scratch_;
}

void Message::forget() {
  gradient_ = {};
  scratch_ = {};
}

std::vector<Shape> resnet50() {
  const Workload workload = Catalogue().model("resnet50").workload;
  std::vector<Shape> tensors;
  for (const Tensor& tensor : workload.tensors) {
    tensors.push_back(workload.shape(tensor));
  }
  return tensors;
}

std::vector<Shape> matrix(std::size_t elements) {
  std::size_t rows = 1;
  while (rows * rows < elements) {
    rows *= 2;
  }
  return {Shape{rows, elements / rows}};
}

}  // namespace breakeven::bench
