// The two 16-bit types, one element at a time: the reference for the vector kernels.
#pragma once

#include <bit>
#include <cstdint>

namespace breakeven {

/// IEEE 754 binary16, rounded to nearest even; overflow becomes infinity, NaN stays NaN (quiet, its upper
/// bits kept).
constexpr std::uint16_t to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U, magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return static_cast<std::uint16_t>(sign | 0x7e00U | (magnitude >> 13U & 0x3ffU));
  }
  if (magnitude >= 0x477ff000U) {  // 65520 rounds to infinity
    return static_cast<std::uint16_t>(sign | 0x7c00U);
  }
  if (magnitude < 0x38800000U) {     // below 2^-14: a multiple of 2^-24
    if (magnitude <= 0x33000000U) {  // 2^-25 and below: zero
      return static_cast<std::uint16_t>(sign);
    }
    const std::uint32_t shift = 126U - (magnitude >> 23U);
    const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    const std::uint32_t half = 1U << (shift - 1U), rest = mantissa & ((1U << shift) - 1U);
    std::uint32_t rounded = mantissa >> shift;
    rounded += rest > half || (rest == half && (rounded & 1U) != 0) ? 1U : 0U;
    return static_cast<std::uint16_t>(sign | rounded);
  }
  const std::uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13U & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13U));
}

constexpr float from_f16(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = half >> 10U & 0x1fU,
                      mantissa = half & 0x3ffU;
  if (exponent == 0x1fU) {
    return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13U | (mantissa != 0 ? 0x400000U : 0U));
  }
  if (exponent == 0) {
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | mantissa << 13U);
}

/// The upper half of a float, rounded to nearest even; NaN stays NaN (quiet).
constexpr std::uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) {
    return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  }
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

constexpr float from_bf16(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
}

}  // namespace breakeven
