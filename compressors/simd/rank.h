// Order statistics of magnitudes, and samples of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compressors/simd/magnitude.h"

namespace breakeven {

/// Copies the magnitudes above `low` and up to `high`; returns how many. Up to kVectorSlack elements past
/// them may be overwritten.
std::size_t copy_between(const float* values, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* magnitudes);
std::size_t copy_between(const std::int32_t* magnitudes, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* to);

/// A vector about a pivot: how many are above it, the smallest of them, and the largest of the others.
struct Sides {
  std::size_t above = 0;
  std::int32_t smallest_above = kAboveAll, largest_below = kBelowAll;
};
/// The k-th largest (from 1, at most n) of magnitudes, and how many are above it. Destroys the vector.
struct Ranked {
  std::int32_t magnitude = 0;
  std::size_t above = 0;
};
Ranked kth_largest(std::int32_t* magnitudes, std::size_t n, std::size_t k);

/// What a step makes of a gradient: the gradient, residual + gradient, or residual + (momentum * velocity +
/// gradient), as there are vectors.
struct Terms {
  const float* gradient = nullptr;
  const float* residual = nullptr;
  const float* velocity = nullptr;
  float momentum = 0;
};
/// A sample of whole cache lines, where vectors begin with one: the kLine magnitudes from each of elements
/// kLine * lines[i].
constexpr std::size_t kLine = 16;
void copy_lines(const Terms& terms, const std::uint32_t* lines, std::size_t count, std::int32_t* magnitudes);
/// Sum of squares of the differences between neighbouring lines' numbers of magnitudes above `above`.
double line_variation(const std::int32_t* magnitudes, std::size_t lines, std::int32_t above);

}  // namespace breakeven
