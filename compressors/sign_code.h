// One sign an element with one scale a part: how signsgd and onebit code a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/threads.h"

namespace breakeven {

/// The code of a part: its signs, padded with zeros to whole words, then its scale (fp32). The plan's
/// Quantiser says the same in numbers.
struct SignFormat {
  bool bytes = false;  ///< a byte a sign, not a bit
  bool scale = true;
  std::size_t word = 1;  ///< bytes

  [[nodiscard]] std::size_t signs(std::size_t elements) const;
  [[nodiscard]] std::size_t size(std::size_t elements) const;
  /// Of one code that `size(elements)` bytes hold; 1 without.
  [[nodiscard]] float scale_of(const std::byte* code, std::size_t elements) const;
  void set_scale(std::byte* code, std::size_t elements, float value) const;
};

/// A message in equal parts: the last ones may be shorter, or empty, but their code is as long.
struct Parts {
  std::size_t elements = 0, length = 0, count = 1;

  static Parts of(std::size_t elements, std::size_t count);
  [[nodiscard]] std::size_t first(std::size_t part) const;
  [[nodiscard]] std::size_t size(std::size_t part) const;
};

/// Codes vectors of one length, step after step. The scale is the mean magnitude, what loses least: NaN and
/// infinities make it NaN or infinite, and so reach every element of their part. With feedback what is left
/// out is added to the next vector. A part that has no elements has the scale 0.
class SignEncoder {
 public:
  SignEncoder() = default;
  SignEncoder(const Parts& parts, SignFormat format, bool feedback);
  /// The codes of the parts, one after the other.
  std::span<const std::byte> encode(std::span<const float> values, Threads& threads);

 private:
  double code_piece(std::span<const float> values, std::size_t part, std::size_t first, std::size_t count);

  Parts parts_;
  SignFormat format_;
  std::size_t pieces_ = 0;          // of one part
  std::vector<double> magnitudes_;  // sums, by part and piece
  std::vector<float> scales_;       // of the last step, by part
  Buffer<float> kept_;
  Buffer<std::byte> codes_;
};

/// Writes a part's signs times its scale.
void decode_signs(const std::byte* code, SignFormat format, float scale, std::span<float> to,
                  Threads& threads);

/// The majority of the workers' codes of one vector.
class SignVote {
 public:
  SignVote() = default;
  /// `length`: the elements that a code has room for; `elements`: those that there are.
  SignVote(std::size_t elements, std::size_t length, SignFormat format, std::size_t workers,
           std::size_t threads);
  /// use(first, count, bits): the result, piece by piece, on any thread.
  template <class Use>
  void each(std::span<const std::byte> codes, Threads& threads, Use use) {
    threads.run(slots_, [&](std::size_t slot) {
      const std::size_t end = pieces_ * (slot + 1) / slots_;
      for (std::size_t piece = pieces_ * slot / slots_; piece < end; ++piece) {
        const std::size_t first = piece * kVotePiece, count = std::min(kVotePiece, elements_ - first);
        use(first, count, vote(codes, slot, first, count));
      }
    });
  }
  /// The mean of the workers' scales.
  [[nodiscard]] float scale(std::span<const std::byte> codes) const;

 private:
  static constexpr std::size_t kVotePiece = 32768;  // elements: votes and result stay in the first cache
  const std::byte* vote(std::span<const std::byte> codes, std::size_t slot, std::size_t first,
                        std::size_t count);

  std::size_t elements_ = 0, length_ = 0, workers_ = 1, pieces_ = 0, slots_ = 1;
  SignFormat format_;
  std::vector<const std::byte*> votes_;  // by slot and worker
  Buffer<std::byte> bits_;               // by slot: the result, and the votes that came as bytes
};

}  // namespace breakeven
