// Picking the elements of a vector above a magnitude, in order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compressors/simd/magnitude.h"

namespace breakeven {

std::size_t count_above(const float* values, std::size_t n, std::int32_t above);

/// The elements whose magnitude is above `above`, in order, with their positions counted from `first`;
/// returns how many. Up to kVectorSlack elements past them may be overwritten.
std::size_t collect_above(const float* values, std::size_t n, std::int32_t above, std::uint32_t first,
                          float* kept, std::uint32_t* positions);
/// The same of `sum` after sum += values.
std::size_t add_and_collect(const float* values, float* sum, std::size_t n, std::int32_t above,
                            std::uint32_t first, float* kept, std::uint32_t* positions);

/// Which entries stay: every magnitude above `sure`, and the first `ties` of those above `tie` but not
/// `sure`.
struct Cut {
  std::int32_t sure = kBelowAll, tie = kBelowAll;
  std::size_t ties = 0;
};
/// Copies the entries that stay, in order, and counts the ties down; returns how many. The destination may be
/// the source, or begin before it.
std::size_t keep(Cut& cut, const float* values, const std::uint32_t* positions, std::size_t n, float* kept,
                 std::uint32_t* kept_positions);

/// Sum of |x| and the largest magnitude.
struct Spread {
  double sum = 0;
  std::int32_t largest = 0;
};
Spread spread_of(const float* values, std::size_t n);

}  // namespace breakeven
