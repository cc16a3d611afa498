// Picking elements of a vector by their magnitude: counts, compaction in order, order statistics.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace breakeven {

/// A magnitude is the 31 lower bits of a float as an integer: it has the order of |x|, with NaN above
/// infinity.
constexpr std::int32_t magnitude(float value) {
  return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(value) & 0x7fffffffU);
}
/// Every magnitude is above the one, none above the other.
constexpr std::int32_t kBelowAll = -1, kAboveAll = std::numeric_limits<std::int32_t>::max();

std::size_t count_above(const float* values, std::size_t n, std::int32_t above);

/// The elements whose magnitude is above `above`, in order, with their positions counted from `first`;
/// returns how many. Up to kCollectSlack elements past them may be overwritten.
constexpr std::size_t kCollectSlack = 64;
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

/// Copies the magnitudes above `low` and up to `high`; returns how many. Up to kCollectSlack elements past
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

/// A sample of whole cache lines: for each of `lines`, kLine magnitudes from values[16 * line], or of the
/// sums with `more` where that is not null.
constexpr std::size_t kLine = 16;
void copy_lines(const float* values, const float* more, const std::uint32_t* lines, std::size_t count,
                std::int32_t* magnitudes);
/// Sum of squares of the differences between neighbouring lines' numbers of magnitudes above `above`.
double line_variation(const std::int32_t* magnitudes, std::size_t lines, std::int32_t above);

/// Sum of |x| and the largest magnitude.
struct Spread {
  double sum = 0;
  std::int32_t largest = 0;
};
Spread spread_of(const float* values, std::size_t n);

}  // namespace breakeven
