// The order in which sparse schemes compare elements.
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

/// Results of selections are stored in whole vectors: as many elements past them may be overwritten.
constexpr std::size_t kVectorSlack = 16;

}  // namespace breakeven
