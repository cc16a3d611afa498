// What every block of integer codes brings along: how it is found, how it is sent, what codes mean by it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include "compressors/half.h"
#include "compressors/simd/quantise.h"

namespace breakeven {

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

/// What its constants come from, of a block or a part of one: its lowest and its highest element, its largest
/// magnitude, or the sum of its squares.
struct BlockSummary {
  float first = 0, second = 0;
};

class BlockConstants {
 public:
  BlockConstants() = default;
  explicit BlockConstants(const BlockFormat& format)
      : format_(format),
        pair_(format.constants == BlockFormat::Constants::extent),
        top_(static_cast<float>((1U << format.bits) - 1)),
        zero_(static_cast<float>(format.zero)) {}

  [[nodiscard]] const BlockFormat& format() const { return format_; }
  /// Of one block.
  [[nodiscard]] std::size_t bytes() const { return (pair_ ? 2 : 1) * (format_.half ? 2 : sizeof(float)); }

  /// Of consecutive blocks; `seconds` are set for an extent only.
  void summarise(std::span<const float> values, std::size_t block, float* firsts, float* seconds) const;
  [[nodiscard]] BlockSummary join(const BlockSummary& one, const BlockSummary& other) const;

  /// Writes what is to be sent of a block.
  Levels settle(const BlockSummary& summary, std::byte* to) const {
    const Levels sent = found(summary);
    put(pair_ ? sent.low : sent.step, to);
    if (pair_) {
      put(sent.step, to + bytes() / 2);
    }
    return meaning(sent);
  }
  void send(float step, std::byte* to) const { put(step, to); }
  [[nodiscard]] Levels receive(const std::byte* from) const {
    return pair_ ? Levels{get(from), get(from + bytes() / 2)} : meaning({0, get(from)});
  }
  /// How to code a block.
  [[nodiscard]] Scaling scaling(Levels levels) const {
    const bool nearest = format_.rounding == BlockFormat::Rounding::nearest;
    return {nearest ? levels.low - zero_ * levels.step : 0, levels.step >= kLeastStep ? 1 / levels.step : 0};
  }

 private:
  static constexpr float kLeastStep = 0x1p-100F, kLeastNorm = 0x1p-60F;

  [[nodiscard]] Levels found(const BlockSummary& summary) const {
    Levels sent;
    if (pair_) {
      sent.low = format_.half ? f16_at_most(summary.first) : summary.first;
      sent.step = (summary.second - sent.low) / top_;
    } else if (format_.constants == BlockFormat::Constants::magnitude) {
      sent.step = summary.first / zero_;
    } else {
      const float norm = std::sqrt(summary.first);
      sent.step = norm < kLeastNorm ? 0 : norm;
    }
    if (format_.half) {
      sent.step = f16_at_least(sent.step);
    }
    if (!std::isfinite(sent.low) || !std::isfinite(sent.step)) {
      sent.low = sent.step = std::numeric_limits<float>::quiet_NaN();
    }
    return sent;
  }
  /// A norm is sent in place of its step.
  [[nodiscard]] Levels meaning(Levels sent) const {
    return format_.constants == BlockFormat::Constants::norm ? Levels{0, sent.step / zero_} : sent;
  }
  void put(float value, std::byte* to) const {
    if (format_.half) {
      const std::uint16_t half = to_f16(value);
      std::memcpy(to, &half, sizeof(half));
    } else {
      std::memcpy(to, &value, sizeof(value));
    }
  }
  [[nodiscard]] float get(const std::byte* from) const {
    if (format_.half) {
      std::uint16_t half = 0;
      std::memcpy(&half, from, sizeof(half));
      return from_f16(half);
    }
    float value = 0;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  static float f16_at_most(float value);
  static float f16_at_least(float value);

  BlockFormat format_;
  bool pair_ = false;
  float top_ = 0, zero_ = 0;
};

}  // namespace breakeven
