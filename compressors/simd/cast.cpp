#include "compressors/simd/cast.h"

#include <algorithm>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using SignedWords = hn::RebindToSigned<Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;
using HalfVector = hn::Vec<Halves>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
/// Elements of one turn of the loop.
constexpr std::size_t kBlock = 4 * kLanes;

// Highway 1.0.3 emulates fp16 where the processor has no F16C, and then truncates, and loses NaN.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)
#define BREAKEVEN_HARDWARE_F16 1
#else
#define BREAKEVEN_HARDWARE_F16 0
#endif

HWY_INLINE WordVector word(std::uint32_t value) {
  return hn::Set(Words(), value);
}
/// Both below 2^31.
HWY_INLINE auto greater(WordVector a, WordVector b) {
  return hn::RebindMask(Words(), hn::Gt(hn::BitCast(SignedWords(), a), hn::BitCast(SignedWords(), b)));
}
/// The lower halves; the upper ones are zero.
HWY_INLINE HalfVector lower_halves(WordVector words) {
  return hn::DemoteTo(Halves(), hn::BitCast(SignedWords(), words));
}

struct ToF16 {
  HWY_INLINE HalfVector operator()(FloatVector value) const {
#if BREAKEVEN_HARDWARE_F16
    return hn::BitCast(Halves(), hn::DemoteTo(hn::Rebind<hwy::float16_t, Floats>(), value));
#else
    // The cases are compressors/half.h's.
    const WordVector bits = hn::BitCast(Words(), value);
    const WordVector magnitude = hn::And(bits, word(0x7fffffffU));
    const WordVector upper = hn::ShiftRight<13>(magnitude);
    WordVector half = hn::ShiftRight<13>(magnitude + word(0xfffU - 0x38000000U) + hn::And(upper, word(1)));
    // Below 2^-14: adding 0.5, whose last bit is worth 2^-24, rounds to the multiple of 2^-24.
    const FloatVector shifted = hn::BitCast(Floats(), magnitude) + hn::Set(Floats(), 0.5F);
    half = hn::IfThenElse(greater(word(0x38800000U), magnitude),
                          hn::BitCast(Words(), shifted) - word(0x3f000000U), half);
    half = hn::IfThenElse(greater(magnitude, word(0x477fefffU)), word(0x7c00U), half);
    half = hn::IfThenElse(greater(magnitude, word(0x7f800000U)),
                          hn::Or(word(0x7e00U), hn::And(upper, word(0x3ffU))), half);
    return lower_halves(hn::Or(half, hn::And(hn::ShiftRight<16>(bits), word(0x8000U))));
#endif
  }
};

struct ToBf16 {
  HWY_INLINE HalfVector operator()(FloatVector value) const {
    const WordVector bits = hn::BitCast(Words(), value);
    const WordVector upper = hn::ShiftRight<16>(bits);
    const WordVector rounded = hn::ShiftRight<16>(bits + word(0x7fffU) + hn::And(upper, word(1)));
    const auto is_nan = hn::RebindMask(Words(), hn::IsNaN(value));
    return lower_halves(hn::IfThenElse(is_nan, hn::Or(upper, word(0x40U)), rounded));
  }
};

struct FromF16 {
  HWY_INLINE FloatVector operator()(HalfVector half) const {
#if BREAKEVEN_HARDWARE_F16
    const hn::Rebind<hwy::float16_t, Floats> d;
    return hn::PromoteTo(Floats(), hn::BitCast(d, half));
#else
    const WordVector bits = hn::PromoteTo(Words(), half);
    const WordVector magnitude = hn::And(bits, word(0x7fffU));
    const WordVector shifted = hn::ShiftLeft<13>(magnitude);
    WordVector value = shifted + word(112U << 23U);
    const FloatVector small =
        hn::ConvertTo(Floats(), hn::BitCast(SignedWords(), magnitude)) * hn::Set(Floats(), 0x1p-24F);
    value = hn::IfThenElse(greater(word(0x400U), magnitude), hn::BitCast(Words(), small), value);
    value = hn::IfThenElse(greater(magnitude, word(0x7bffU)), hn::Or(shifted, word(0x7f800000U)), value);
    value = hn::IfThenElse(greater(magnitude, word(0x7c00U)), hn::Or(value, word(0x400000U)), value);
    return hn::BitCast(Floats(), hn::Or(value, hn::ShiftLeft<16>(hn::And(bits, word(0x8000U)))));
#endif
  }
};

struct FromBf16 {
  HWY_INLINE FloatVector operator()(HalfVector half) const {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), half)));
  }
};

/// The prefetcher does not keep up with streams.
HWY_INLINE void prefetch_block(const float* from, std::size_t n) {
  constexpr std::size_t kAhead = 512, kLine = 16;  // elements
  for (std::size_t j = 0; j < kBlock; j += kLine) {
    hwy::Prefetch(from + std::min(kAhead + j, n));
  }
}

template <bool kStream, class Cast>
HWY_INLINE void narrow_block(const float* from, FloatVector factor, std::uint16_t* to, Cast cast) {
  for (std::size_t j = 0; j < kBlock; j += kLanes) {
    store<kStream>(cast(hn::LoadU(Floats(), from + j) * factor), Halves(), to + j);
  }
}

template <bool kStream, class Cast>
HWY_INLINE void narrow_all(const float* from, std::size_t n, float factor, std::uint16_t* to, Cast cast) {
  const FloatVector times = hn::Set(Floats(), factor);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    if constexpr (kStream) {
      prefetch_block(from + i, n - i);
    }
    narrow_block<kStream>(from + i, times, to + i, cast);
  }
  if (i < n) {
    float block[kBlock] = {};
    std::uint16_t halves[kBlock];
    std::copy_n(from + i, n - i, block);
    narrow_block<false>(block, times, halves, cast);
    std::copy_n(halves, n - i, to + i);
  }
}

template <bool kStream, class Cast>
HWY_INLINE void widen_block(const std::uint16_t* from, float* to, Cast cast) {
  for (std::size_t j = 0; j < kBlock; j += kLanes) {
    store<kStream>(cast(hn::LoadU(Halves(), from + j)), Floats(), to + j);
  }
}

template <bool kStream, class Cast>
HWY_INLINE void widen_all(const std::uint16_t* from, std::size_t n, float* to, Cast cast) {
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    widen_block<kStream>(from + i, to + i, cast);
  }
  if (i < n) {
    std::uint16_t halves[kBlock] = {};
    float block[kBlock];
    std::copy_n(from + i, n - i, halves);
    widen_block<false>(halves, block, cast);
    std::copy_n(block, n - i, to + i);
  }
}

template <class Cast>
HWY_INLINE void narrow(const float* from, std::size_t n, float factor, std::uint16_t* to, Cast cast) {
  if (worth_streaming(to, n)) {
    narrow_all<true>(from, n, factor, to, cast);
    hwy::FlushStream();
  } else {
    narrow_all<false>(from, n, factor, to, cast);
  }
}

template <class Cast>
HWY_INLINE void widen(const std::uint16_t* from, std::size_t n, float* to, Cast cast) {
  if (worth_streaming(to, n)) {
    widen_all<true>(from, n, to, cast);
    hwy::FlushStream();
  } else {
    widen_all<false>(from, n, to, cast);
  }
}

void to_f16_halves(const float* from, std::size_t n, float factor, std::uint16_t* to) {
  narrow(from, n, factor, to, ToF16());
}
void to_bf16_halves(const float* from, std::size_t n, float factor, std::uint16_t* to) {
  narrow(from, n, factor, to, ToBf16());
}
void from_f16_halves(const std::uint16_t* from, std::size_t n, float* to) {
  widen(from, n, to, FromF16());
}
void from_bf16_halves(const std::uint16_t* from, std::size_t n, float* to) {
  widen(from, n, to, FromBf16());
}

#undef BREAKEVEN_HARDWARE_F16

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(to_f16_halves);
HWY_EXPORT(to_bf16_halves);
HWY_EXPORT(from_f16_halves);
HWY_EXPORT(from_bf16_halves);

void cast_to_f16(std::span<const float> from, float factor, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(to_f16_halves)(from.data(), from.size(), factor, to);
}
void cast_to_bf16(std::span<const float> from, float factor, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(to_bf16_halves)(from.data(), from.size(), factor, to);
}
void cast_from_f16(const std::uint16_t* from, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(from_f16_halves)(from, to.size(), to.data());
}
void cast_from_bf16(const std::uint16_t* from, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(from_bf16_halves)(from, to.size(), to.data());
}

}  // namespace breakeven
#endif  // HWY_ONCE
