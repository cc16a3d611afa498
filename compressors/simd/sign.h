// Signs of floats as bits, 32 times smaller: with the magnitude they lose, with error feedback, and back.
// Element i is bit i % 8 of byte i / 8, set unless the element is below zero: both zeros are positive, NaN is
// negative. Bits past the last element are zero. Sums do not depend on the instructions used.
#pragma once

#include <cstddef>
#include <span>

namespace breakeven {

/// Writes ceil(n / 8) bytes; returns the sum of the magnitudes.
double pack_signs(std::span<const float> values, std::byte* bits);

/// The same with error feedback, in one pass: of values + error, where the error is what the last call left
/// out: kept - scale * sign(kept). `kept` becomes that sum; so the error never needs a pass of its own once
/// the scale is known. Zeros and scale 0 start it.
double pack_signs(std::span<const float> values, float scale, float* kept, std::byte* bits);

/// to = magnitude * sign. `to` is a part of `all` elements: many go past the caches.
void unpack_signs(const std::byte* bits, float magnitude, std::span<float> to, std::size_t all);

struct ScaledSigns {
  const std::byte* bits = nullptr;
  float scale = 0;
};
/// to = factor * (sum of scale * sign over `codes`, in their order), from element `first`, a multiple of 8,
/// on.
void add_signs(std::span<const ScaledSigns> codes, std::size_t first, float factor, std::span<float> to);

/// A byte a sign, 1 or 0, and back; any byte but 0 is a 1.
void bits_to_bytes(const std::byte* bits, std::span<std::byte> bytes);
void bytes_to_bits(std::span<const std::byte> bytes, std::byte* bits);

}  // namespace breakeven
