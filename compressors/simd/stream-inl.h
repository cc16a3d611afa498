// Stores that bypass the caches, for outputs that no cache holds anyway: memory is not read before it is
// written.
#if defined(BREAKEVEN_SIMD_STREAM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_STREAM_INL_H
#undef BREAKEVEN_SIMD_STREAM_INL_H
#else
#define BREAKEVEN_SIMD_STREAM_INL_H
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

/// Elements from which on it pays: measured, where scaling a vector takes as long either way (32 MiB read and
/// written). Below, such stores take up to four times as long.
constexpr std::size_t kStreamFrom = std::size_t{1} << 22U;

/// Streams take whole, aligned vectors.
HWY_INLINE bool worth_streaming(const void* to, std::size_t elements) {
  return elements >= kStreamFrom && reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
}

template <bool kStream, class D, class V>
HWY_INLINE void store(V values, D d, hwy::HWY_NAMESPACE::TFromD<D>* to) {
  if constexpr (kStream && sizeof(hwy::HWY_NAMESPACE::TFromD<D>) * hwy::HWY_NAMESPACE::MaxLanes(D()) >= 16) {
    hwy::HWY_NAMESPACE::Stream(values, d, to);
  } else {
    hwy::HWY_NAMESPACE::StoreU(values, d, to);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_SIMD_STREAM_INL_H
