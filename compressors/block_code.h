// Integer codes of fixed width, with constants for every block of elements: how a payload lies in memory, and
// its coding.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/dense.h"
#include "compressors/simd/quantise.h"
#include "compressors/threads.h"

namespace breakeven {

/// The elements of several runs of a message as one vector, without copying them.
class Joined {
 public:
  Joined() = default;
  explicit Joined(std::vector<Run> runs);

  [[nodiscard]] std::size_t elements() const { return ends_.empty() ? 0 : ends_.back(); }
  /// work(place, at, count) for the parts of begin..end: `count` elements from `at` on lie at `place` of the
  /// message.
  template <class F>
  void each(std::size_t begin, std::size_t end, F&& work) const {
    for (std::size_t run = run_of(begin), at = begin; at < end; ++run) {
      const std::size_t stop = std::min(end, ends_[run]);
      work(runs_[run].first + runs_[run].count - (ends_[run] - at), at, stop - at);
      at = stop;
    }
  }
  /// Do they lie in one run?
  [[nodiscard]] bool whole(std::size_t begin, std::size_t end) const { return end <= ends_[run_of(begin)]; }

 private:
  [[nodiscard]] std::size_t run_of(std::size_t element) const;

  std::vector<Run> runs_;
  std::vector<std::size_t> ends_;  // of the runs, in the joined vector
};

/// An element is low + step * (code - zero). A block decodes to NaN if one of its elements is not finite or
/// its constants are out of range: an extent beyond fp32 or fp16, a norm of 2^64 or more. One whose step is
/// below 2^-100 or whose norm is below 2^-60 decodes to its low, or to zero.
struct BlockFormat {
  /// What a block sends, and how it is found.
  enum class Constants {
    extent,     ///< its lowest element and a step that spans the rest
    magnitude,  ///< a step: its largest magnitude is `zero` steps
    norm,       ///< its Euclidean norm, which is `zero` steps
    given,      ///< a step that the caller finds
  };
  enum class Rounding { nearest, chance, clipped_chance };

  unsigned bits = 8;
  std::uint32_t zero = 0;  ///< with an extent 0; else codes are at most 2 zero, by chance 2 zero + 1
  std::size_t block = 0;   ///< elements; 0: all of a payload
  Constants constants = Constants::extent;
  Rounding rounding = Rounding::nearest;
  bool half = false;     ///< constants are f16 in place of f32, rounded so that they span the block
  std::size_t word = 1;  ///< bytes that the codes of a payload are rounded up to
};

/// Payloads of `elements` elements: the constants of all blocks, then the codes, then zeros up to a whole
/// word.
class BlockCode {
 public:
  BlockCode() = default;
  BlockCode(const BlockFormat& format, std::size_t elements);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Payloads one after the other, the last ones of fewer elements, or none, where `from` ends: what these
  /// lack stays as it is. Chances come from `key` and an element's place in `from`.
  void encode(const Joined& from, const float* gradient, std::uint64_t key, std::span<std::byte> payloads,
              Threads& threads);
  /// For constants that are given: before encode.
  void give_step(float step, std::byte* payload) const { store({0, step}, 0, payload); }

  /// The mean of all payloads, every one of the elements of `to`, where these lie in `mean`.
  void decode_mean(std::span<const std::byte> payloads, const Joined& to, float* mean,
                   Threads& threads) const;
  /// All payloads, of consecutive elements of `to`.
  void decode_parts(std::span<const std::byte> payloads, const Joined& to, float* mean,
                    Threads& threads) const;

 private:
  /// What is known of elements before their block's constants.
  struct Summary {
    float low = std::numeric_limits<float>::infinity(), high = -low, largest = 0;
    double squares = 0;
    void join(const Summary& more);
  };
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
  [[nodiscard]] std::size_t constants() const;
  std::byte* put(float value, std::byte* to) const;
  [[nodiscard]] float get(const std::byte* from) const;
  /// As it is sent: in place of a step there is the norm, if that is what the format says.
  void store(Levels sent, std::size_t block, std::byte* payload) const;
  [[nodiscard]] Levels load(std::size_t block, const std::byte* payload) const;
  [[nodiscard]] Levels meaning(Levels sent) const;
  [[nodiscard]] Scaling scaling(Levels levels) const;
  [[nodiscard]] Summary summary(const Part<const float>& from, std::size_t begin, std::size_t end) const;
  [[nodiscard]] Levels sent(const Summary& summary) const;
  /// Finds, stores and scales a block's constants.
  Scaling settle(const Summary& summary, std::size_t block, std::byte* payload) const;
  template <class Float, class F>
  void each_piece(const Part<Float>& part, Tile tile, F&& work) const;
  struct Workspace;
  void find_constants(const Part<const float>& from, std::byte* payload, Threads& threads);
  void settle_blocks(std::span<const float> values, std::size_t block, std::byte* payload,
                     Workspace& work) const;
  void settle_tile(const Part<const float>& from, Tile tile, std::size_t fresh, std::byte* payload,
                   Workspace& work) const;
  template <class Code>
  void quantise(std::span<const float> values, std::size_t block, const Scaling* scalings, Dither dither,
                Code* codes) const;
  template <class Code>
  void encode_tiles(const Part<const float>& from, std::uint64_t key, Tile tiles, std::byte* payload) const;
  template <class Code>
  void decode_tile(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode, float share,
                   Workspace& work) const;
  void decode(const std::byte* payload, Tile tile, const Part<float>& to, Decode mode, float share,
              Workspace& work) const;

  BlockFormat format_;
  std::size_t elements_ = 0, block_ = 1, tile_ = 1, bytes_ = 0;
  std::size_t codes_ = 0;  // where they start in a payload
  Buffer<Summary> pieces_;
};

}  // namespace breakeven
