// Made-up gradients to try kernels on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

enum class GradientKind {
  normal,
  heavy_tailed,  ///< Student's t with two degrees of freedom
  constant,
  zero,
  one_hot,   ///< one element that is not zero
  with_nan,  ///< normal, but for some NaN
  with_inf,  ///< normal, but for some infinities of both signs
  denormal,
};
std::string_view name(GradientKind kind);
const std::vector<GradientKind>& gradient_kinds();

/// Fills `gradient`, the tensors laid end to end. Of normal and heavy-tailed ones every tensor has a scale of
/// its own, 3e-5 to 1e-2, as layers do. The same for the same seed; workers take different seeds.
void fill_gradient(std::span<float> gradient, std::span<const Shape> tensors, GradientKind kind,
                   std::uint64_t seed);

}  // namespace breakeven
