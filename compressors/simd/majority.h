// Majority vote on packed bits.
#pragma once

#include <cstddef>
#include <span>

namespace breakeven {

/// Bit by bit over `bytes` bytes of each vote: set where at least half of the votes are. A tie counts as set:
/// the sign of zero, as in GRACE.
void majority(std::span<const std::byte* const> votes, std::size_t bytes, std::byte* to);

}  // namespace breakeven
