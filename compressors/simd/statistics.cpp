#include "compressors/simd/statistics.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/statistics.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// By groups of 64 elements, whole vectors on every target, and by four vectors in a group. What is left over
// is copied to a group of its own.
constexpr std::size_t kGroup = 64;

constexpr hn::CappedTag<float, 16> kFloats;
constexpr hn::RebindToUnsigned<decltype(kFloats)> kWords;
using Floats = hn::Vec<decltype(kFloats)>;
using Words = hn::Vec<decltype(kWords)>;

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

HWY_INLINE void extent(const float* values, std::size_t n, float* lowest, float* highest) {
  Floats low0 = hn::Set(kFloats, values[0]), low1 = low0, low2 = low0, low3 = low0;
  Floats high0 = low0, high1 = low0, high2 = low0, high3 = low0;
  // What Min and Max do with NaN differs between targets: zero times an element shows it.
  const Floats zero = hn::Zero(kFloats);
  Floats nan0 = zero, nan1 = zero;
  each_four(values, n, values[0], [&](Floats a, Floats b, Floats c, Floats e) {
    low0 = hn::Min(low0, a);
    low1 = hn::Min(low1, b);
    low2 = hn::Min(low2, c);
    low3 = hn::Min(low3, e);
    high0 = hn::Max(high0, a);
    high1 = hn::Max(high1, b);
    high2 = hn::Max(high2, c);
    high3 = hn::Max(high3, e);
    nan0 = hn::MulAdd(b, zero, hn::MulAdd(a, zero, nan0));
    nan1 = hn::MulAdd(e, zero, hn::MulAdd(c, zero, nan1));
  });
  const float nan = sum(nan0, nan1, zero, zero);
  *lowest = nan + hn::GetLane(hn::MinOfLanes(kFloats, hn::Min(hn::Min(low0, low1), hn::Min(low2, low3))));
  *highest =
      nan + hn::GetLane(hn::MaxOfLanes(kFloats, hn::Max(hn::Max(high0, high1), hn::Max(high2, high3))));
}

/// Magnitudes in the order of their bits, in which NaN comes last.
HWY_INLINE Words magnitude(Floats x) {
  return hn::BitCast(kWords, hn::Abs(x));
}
HWY_INLINE float largest(Words bits) {
  return hn::GetLane(hn::BitCast(kFloats, hn::MaxOfLanes(kWords, bits)));
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

void extents_of(const float* values, std::size_t n, std::size_t block, float* lows, float* highs) {
  for (std::size_t i = 0; i < n; i += block) {
    extent(values + i, std::min(block, n - i), lows++, highs++);
  }
}
void largest_of(const float* values, std::size_t n, std::size_t block, float* of_blocks) {
  for (std::size_t i = 0; i < n; i += block) {
    *of_blocks++ = largest_magnitude(values + i, std::min(block, n - i));
  }
}
void squares_of(const float* values, std::size_t n, std::size_t block, float* of_blocks) {
  for (std::size_t i = 0; i < n; i += block) {
    *of_blocks++ = sum_of_squares(values + i, std::min(block, n - i));
  }
}

void moments_of(const float* values, std::size_t n, float origin, Moments* moments) {
  const Floats center = hn::Set(kFloats, origin);
  Floats s0 = hn::Zero(kFloats), s1 = s0, s2 = s0, s3 = s0, q0 = s0, q1 = s0, q2 = s0, q3 = s0;
  Words m0 = magnitude(center), m1 = m0;
  each_four(values, n, origin, [&](Floats a, Floats b, Floats c, Floats e) {
    m0 = hn::Max(m0, hn::Max(magnitude(a), magnitude(b)));
    m1 = hn::Max(m1, hn::Max(magnitude(c), magnitude(e)));
    a = hn::Sub(a, center);
    b = hn::Sub(b, center);
    c = hn::Sub(c, center);
    e = hn::Sub(e, center);
    s0 = hn::Add(s0, a);
    s1 = hn::Add(s1, b);
    s2 = hn::Add(s2, c);
    s3 = hn::Add(s3, e);
    q0 = hn::MulAdd(a, a, q0);
    q1 = hn::MulAdd(b, b, q1);
    q2 = hn::MulAdd(c, c, q2);
    q3 = hn::MulAdd(e, e, q3);
  });
  moments->sum = sum(s0, s1, s2, s3);
  moments->squares = sum(q0, q1, q2, q3);
  moments->largest = largest(hn::Max(m0, m1));
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(extents_of);
HWY_EXPORT(largest_of);
HWY_EXPORT(squares_of);
HWY_EXPORT(moments_of);

void extents(std::span<const float> values, std::size_t block, float* lows, float* highs) {
  HWY_DYNAMIC_DISPATCH(extents_of)(values.data(), values.size(), block, lows, highs);
}
void largest_magnitudes(std::span<const float> values, std::size_t block, float* of_blocks) {
  HWY_DYNAMIC_DISPATCH(largest_of)(values.data(), values.size(), block, of_blocks);
}
void sums_of_squares(std::span<const float> values, std::size_t block, float* of_blocks) {
  HWY_DYNAMIC_DISPATCH(squares_of)(values.data(), values.size(), block, of_blocks);
}
Moments moments(std::span<const float> values, float origin) {
  Moments result;
  HWY_DYNAMIC_DISPATCH(moments_of)(values.data(), values.size(), origin, &result);
  return result;
}

}  // namespace breakeven
#endif  // HWY_ONCE
