// How small and how large a stated number can be, in base units.
#pragma once

namespace breakeven {

// Far beyond anything real, and far inside what doubles can multiply and divide a few times without an
// infinity.
constexpr double kLeastStated = 1e-18;
constexpr double kMostStated = 1e24;

constexpr bool can_be_stated(double value) {
  const double size = value < 0 ? -value : value;
  return value == 0 || (size >= kLeastStated && size <= kMostStated);
}

}  // namespace breakeven
