// Floats to 16-bit types and back: bit for bit what compressors/half.h does with one element, on every
// target.
#pragma once

#include <cstdint>
#include <span>

namespace breakeven {

/// to = the 16-bit type's nearest to factor * from. Writes as many elements as `from` has.
void cast_to_f16(std::span<const float> from, float factor, std::uint16_t* to);
void cast_to_bf16(std::span<const float> from, float factor, std::uint16_t* to);
/// Reads as many elements as `to` has.
void cast_from_f16(const std::uint16_t* from, std::span<float> to);
void cast_from_bf16(const std::uint16_t* from, std::span<float> to);

}  // namespace breakeven
