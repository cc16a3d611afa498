// Plain arithmetic on vectors of floats at the speed of memory. Any length and alignment.
#pragma once

#include <span>

namespace breakeven {

/// to = factor * from. `to` may be `from` itself, but must not overlap it otherwise.
void scale(std::span<const float> from, float factor, std::span<float> to);
/// to += from.
void add(std::span<const float> from, std::span<float> to);
/// to = a + b. `to` may be either of them itself.
void add(std::span<const float> a, std::span<const float> b, std::span<float> to);
/// to = 0, the way of the C library: the fastest there is for large vectors.
void zero(std::span<float> to);

}  // namespace breakeven
