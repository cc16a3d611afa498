#include "compressors/simd/stream.h"

#include <cstddef>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/stream.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void stream_floats(const float* from, std::size_t n, float* to) {
  const hn::ScalableTag<float> d;
  constexpr std::size_t kLine = 64;
  std::size_t i = 0;
  // Whole lines only: parts of one would be written one by one.
  for (; i < n && reinterpret_cast<std::uintptr_t>(to + i) % kLine != 0; ++i) {
    to[i] = from[i];
  }
  const std::size_t line = kLine / sizeof(float);
  for (; i + line <= n; i += line) {
    for (std::size_t part = 0; part < line; part += hn::Lanes(d)) {
      hn::Stream(hn::LoadU(d, from + i + part), d, to + i + part);
    }
  }
  for (; i < n; ++i) {
    to[i] = from[i];
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(stream_floats);

void stream(std::span<const float> from, float* to) {
  HWY_DYNAMIC_DISPATCH(stream_floats)(from.data(), from.size(), to);
}

}  // namespace breakeven
#endif  // HWY_ONCE
