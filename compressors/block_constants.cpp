#include "compressors/block_constants.h"

#include "compressors/simd/statistics.h"

namespace breakeven {
namespace {

/// NaN wins.
float lower(float a, float b) {
  return b < a || std::isnan(b) ? b : a;
}
float higher(float a, float b) {
  return b > a || std::isnan(b) ? b : a;
}

}  // namespace

void BlockConstants::summarise(std::span<const float> values, std::size_t block, float* firsts,
                               float* seconds) const {
  if (pair_) {
    extents(values, block, firsts, seconds);
  } else if (format_.constants == BlockFormat::Constants::norm) {
    sums_of_squares(values, block, firsts);
  } else {
    largest_magnitudes(values, block, firsts);
  }
}

BlockSummary BlockConstants::join(const BlockSummary& one, const BlockSummary& other) const {
  if (pair_) {
    return {lower(one.first, other.first), higher(one.second, other.second)};
  }
  const bool norm = format_.constants == BlockFormat::Constants::norm;
  return {norm ? one.first + other.first : higher(one.first, other.first), 0};
}

float BlockConstants::f16_at_most(float value) {
  const std::uint16_t half = to_f16(value);
  if (!(from_f16(half) > value)) {
    return from_f16(half);
  }
  constexpr std::uint16_t kLeastNegative = 0x8001;
  const int below = half >= 0x8000U ? half + 1 : half - 1;
  return from_f16(half == 0 ? kLeastNegative : static_cast<std::uint16_t>(below));
}

/// Of a value that is not negative.
float BlockConstants::f16_at_least(float value) {
  const std::uint16_t half = to_f16(value);
  return from_f16(from_f16(half) < value ? static_cast<std::uint16_t>(half + 1) : half);
}

}  // namespace breakeven
