// Integer codes of fixed width, with constants for every block of elements: payloads, and their coding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/block_constants.h"
#include "compressors/buffer.h"
#include "compressors/joined.h"
#include "compressors/threads.h"

namespace breakeven {

/// Payloads of `elements` elements: the constants of all blocks, then the codes, then zeros up to a whole
/// word.
class BlockCode {
 public:
  BlockCode() = default;
  BlockCode(const BlockFormat& format, std::size_t elements);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Room for `count` payloads. The codes of a single one begin a cache line: others are written more slowly.
  [[nodiscard]] Buffer<std::byte> payloads(std::size_t count) const { return {count * bytes_, codes_}; }

  /// Payloads one after the other, the last ones of fewer elements, or none, where `from` ends: what these
  /// lack stays as it is. Chances come from `key` and an element's place in `from`.
  void encode(const Joined& from, const float* gradient, std::uint64_t key, std::span<std::byte> payloads,
              Threads& threads);
  /// For constants that are given: before encode.
  void give_step(float step, std::byte* payload) const { constants_.send(step, payload); }

  /// The mean of all payloads, every one of the elements of `to`, where these lie in `mean`.
  void decode_mean(std::span<const std::byte> payloads, const Joined& to, float* mean,
                   Threads& threads) const;
  /// All payloads, of consecutive elements of `to`.
  void decode_parts(std::span<const std::byte> payloads, const Joined& to, float* mean,
                    Threads& threads) const;

 private:
  /// One payload's elements, where they lie.
  template <class Float>
  struct Part {
    const Joined& joined;
    Float* message = nullptr;
    std::size_t first = 0, count = 0;  // in `joined`
  };
  /// Elements of a payload.
  struct Tile {
    std::size_t begin = 0, end = 0;
  };

  [[nodiscard]] bool large() const;
  /// Of an element. Divisions would take as long as coding does.
  [[nodiscard]] std::size_t block_of(std::size_t element) const {
    return shift_ > 0 ? element >> shift_ : element / block_;
  }
  [[nodiscard]] BlockSummary summary(const Part<const float>& from, std::size_t begin, std::size_t end) const;
  template <class Float, class F>
  void each_piece(const Part<Float>& part, Tile tile, F&& work) const;
  struct Workspace;
  void find_constants(const Part<const float>& from, std::byte* payload, Threads& threads);
  void settle_tile(const Part<const float>& from, Tile tile, std::size_t fresh, std::byte* payload,
                   Workspace& work) const;
  template <class Code>
  void quantise(std::span<const float> values, std::size_t block, const Scaling* scalings, Dither dither,
                Code* codes) const;
  std::size_t encode_run(const Part<const float>& from, std::uint64_t key, Tile tiles,
                         std::byte* payload) const;
  template <class Code>
  void encode_tiles(const Part<const float>& from, std::uint64_t key, Tile tiles, std::byte* payload) const;
  template <class Code>
  void decode_tile(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode, float share,
                   Workspace& work) const;
  void decode(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode, float share,
              Workspace& work) const;

  BlockFormat format_;
  BlockConstants constants_;
  std::size_t elements_ = 0, block_ = 1, tile_ = 1, bytes_ = 0;
  std::size_t unit_ = 0;   // what encode_blocks takes for a block; 0: it cannot code this
  bool even_ = true;       // every tile is of whole blocks
  unsigned shift_ = 0;     // of a block of 2^shift elements; 0: it is of another size
  std::size_t codes_ = 0;  // where they start in a payload
  Buffer<BlockSummary> pieces_;
};

}  // namespace breakeven
