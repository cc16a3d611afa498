// What the tests of block codes share.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace breakeven::test {

/// Some elements, at an address that is a multiple of 4 only, and nothing behind them.
class Misaligned {
 public:
  explicit Misaligned(std::span<const float> values) : memory_(values.size() + 1) {
    std::copy(values.begin(), values.end(), memory_.begin() + 1);
  }
  [[nodiscard]] std::span<float> span() { return std::span(memory_).subspan(1); }

 private:
  std::vector<float> memory_;
};

struct Reference {
  double low = 0, high = 0, largest = 0, squares = 0;
};
inline Reference reference_of(std::span<const float> block) {
  Reference of{block[0], block[0], 0, 0};
  for (const float value : block) {
    of.low = std::min<double>(of.low, value);
    of.high = std::max<double>(of.high, value);
    of.largest = std::max<double>(of.largest, std::fabs(value));
    of.squares += static_cast<double>(value) * value;
  }
  return of;
}

}  // namespace breakeven::test
