#include "compressors/simd/momentum.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/momentum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void accumulate(const float* gradient, std::size_t n, float momentum, float* velocity, float* sum) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, momentum);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto next = hn::MulAdd(factor, hn::LoadU(d, velocity + i), hn::LoadU(d, gradient + i));
    hn::StoreU(next, d, velocity + i);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), next), d, sum + i);
  }
  for (; i < n; ++i) {
    velocity[i] = momentum * velocity[i] + gradient[i];
    sum[i] += velocity[i];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(accumulate);

void accumulate_momentum(std::span<const float> gradient, float momentum, float* velocity, float* sum) {
  HWY_DYNAMIC_DISPATCH(accumulate)(gradient.data(), gradient.size(), momentum, velocity, sum);
}

}  // namespace breakeven
#endif  // HWY_ONCE
