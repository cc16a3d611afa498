// Codes of 64 floats; for inclusion in vector code only.
#if defined(BREAKEVEN_SIMD_QUANTISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_QUANTISE_INL_H
#undef BREAKEVEN_SIMD_QUANTISE_INL_H
#else
#define BREAKEVEN_SIMD_QUANTISE_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "compressors/simd/groups-inl.h"
#include "compressors/simd/quantise.h"
#include "compressors/simd/random-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A float from 2^23 to 2^24 holds an integer in its lower bits.
inline constexpr float kInteger = 0x1p23F;
inline constexpr std::uint32_t kIntegerBits = 0x4b000000U;

#if HWY_TARGET != HWY_SCALAR
template <bool kUpper>
HWY_INLINE auto halves(Words a, Words b) {
  const hn::Repartition<std::uint16_t, decltype(kWords)> d16;
  const auto low = hn::BitCast(d16, a), high = hn::BitCast(d16, b);
  return kUpper ? hn::ConcatOdd(d16, high, low) : hn::ConcatEven(d16, high, low);
}
#endif
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET > HWY_AVX3
/// Those of b above those of a.
template <bool kUpper>
HWY_INLINE auto pairs(Words a, Words b) {
  const hn::Repartition<std::uint16_t, decltype(kWords)> d16;
  return kUpper ? hn::OddEven(hn::BitCast(d16, b), hn::BitCast(d16, hn::ShiftRight<16>(a)))
                : hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(b)), hn::BitCast(d16, a));
}
/// Words that each block of 128 bits has of four vectors, in order.
HWY_INLINE Words joined_blocks(Words blocks) {
#if HWY_TARGET == HWY_AVX2
  alignas(32) static constexpr std::uint32_t kOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  return hn::TableLookupLanes(blocks, hn::SetTableIndices(kWords, kOrder));
#else
  return blocks;
#endif
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
#elif HWY_TARGET <= HWY_AVX3
  const hn::Repartition<std::uint8_t, decltype(kWords)> d8;
  const auto low = hn::BitCast(d8, halves<kUpper>(a, b)), high = hn::BitCast(d8, halves<kUpper>(c, e));
  hn::StoreU(hn::ConcatEven(d8, high, low), d8, codes);
#else
  const hn::Repartition<std::uint8_t, decltype(kWords)> d8;
  // Bytes of a, c, b and e in every word: one shuffle is cheaper than three times narrowing two vectors.
  const auto first = pairs<kUpper>(a, b), second = pairs<kUpper>(c, e);
  const auto all = hn::Or(hn::And(first, hn::Set(hn::Repartition<std::uint16_t, decltype(kWords)>(), 0xff)),
                          hn::ShiftLeft<8>(second));
  alignas(16) static constexpr std::uint8_t kOrder[16] = {0, 4, 8, 12, 2, 6, 10, 14,
                                                          1, 5, 9, 13, 3, 7, 11, 15};
  const auto blocks = hn::TableLookupBytes(hn::BitCast(d8, all), hn::LoadDup128(d8, kOrder));
  hn::StoreU(hn::BitCast(d8, joined_blocks(hn::BitCast(kWords, blocks))), d8, codes);
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

/// Codes of 64 values: to nearest, and at most limit(level).
template <class Limit>
HWY_INLINE void nearest_group(const float* x, Floats low, Floats inverse, Limit limit, std::uint8_t* to) {
  const std::size_t lanes = hn::Lanes(kFloats);
  const auto code = [&](const float* from) {
    const Floats level = hn::Mul(hn::Sub(hn::LoadU(kFloats, from), low), inverse);
    return hn::BitCast(kWords, hn::Add(limit(level), hn::Set(kFloats, kInteger)));
  };
  for (std::size_t i = 0; i < kGroup; i += 4 * lanes) {
    store_codes<false>(code(x + i), code(x + i + lanes), code(x + i + 2 * lanes), code(x + i + 3 * lanes),
                       to + i);
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

/// each(group) with group(x, to) for consecutive groups, from the one that holds `dither`'s position.
template <int kFraction, bool kClip, class F>
HWY_INLINE void each_chance(const Dither& dither, const Scaling& scaling, std::uint32_t zero, F each) {
  const Words key_low = hn::Set(kWords, static_cast<std::uint32_t>(dither.key)),
              key_high = hn::Set(kWords, static_cast<std::uint32_t>(dither.key >> 32U));
  const float scale = scaling.inverse * static_cast<float>(1U << kFraction);
  const std::size_t start = dither.position / kGroup * (kGroup / 2);
  Words counter = hn::Add(hn::Iota(kWords, 0), hn::Set(kWords, static_cast<std::uint32_t>(start)));
  each([&](const float* x, auto* to) {
    chance_group<Chance<kFraction, kClip>>(x, scale, zero, counter, key_low, key_high, to);
    counter = hn::Add(counter, hn::Set(kWords, kGroup / 2));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_SIMD_QUANTISE_INL_H
