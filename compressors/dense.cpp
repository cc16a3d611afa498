#include "compressors/dense.h"

#include <algorithm>
#include <utility>

#include "compressors/simd/vector.h"

namespace breakeven {
namespace {

constexpr std::size_t kGrain = 65536;

/// work(place, at, count) for the parts of `runs` in from..to of their elements laid end to end: `count`
/// elements at `place` of the message are those at `at`.
template <class F>
void each_run(std::span<const Run> runs, std::size_t from, std::size_t to, F&& work) {
  std::size_t at = 0;
  for (const Run& run : runs) {
    const std::size_t begin = std::max(at, from), end = std::min(at + run.count, to);
    if (begin < end) {
      work(run.first + (begin - at), begin, end - begin);
    }
    at += run.count;
  }
}

}  // namespace

bool all_f32(std::span<const Shape> tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Shape& shape) { return shape.element == Element::f32; });
}

DensePart::DensePart(std::vector<Run> runs) : runs_(std::move(runs)) {
  for (const Run& run : runs_) {
    elements_ += run.count;
  }
  if (runs_.size() > 1) {
    gathered_ = Buffer<float>(elements_);
  }
}

std::span<const std::byte> DensePart::encode(std::span<const float> gradient, Threads& threads) {
  if (runs_.empty()) {
    return {};
  }
  if (runs_.size() == 1) {
    return std::as_bytes(gradient.subspan(runs_.front().first, elements_));
  }
  threads.ranges(elements_, kGrain, [&](std::size_t from, std::size_t to) {
    each_run(runs_, from, to, [&](std::size_t place, std::size_t at, std::size_t count) {
      std::copy_n(gradient.data() + place, count, gathered_.data() + at);
    });
  });
  return gathered_.bytes(elements_);
}

void DensePart::decode(std::span<const std::byte> sum, std::size_t workers, std::span<float> mean,
                       Threads& threads) {
  const auto* const values = reinterpret_cast<const float*>(sum.data());
  const float share = 1.0F / static_cast<float>(workers);
  threads.ranges(elements_, kGrain, [&](std::size_t from, std::size_t to) {
    each_run(runs_, from, to, [&](std::size_t place, std::size_t at, std::size_t count) {
      scale({values + at, count}, share, mean.subspan(place, count));
    });
  });
}

}  // namespace breakeven
