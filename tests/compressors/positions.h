// Which elements are largest, for the tests of sparse schemes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "compressors/simd/magnitude.h"

namespace breakeven::test {

using Positions = std::vector<std::uint32_t>;

/// Positions by falling magnitude, equal ones in order.
inline Positions ranking(const std::vector<float>& values) {
  Positions all(values.size());
  std::iota(all.begin(), all.end(), 0U);
  std::stable_sort(all.begin(), all.end(),
                   [&](auto a, auto b) { return magnitude(values[a]) > magnitude(values[b]); });
  return all;
}
/// The first k, in order.
inline Positions first_of(Positions ranked, std::size_t k) {
  ranked.resize(k);
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}
inline Positions largest(const std::vector<float>& values, std::size_t k) {
  return first_of(ranking(values), k);
}
inline std::vector<float> at(const std::vector<float>& values, const Positions& positions) {
  std::vector<float> chosen;
  for (const std::uint32_t position : positions) {
    chosen.push_back(values[position]);
  }
  return chosen;
}

}  // namespace breakeven::test
