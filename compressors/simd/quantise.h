// Floats to integer codes and back, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace breakeven {

/// How the values of a block become codes. With an inverse of 0 all of them take the code of zero.
struct Scaling {
  float low = 0, inverse = 0;
};
/// What the codes of a block mean: low + step * (code - zero).
struct Levels {
  float low = 0, step = 0;
};

/// code = (value - low) * inverse to the nearest integer, ties to even, at most `top`. No value is below
/// `low`.
void quantise_nearest(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                      std::uint32_t zero, std::uint32_t top, std::uint8_t* codes);

/// Random numbers of a message: one key, by position.
struct Dither {
  std::uint64_t key = 0;
  std::size_t position = 0;  ///< of the first value
};
/// code = zero + value * inverse, rounded up by chance: as often as it takes to be that number on average.
/// At most 2 zero + 1. |value| * inverse is at most `zero`, or with `clip` counts as that. Chances are
/// multiples of 2^-15 for bytes (zero < 128), of 2^-7 for words (zero < 2^15).
void quantise_by_chance(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                        std::uint32_t zero, bool clip, Dither dither, std::uint8_t* codes);
void quantise_by_chance(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                        std::uint32_t zero, Dither dither, std::uint16_t* codes);

/// Sets values, or adds to them. Streaming sets them past the caches, if they are aligned to whole vectors;
/// the thread that did it must call end_stream before others read them.
enum class Decode { set, add, stream };
void end_stream();
void dequantise(Decode mode, const std::uint8_t* codes, std::size_t block, const Levels* of_blocks,
                std::uint32_t zero, std::span<float> values);
void dequantise(Decode mode, const std::uint16_t* codes, std::size_t block, const Levels* of_blocks,
                std::uint32_t zero, std::span<float> values);

}  // namespace breakeven
