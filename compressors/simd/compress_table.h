// Which lanes a mask keeps, for vector instructions without a compress of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace breakeven {

/// By mask: the lanes that it keeps, in order, then any.
template <std::size_t kLanes>
constexpr auto compress_table() {
  std::array<std::array<std::uint32_t, kLanes>, std::size_t{1} << kLanes> table{};
  for (std::size_t mask = 0; mask < table.size(); ++mask) {
    std::size_t kept = 0;
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1U) != 0) {
        table[mask][kept++] = lane;
      }
    }
  }
  return table;
}
template <std::size_t kLanes>
alignas(32) inline constexpr auto kCompressTable = compress_table<kLanes>();

}  // namespace breakeven
