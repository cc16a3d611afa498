#include "compressors/simd/vector.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/vector.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kStream>
HWY_INLINE void scale_vectors(const float* from, float factor, float* to, std::size_t n) {
  constexpr std::size_t kAhead = 512;  // elements: the prefetcher does not keep up with streams
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto times = hn::Set(d, factor);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    if constexpr (kStream) {
      hwy::Prefetch(from + std::min(i + kAhead, n));
      hwy::Prefetch(from + std::min(i + kAhead + lanes, n));
    }
    const auto a = hn::Mul(hn::LoadU(d, from + i), times), b = hn::Mul(hn::LoadU(d, from + i + lanes), times);
    store<kStream>(a, d, to + i);
    store<kStream>(b, d, to + i + lanes);
  }
  for (; i < n; ++i) {
    to[i] = from[i] * factor;
  }
}

void scale_floats(const float* from, float factor, float* to, std::size_t n) {
  if (from != to && worth_streaming(to, n)) {
    scale_vectors<true>(from, factor, to, n);
    hwy::FlushStream();
  } else {
    scale_vectors<false>(from, factor, to, n);
  }
}

void add_floats(const float* a, const float* b, float* to, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto first = hn::Add(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    const auto second = hn::Add(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes));
    hn::StoreU(first, d, to + i);
    hn::StoreU(second, d, to + i + lanes);
  }
  for (; i < n; ++i) {
    to[i] = a[i] + b[i];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(scale_floats);
HWY_EXPORT(add_floats);

void scale(std::span<const float> from, float factor, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(scale_floats)(from.data(), factor, to.data(), to.size());
}
void add(std::span<const float> from, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(add_floats)(from.data(), to.data(), to.data(), to.size());
}
void add(std::span<const float> a, std::span<const float> b, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(add_floats)(a.data(), b.data(), to.data(), to.size());
}
void zero(std::span<float> to) {
  if (!to.empty()) {
    std::memset(to.data(), 0, to.size_bytes());
  }
}

}  // namespace breakeven
#endif  // HWY_ONCE
