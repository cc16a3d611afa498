#include "compressors/simd/draw.h"

#include <algorithm>

#include "compressors/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/draw.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using Words = hn::ScalableTag<std::uint32_t>;
using Wide = hn::RepartitionToWide<Words>;
using WordVector = hn::Vec<Words>;
using WideVector = hn::Vec<Wide>;
constexpr std::size_t kLanes = hn::MaxLanes(Words());

/// The upper halves of two vectors whose lanes belong to even and to odd places.
HWY_INLINE WordVector upper_halves(WideVector even, WideVector odd) {
  return hn::OddEven(hn::BitCast(Words(), odd), hn::BitCast(Words(), hn::ShiftRight<32>(even)));
}
HWY_INLINE WideVector odd_lanes(WordVector words) {
  return hn::ShiftRight<32>(hn::BitCast(Wide(), words));
}
HWY_INLINE WordVector random_words(WordVector bits, const Stratum& rule) {
  bits = hn::Xor(bits, hn::Set(Words(), rule.key));
  bits = hn::Xor(bits, hn::ShiftRight<16>(bits)) * hn::Set(Words(), Stratum::kFactor);
  bits = hn::Xor(bits, hn::Set(Words(), rule.second_key));
  bits = hn::Xor(bits, hn::ShiftRight<13>(bits)) * hn::Set(Words(), Stratum::kSecondFactor);
  return hn::Xor(bits, hn::ShiftRight<16>(bits));
}

/// Whole vectors of strata from `stratum`; returns how many strata.
HWY_INLINE std::size_t draw_vectors(const Stratum& rule, std::size_t stratum, std::size_t n,
                                    std::uint32_t* positions) {
  alignas(64) std::uint64_t first[2][kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    first[lane % 2][lane / 2] = rule.phase + (stratum + lane) * rule.step;
  }
  WideVector even = hn::Load(Wide(), first[0]), odd = hn::Load(Wide(), first[1]);
  const WideVector two = hn::Set(Wide(), 2 * rule.step), all = hn::Set(Wide(), kLanes * rule.step);
  WordVector number = hn::Iota(Words(), static_cast<std::uint32_t>(stratum));
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const WordVector begin = upper_halves(even, odd), length = upper_halves(odd, even + two) - begin;
    const WordVector words = random_words(number, rule);
    const WideVector offset = hn::MulEven(words, length),
                     odd_offset = hn::MulEven(hn::BitCast(Words(), odd_lanes(words)),
                                              hn::BitCast(Words(), odd_lanes(length)));
    hn::StoreU(begin + upper_halves(offset, odd_offset), Words(), positions + i);
    even += all;
    odd += all;
    number += hn::Set(Words(), kLanes);
  }
  return i;
}
#else
HWY_INLINE std::size_t draw_vectors(const Stratum& /*rule*/, std::size_t /*stratum*/, std::size_t /*n*/,
                                    std::uint32_t* /*positions*/) {
  return 0;
}
#endif

void draw_strata(const Stratum& rule, std::size_t stratum, std::size_t n, std::uint32_t* positions) {
  for (std::size_t i = draw_vectors(rule, stratum, n, positions); i < n; ++i) {
    const std::uint32_t begin = rule.begin(stratum + i), length = rule.begin(stratum + i + 1) - begin;
    positions[i] = begin + rule.offset(stratum + i, length);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(draw_strata);

Strata::Strata(std::uint64_t n, std::uint64_t k, std::uint64_t stream) : n_(n), k_(k) {
  rule_.step = (n << 32U) / k;
  rule_.phase = static_cast<std::uint64_t>(uniform_at(stream, 0) * static_cast<double>(rule_.step));
  rule_.key = static_cast<std::uint32_t>(random_at(stream, 1));
  rule_.second_key = static_cast<std::uint32_t>(random_at(stream, 2));
}

void Strata::draw(std::size_t begin, std::size_t end, std::uint32_t* positions) const {
  if (begin >= end) {
    return;
  }
  // The last stratum goes around the end: its part behind the end lies before the first one.
  const std::uint64_t last = k_ - 1, from = rule_.begin(last), length = n_ - from + rule_.begin(0);
  const std::uint64_t place = from + rule_.offset(last, static_cast<std::uint32_t>(length));
  const bool wraps = place >= n_;
  if (wraps && begin == 0) {
    *positions++ = static_cast<std::uint32_t>(place - n_);
    ++begin;
  }
  if (!wraps && end == k_) {
    --end;
    positions[end - begin] = static_cast<std::uint32_t>(place);
  }
  if (begin < end) {
    const std::size_t stratum = begin - (wraps ? 1 : 0);
    HWY_DYNAMIC_DISPATCH(draw_strata)(rule_, stratum, end - begin, positions);
  }
}
void gather(const float* values, const std::uint32_t* positions, std::size_t n, float* to) {
  std::size_t i = 0;
  // The second-level cache waits for more lines at once than the first; where every line is read anyway, what
  // counts is that it is near.
  const bool every_line = n > 0 && positions[n - 1] - positions[0] < 16 * n;
  const std::size_t ahead = every_line ? 128 : 256;
  if (every_line) {
    for (; i + ahead < n; ++i) {
      __builtin_prefetch(values + positions[i + ahead], 0, 3);
      to[i] = values[positions[i]];
    }
  } else {
    for (; i + ahead < n; ++i) {
      __builtin_prefetch(values + positions[i + ahead], 0, 2);
      to[i] = values[positions[i]];
    }
  }
  for (; i < n; ++i) {
    to[i] = values[positions[i]];
  }
}
void clear(float* values, const std::uint32_t* positions, std::size_t n) {
  constexpr std::size_t kAhead = 256;
  for (std::size_t i = 0; i < n; ++i) {
    __builtin_prefetch(values + positions[std::min(i + kAhead, n - 1)], 1, 2);
    values[positions[i]] = 0;
  }
}

}  // namespace breakeven
#endif  // HWY_ONCE
