// What blocks of floats span: extremes, magnitudes, squares.
#pragma once

#include <cstddef>
#include <span>

namespace breakeven {

/// Of the differences to an origin: their sum and that of their squares. And the largest magnitude, that of
/// the origin included; NaN where there is one.
struct Moments {
  float sum = 0, squares = 0, largest = 0;
};

// Of every `block` values (the last block may be shorter) what the name says.
/// The lowest and the highest; NaN both where one is not finite.
void extents(std::span<const float> values, std::size_t block, float* lows, float* highs);
/// Of NaN: NaN.
void largest_magnitudes(std::span<const float> values, std::size_t block, float* of_blocks);
void sums_of_squares(std::span<const float> values, std::size_t block, float* of_blocks);
/// Of all values.
Moments moments(std::span<const float> values, float origin);

}  // namespace breakeven
