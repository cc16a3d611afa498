// Floats to constants and codes of whole blocks in one go, for what most payloads are made of.
#pragma once

#include <cstddef>

#include "compressors/block_constants.h"
#include "compressors/simd/quantise.h"

namespace breakeven {

/// Consecutive blocks, and where their constants and their codes go.
struct BlockRun {
  const float* values = nullptr;
  std::size_t count = 0, size = 0;
  std::byte* constants = nullptr;
  std::byte* codes = nullptr;
  Dither dither = {};    ///< its position is a multiple of 64
  bool settled = false;  ///< constants are there, one for all blocks
  bool stream = false;   ///< write codes past the caches
};

/// Are there such blocks that encode_blocks takes: with codes of 8, 4 or 2 bits, a multiple of 64 of them,
/// rounded as goes with their constants?
bool encodes_blocks(const BlockFormat& format, std::size_t size);
/// The same bits as summarise, settle, quantise and pack. Constants that are given must be settled.
void encode_blocks(const BlockConstants& constants, const BlockRun& run);

}  // namespace breakeven
