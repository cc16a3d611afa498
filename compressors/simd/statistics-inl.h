// What one block of floats spans; for inclusion in vector code only.
#if defined(BREAKEVEN_SIMD_STATISTICS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_STATISTICS_INL_H
#undef BREAKEVEN_SIMD_STATISTICS_INL_H
#else
#define BREAKEVEN_SIMD_STATISTICS_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "compressors/simd/groups-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// four(a, b, c, e) for every four vectors of `values`, the last group filled up with `pad`.
template <class F>
HWY_INLINE void each_four(const float* values, std::size_t n, float pad, F four) {
  const std::size_t lanes = hn::Lanes(kFloats);
  for (std::size_t i = 0; i < n; i += kGroup) {
    alignas(64) float rest[kGroup];
    const float* x = values + i;
    if (n - i < kGroup) {
      std::fill_n(std::copy_n(x, n - i, rest), kGroup - (n - i), pad);
      x = rest;
    }
    for (std::size_t k = 0; k < kGroup; k += 4 * lanes) {
      four(hn::LoadU(kFloats, x + k), hn::LoadU(kFloats, x + k + lanes),
           hn::LoadU(kFloats, x + k + 2 * lanes), hn::LoadU(kFloats, x + k + 3 * lanes));
    }
  }
}

HWY_INLINE float sum(Floats a, Floats b, Floats c, Floats e) {
  return hn::GetLane(hn::SumOfLanes(kFloats, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// Magnitudes in the order of their bits, in which NaN comes last.
HWY_INLINE Words magnitude(Floats x) {
  return hn::BitCast(kWords, hn::Abs(x));
}
HWY_INLINE float largest(Words bits) {
  return hn::GetLane(hn::BitCast(kFloats, hn::MaxOfLanes(kWords, bits)));
}

/// The smallest bits: of values of one sign, the one nearest to zero.
HWY_INLINE std::uint32_t least_bits(const float* values, std::size_t n) {
  Words m0 = hn::BitCast(kWords, hn::Set(kFloats, values[0])), m1 = m0;
  each_four(values, n, values[0], [&](Floats a, Floats b, Floats c, Floats e) {
    m0 = hn::Min(m0, hn::Min(hn::BitCast(kWords, a), hn::BitCast(kWords, b)));
    m1 = hn::Min(m1, hn::Min(hn::BitCast(kWords, c), hn::BitCast(kWords, e)));
  });
  return hn::GetLane(hn::MinOfLanes(kWords, hn::Min(m0, m1)));
}

/// By their bits: the largest unsigned ones are the lowest float's if any is negative, the largest signed
/// ones the highest float's if any is not; NaN shows in either. That takes half as long as Min, Max and
/// looking for NaN, with which they do different things on different targets.
HWY_INLINE void extent(const float* values, std::size_t n, float* lowest, float* highest) {
  constexpr hn::RebindToSigned<decltype(kFloats)> kSigned;
  const Floats first = hn::Set(kFloats, values[0]);
  Words low0 = hn::BitCast(kWords, first), low1 = low0, low2 = low0, low3 = low0;
  auto high0 = hn::BitCast(kSigned, first), high1 = high0, high2 = high0, high3 = high0;
  each_four(values, n, values[0], [&](Floats a, Floats b, Floats c, Floats e) {
    low0 = hn::Max(low0, hn::BitCast(kWords, a));
    low1 = hn::Max(low1, hn::BitCast(kWords, b));
    low2 = hn::Max(low2, hn::BitCast(kWords, c));
    low3 = hn::Max(low3, hn::BitCast(kWords, e));
    high0 = hn::Max(high0, hn::BitCast(kSigned, a));
    high1 = hn::Max(high1, hn::BitCast(kSigned, b));
    high2 = hn::Max(high2, hn::BitCast(kSigned, c));
    high3 = hn::Max(high3, hn::BitCast(kSigned, e));
  });
  std::uint32_t low = hn::GetLane(hn::MaxOfLanes(kWords, hn::Max(hn::Max(low0, low1), hn::Max(low2, low3))));
  auto high = std::bit_cast<std::uint32_t>(
      hn::GetLane(hn::MaxOfLanes(kSigned, hn::Max(hn::Max(high0, high1), hn::Max(high2, high3)))));
  constexpr std::uint32_t kSign = 0x80000000U;
  if ((low & kSign) == 0) {
    low = least_bits(values, n);
  } else if ((high & kSign) != 0) {
    high = least_bits(values, n);
  }
  const float nan = 0 * std::bit_cast<float>(low) + 0 * std::bit_cast<float>(high);  // or zero
  *lowest = nan + std::bit_cast<float>(low);
  *highest = nan + std::bit_cast<float>(high);
}

HWY_INLINE float largest_magnitude(const float* values, std::size_t n) {
  Words m0 = hn::Zero(kWords), m1 = m0, m2 = m0, m3 = m0;
  each_four(values, n, 0, [&](Floats a, Floats b, Floats c, Floats e) {
    m0 = hn::Max(m0, magnitude(a));
    m1 = hn::Max(m1, magnitude(b));
    m2 = hn::Max(m2, magnitude(c));
    m3 = hn::Max(m3, magnitude(e));
  });
  return largest(hn::Max(hn::Max(m0, m1), hn::Max(m2, m3)));
}

HWY_INLINE float sum_of_squares(const float* values, std::size_t n) {
  Floats s0 = hn::Zero(kFloats), s1 = s0, s2 = s0, s3 = s0;
  each_four(values, n, 0, [&](Floats a, Floats b, Floats c, Floats e) {
    s0 = hn::MulAdd(a, a, s0);
    s1 = hn::MulAdd(b, b, s1);
    s2 = hn::MulAdd(c, c, s2);
    s3 = hn::MulAdd(e, e, s3);
  });
  return sum(s0, s1, s2, s3);
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_SIMD_STATISTICS_INL_H
