#include "compressors/simd/statistics.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/statistics.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/statistics-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
