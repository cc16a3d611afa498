#include "compressors/simd/quantise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/quantise.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/quantise-inl.h"
#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  const Floats tops = hn::Set(kFloats, static_cast<float>(top));
  for (std::size_t first = 0; first < n; first += block, ++of_blocks) {
    const std::size_t size = std::min(block, n - first);
    if (of_blocks->inverse == 0) {
      std::fill_n(codes + first, size, static_cast<std::uint8_t>(zero));
      continue;
    }
    const Floats low = hn::Set(kFloats, of_blocks->low), inverse = hn::Set(kFloats, of_blocks->inverse);
    each_coded_group(values + first, size, 0, of_blocks->low, codes + first,
                     [&](const float* x, std::uint8_t* to) {
                       nearest_group(
                           x, low, inverse, [&](Floats level) { return hn::Min(level, tops); }, to);
                     });
  }
}

template <int kFraction, bool kClip, class Code>
HWY_INLINE void by_chance(const float* values, std::size_t n, std::size_t block, const Scaling* of_blocks,
                          std::uint32_t zero, const Dither& dither, Code* codes) {
  for (std::size_t first = 0; first < n; first += block, ++of_blocks) {
    const std::size_t size = std::min(block, n - first);
    if (of_blocks->inverse == 0) {
      std::fill_n(codes + first, size, static_cast<Code>(zero));
      continue;
    }
    each_chance<kFraction, kClip>({dither.key, dither.position + first}, *of_blocks, zero, [&](auto group) {
      each_coded_group(values + first, size, dither.position + first, 0, codes + first, group);
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
