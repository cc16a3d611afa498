// One worker's kernel with all that it takes to time it: gradients, and what each exchange would deliver.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/trial/exchange.h"
#include "compressors/trial/gradients.h"
#include "model/compressor.h"

namespace breakeven {

class Rehearsal {
 public:
  /// Runs one whole step. The other workers send what this one sends. Throws Error (value) where the scheme
  /// has no kernel for these tensors.
  Rehearsal(const Compressor& compressor, std::vector<Shape> tensors, const Worker& worker,
            GradientKind kind = GradientKind::normal);
  /// With a gradient that others use too: making one takes longer than coding it.
  Rehearsal(const Compressor& compressor, std::span<const Shape> tensors, const Worker& worker,
            Buffer<float> gradient);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t elements() const { return gradient_.size(); }
  /// In any order, any number of times.
  std::span<const std::byte> encode(std::size_t round) { return kernel_->encode(round, gradient_.span()); }
  void decode(std::size_t round) { kernel_->decode(round, received_[round].span(), mean_.span()); }
  [[nodiscard]] std::span<const float> gradient() const { return gradient_.span(); }
  [[nodiscard]] std::span<const float> mean() const { return mean_.span(); }

 private:
  Plan plan_;
  std::unique_ptr<Kernel> kernel_;
  Buffer<float> gradient_, mean_;
  std::vector<Buffer<std::byte>> received_;  // by round
};

}  // namespace breakeven
