#include "compressors/simd/quantise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/quantise.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/random-inl.h"
#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Everything goes by groups of 64 elements, whole vectors on every target, and by four vectors in a group.
// What is left over is copied to a group of its own. Nothing is prefetched: measured, that only disturbs what
// the machine does by itself.
constexpr std::size_t kGroup = 64;
/// A float from 2^23 to 2^24 holds an integer in its lower bits.
constexpr float kInteger = 0x1p23F;
constexpr std::uint32_t kIntegerBits = 0x4b000000U;

constexpr hn::CappedTag<float, 16> kFloats;
constexpr hn::RebindToUnsigned<decltype(kFloats)> kWords;
using Floats = hn::Vec<decltype(kFloats)>;
using Words = hn::Vec<decltype(kWords)>;

#if HWY_TARGET != HWY_SCALAR
template <bool kUpper>
HWY_INLINE auto halves(Words a, Words b) {
  const hn::Repartition<std::uint16_t, decltype(kWords)> d16;
  const auto low = hn::BitCast(d16, a), high = hn::BitCast(d16, b);
  return kUpper ? hn::ConcatOdd(d16, high, low) : hn::ConcatEven(d16, high, low);
}
#endif
/// Codes in the lower, or else the upper, halves of four vectors, in order.
template <bool kUpper>
HWY_INLINE void store_codes(Words a, Words b, Words c, Words e, std::uint8_t* codes) {
#if HWY_TARGET == HWY_SCALAR
  const auto code = [](Words x) { return static_cast<std::uint8_t>(hn::GetLane(x) >> (kUpper ? 16U : 0U)); };
  codes[0] = code(a);
  codes[1] = code(b);
  codes[2] = code(c);
  codes[3] = code(e);
#else
  const hn::Repartition<std::uint8_t, decltype(kWords)> d8;
  const auto low = hn::BitCast(d8, halves<kUpper>(a, b)), high = hn::BitCast(d8, halves<kUpper>(c, e));
  hn::StoreU(hn::ConcatEven(d8, high, low), d8, codes);
#endif
}
template <bool kUpper>
HWY_INLINE void store_codes(Words a, Words b, Words c, Words e, std::uint16_t* codes) {
#if HWY_TARGET == HWY_SCALAR
  const auto code = [](Words x) { return static_cast<std::uint16_t>(hn::GetLane(x) >> (kUpper ? 16U : 0U)); };
  codes[0] = code(a);
  codes[1] = code(b);
  codes[2] = code(c);
  codes[3] = code(e);
#else
  const hn::Repartition<std::uint16_t, decltype(kWords)> d16;
  hn::StoreU(halves<kUpper>(a, b), d16, codes);
  hn::StoreU(halves<kUpper>(c, e), d16, codes + hn::Lanes(d16));
#endif
}

/// group(values, codes) for every 64 positions; `values` may start and end inside such a group.
template <class Code, class F>
HWY_INLINE void each_coded_group(const float* values, std::size_t n, std::size_t position, float pad,
                                 Code* codes, F group) {
  std::size_t skip = position % kGroup;
  for (std::size_t i = 0; i < n;) {
    const std::size_t count = std::min(kGroup - skip, n - i);
    alignas(64) float rest[kGroup];
    alignas(64) Code coded[kGroup];
    const float* x = values + i;
    Code* to = codes + i;
    if (count < kGroup) {
      std::fill_n(rest, kGroup, pad);
      std::copy_n(x, count, rest + skip);
      x = rest;
      to = coded;
    }
    group(x, to);
    if (count < kGroup) {
      std::copy_n(coded + skip, count, codes + i);
    }
    i += count;
    skip = 0;
  }
}

void nearest_bytes(const float* values, std::size_t n, std::size_t block, const Scaling* of_blocks,
                   std::uint32_t zero, std::uint32_t top, std::uint8_t* codes) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const Floats tops = hn::Set(kFloats, static_cast<float>(top)), integer = hn::Set(kFloats, kInteger);
  for (std::size_t first = 0; first < n; first += block, ++of_blocks) {
    const std::size_t size = std::min(block, n - first);
    if (of_blocks->inverse == 0) {
      std::fill_n(codes + first, size, static_cast<std::uint8_t>(zero));
      continue;
    }
    const Floats low = hn::Set(kFloats, of_blocks->low), inverse = hn::Set(kFloats, of_blocks->inverse);
    // The minimum between product and sum keeps compilers from fusing them: the same codes on every target.
    const auto code = [&](const float* x) {
      const Floats level = hn::Mul(hn::Sub(hn::LoadU(kFloats, x), low), inverse);
      return hn::BitCast(kWords, hn::Add(hn::Min(level, tops), integer));
    };
    each_coded_group(values + first, size, 0, of_blocks->low, codes + first,
                     [&](const float* x, std::uint8_t* to) {
                       for (std::size_t i = 0; i < kGroup; i += 4 * lanes) {
                         store_codes<false>(code(x + i), code(x + i + lanes), code(x + i + 2 * lanes),
                                            code(x + i + 3 * lanes), to + i);
                       }
                     });
  }
}

/// Rounds by chance, in units of 2^-kFraction of a level.
template <int kFraction, bool kClip>
struct Chance {
  /// `zero` and a chance that is a fraction of a level, as the float that a value in these units is added to:
  /// then the code is the upper bits of an integer. A word's lower and its upper bits serve an element each.
  static HWY_INLINE Words lower(Words word, std::uint32_t zero) {
    return hn::OrAnd(offset(zero), word, hn::Set(kWords, (1U << kFraction) - 1));
  }
  static HWY_INLINE Words upper(Words word, std::uint32_t zero) {
    return hn::Or(offset(zero), hn::ShiftRight<32 - kFraction>(word));
  }
  static HWY_INLINE Words offset(std::uint32_t zero) {
    return hn::Set(kWords, kIntegerBits | zero << kFraction);
  }
  static HWY_INLINE Words code(const float* x, Words chance, float scale, std::uint32_t zero) {
    Floats level = hn::MulAdd(hn::LoadU(kFloats, x), hn::Set(kFloats, scale), hn::BitCast(kFloats, chance));
    if constexpr (kClip) {
      const auto top = static_cast<float>(((2 * zero + 1) << kFraction) - 1);
      level = hn::Max(hn::Min(level, hn::Set(kFloats, kInteger + top)), hn::Set(kFloats, kInteger));
    }
    return upper_half(hn::BitCast(kWords, level));
  }
  static HWY_INLINE Words upper_half(Words bits) {
    return kFraction == 15 ? hn::Add(bits, bits) : hn::ShiftLeft<16 - kFraction>(bits);  // a sum is cheaper
  }
};

/// Codes of 64 values; word w of every 16 serves elements w and 16 + w of 32. `counter` counts their words.
template <class Rounding, class Code>
HWY_INLINE void chance_group(const float* x, float scale, std::uint32_t zero, Words counter, Words key_low,
                             Words key_high, Code* to) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const auto words = [&](std::size_t w) {
    const Words at = hn::Add(counter, hn::Set(kWords, static_cast<std::uint32_t>(w)));
    return random_words(kWords, at, key_low, key_high);
  };
  const auto lower = [&](std::size_t i, Words w) {
    return Rounding::code(x + i, Rounding::lower(w, zero), scale, zero);
  };
  const auto upper = [&](std::size_t i, Words w) {
    return Rounding::code(x + i, Rounding::upper(w, zero), scale, zero);
  };
  if (lanes == 16) {
    const Words a = words(0), b = words(16);
    store_codes<true>(lower(0, a), upper(16, a), lower(32, b), upper(48, b), to);
  } else if (lanes == 8) {
    for (std::size_t i = 0; i < kGroup; i += 32) {
      const Words a = words(i / 2), b = words(i / 2 + 8);
      store_codes<true>(lower(i, a), lower(i + 8, b), upper(i + 16, a), upper(i + 24, b), to + i);
    }
  } else {
    for (std::size_t half = 0; half < kGroup; half += 32) {
      for (std::size_t i = half; i < half + 16; i += 4 * lanes) {
        const std::size_t w = half / 2 + i - half;
        const Words a = words(w), b = words(w + lanes), c = words(w + 2 * lanes), e = words(w + 3 * lanes);
        store_codes<true>(lower(i, a), lower(i + lanes, b), lower(i + 2 * lanes, c), lower(i + 3 * lanes, e),
                          to + i);
        store_codes<true>(upper(i + 16, a), upper(i + 16 + lanes, b), upper(i + 16 + 2 * lanes, c),
                          upper(i + 16 + 3 * lanes, e), to + i + 16);
      }
    }
  }
}

template <int kFraction, bool kClip, class Code>
HWY_INLINE void by_chance(const float* values, std::size_t n, std::size_t block, const Scaling* of_blocks,
                          std::uint32_t zero, const Dither& dither, Code* codes) {
  const Words lane = hn::Iota(kWords, 0), key_low = hn::Set(kWords, static_cast<std::uint32_t>(dither.key)),
              key_high = hn::Set(kWords, static_cast<std::uint32_t>(dither.key >> 32U));
  for (std::size_t first = 0; first < n; first += block, ++of_blocks) {
    const std::size_t size = std::min(block, n - first);
    if (of_blocks->inverse == 0) {
      std::fill_n(codes + first, size, static_cast<Code>(zero));
      continue;
    }
    const float scale = of_blocks->inverse * static_cast<float>(1U << kFraction);
    const std::size_t start = (dither.position + first) / kGroup * (kGroup / 2);
    Words counter = hn::Add(lane, hn::Set(kWords, static_cast<std::uint32_t>(start)));
    each_coded_group(values + first, size, dither.position + first, 0, codes + first,
                     [&](const float* x, Code* to) {
                       chance_group<Chance<kFraction, kClip>>(x, scale, zero, counter, key_low, key_high, to);
                       counter = hn::Add(counter, hn::Set(kWords, kGroup / 2));
                     });
  }
}

void chance_bytes(const float* values, std::size_t n, std::size_t block, const Scaling* of_blocks,
                  std::uint32_t zero, bool clip, const Dither& dither, std::uint8_t* codes) {
  if (clip) {
    by_chance<15, true>(values, n, block, of_blocks, zero, dither, codes);
  } else {
    by_chance<15, false>(values, n, block, of_blocks, zero, dither, codes);
  }
}
void chance_words(const float* values, std::size_t n, std::size_t block, const Scaling* of_blocks,
                  std::uint32_t zero, const Dither& dither, std::uint16_t* codes) {
  by_chance<7, false>(values, n, block, of_blocks, zero, dither, codes);
}

template <Decode kMode, class Code>
HWY_INLINE void decode_vector(const Code* from, Floats low, Floats step, Floats origin, float* to) {
  const hn::Rebind<Code, decltype(kFloats)> narrow;
  const Words bits = hn::Or(hn::Set(kWords, kIntegerBits), hn::PromoteTo(kWords, hn::LoadU(narrow, from)));
  const Floats value = hn::MulAdd(hn::Sub(hn::BitCast(kFloats, bits), origin), step, low);
  store<kMode == Decode::stream>(kMode == Decode::add ? hn::Add(hn::LoadU(kFloats, to), value) : value,
                                 kFloats, to);
}

template <Decode kMode, class Code>
HWY_INLINE void decode_block(const Code* codes, const Levels& levels, std::uint32_t zero, float* values,
                             std::size_t n) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const Floats low = hn::Set(kFloats, levels.low), step = hn::Set(kFloats, levels.step),
               origin = hn::Set(kFloats, kInteger + static_cast<float>(zero));
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    decode_vector<kMode>(codes + i, low, step, origin, values + i);
    decode_vector<kMode>(codes + i + lanes, low, step, origin, values + i + lanes);
    decode_vector<kMode>(codes + i + 2 * lanes, low, step, origin, values + i + 2 * lanes);
    decode_vector<kMode>(codes + i + 3 * lanes, low, step, origin, values + i + 3 * lanes);
  }
  if (i < n) {
    alignas(64) Code rest[kGroup] = {};
    alignas(64) float decoded[kGroup] = {};
    std::copy_n(codes + i, n - i, rest);
    std::copy_n(values + i, n - i, decoded);
    for (std::size_t k = 0; k < n - i; k += lanes) {
      decode_vector<kMode == Decode::add ? Decode::add : Decode::set>(rest + k, low, step, origin,
                                                                      decoded + k);
    }
    std::copy_n(decoded, n - i, values + i);
  }
}

template <class Code>
HWY_INLINE void decode_blocks(Decode mode, const Code* codes, std::size_t block, const Levels* of_blocks,
                              std::uint32_t zero, float* values, std::size_t n) {
  for (std::size_t first = 0; first < n; first += block, ++of_blocks) {
    const std::size_t size = std::min(block, n - first);
    float* const to = values + first;
    if (mode == Decode::add) {
      decode_block<Decode::add>(codes + first, *of_blocks, zero, to, size);
    } else if (mode == Decode::stream &&
               reinterpret_cast<std::uintptr_t>(to) % (hn::Lanes(kFloats) * sizeof(float)) == 0) {
      decode_block<Decode::stream>(codes + first, *of_blocks, zero, to, size);
    } else {
      decode_block<Decode::set>(codes + first, *of_blocks, zero, to, size);
    }
  }
}
void decode_bytes(Decode mode, const std::uint8_t* codes, std::size_t block, const Levels* of_blocks,
                  std::uint32_t zero, float* values, std::size_t n) {
  decode_blocks(mode, codes, block, of_blocks, zero, values, n);
}
void decode_words(Decode mode, const std::uint16_t* codes, std::size_t block, const Levels* of_blocks,
                  std::uint32_t zero, float* values, std::size_t n) {
  decode_blocks(mode, codes, block, of_blocks, zero, values, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(nearest_bytes);
HWY_EXPORT(chance_bytes);
HWY_EXPORT(chance_words);
HWY_EXPORT(decode_bytes);
HWY_EXPORT(decode_words);

void quantise_nearest(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                      std::uint32_t zero, std::uint32_t top, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(nearest_bytes)(values.data(), values.size(), block, of_blocks, zero, top, codes);
}
void quantise_by_chance(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                        std::uint32_t zero, bool clip, Dither dither, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(chance_bytes)
  (values.data(), values.size(), block, of_blocks, zero, clip, dither, codes);
}
void quantise_by_chance(std::span<const float> values, std::size_t block, const Scaling* of_blocks,
                        std::uint32_t zero, Dither dither, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(chance_words)(values.data(), values.size(), block, of_blocks, zero, dither, codes);
}

void end_stream() {
  hwy::FlushStream();
}
void dequantise(Decode mode, const std::uint8_t* codes, std::size_t block, const Levels* of_blocks,
                std::uint32_t zero, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(decode_bytes)(mode, codes, block, of_blocks, zero, values.data(), values.size());
}
void dequantise(Decode mode, const std::uint16_t* codes, std::size_t block, const Levels* of_blocks,
                std::uint32_t zero, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(decode_words)(mode, codes, block, of_blocks, zero, values.data(), values.size());
}

}  // namespace breakeven
#endif  // HWY_ONCE
