#include "bench/read_pass.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/read_pass.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven::bench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

float sum(const float* data, std::size_t n) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    a = hn::Add(a, hn::LoadU(d, data + i));
    b = hn::Add(b, hn::LoadU(d, data + i + lanes));
    c = hn::Add(c, hn::LoadU(d, data + i + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, data + i + 3 * lanes));
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
  for (; i < n; ++i) {
    total += data[i];
  }
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven::bench {

HWY_EXPORT(sum);

float read_pass(std::span<const float> data) {
  return HWY_DYNAMIC_DISPATCH(sum)(data.data(), data.size());
}

}  // namespace breakeven::bench
#endif
