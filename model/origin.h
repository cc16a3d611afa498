// Where a number comes from; every report says it.
#pragma once

#include <string_view>

namespace breakeven {

/// Ordered from the most to the least trustworthy.
enum class Origin { given, measured, published, estimated, assumed };

constexpr std::string_view name(Origin origin) {
  constexpr std::string_view names[] = {"given", "measured", "published", "estimated", "assumed"};
  return names[static_cast<int>(origin)];
}
/// The less trustworthy of two: what a sum of both is.
constexpr Origin weaker(Origin a, Origin b) {
  return a < b ? b : a;
}

/// Relative uncertainty taken for a codec or compute time of this origin where its source states none. These
/// are judgements, not measurements: a published figure comes from somebody else's machine, a roofline is a
/// lower bound.
constexpr double uncertainty(Origin origin) {
  constexpr double relative[] = {0, 0.05, 0.2, 0.5, 0.5};
  return relative[static_cast<int>(origin)];
}

}  // namespace breakeven
