#include "compressors/simd/select.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/magnitudes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

static_assert(kLanes <= kVectorSlack);

std::size_t count_floats(const float* values, std::size_t n, std::int32_t above) {
  return count_keys(values, n, above);
}
/// Appends a vector's elements of the mask and their positions. Compressing to memory would be microcoded on
/// Zen 4: the whole vector is stored.
HWY_INLINE std::size_t append(FloatVector values, WordVector places, KeyMask mask, std::size_t count,
                              float* kept, std::uint32_t* positions) {
  const Compression compressed(mask);
  hn::StoreU(compressed(Floats(), values), Floats(), kept + count);
  hn::StoreU(compressed(Words(), places), Words(), positions + count);
  return count + compressed.count;
}

/// `load(i)` is a vector of elements from i, `load_one(i)` the element.
template <class Load, class LoadOne>
HWY_INLINE std::size_t collect(std::size_t n, std::int32_t above, std::uint32_t first, float* kept,
                               std::uint32_t* positions, Load load, LoadOne load_one) {
  const KeyVector limit = key(above);
  const WordVector lanes = hn::Set(Words(), kLanes);
  WordVector at = hn::Iota(Words(), first);
  std::size_t count = 0, i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    const FloatVector a = load(i), b = load(i + kLanes), c = load(i + 2 * kLanes), d = load(i + 3 * kLanes);
    const KeyMask in_a = magnitudes_of(a) > limit, in_b = magnitudes_of(b) > limit,
                  in_c = magnitudes_of(c) > limit, in_d = magnitudes_of(d) > limit;
    const WordVector at_b = at + lanes, at_c = at_b + lanes, at_d = at_c + lanes;
    if (!hn::AllFalse(Keys(), hn::Or(hn::Or(in_a, in_b), hn::Or(in_c, in_d)))) {
      count = append(a, at, in_a, count, kept, positions);
      count = append(b, at_b, in_b, count, kept, positions);
      count = append(c, at_c, in_c, count, kept, positions);
      count = append(d, at_d, in_d, count, kept, positions);
    }
    at = at_d + lanes;
  }
  for (; i < n; ++i) {
    const float value = load_one(i);
    if (magnitude(value) > above) {
      kept[count] = value;
      positions[count++] = first + static_cast<std::uint32_t>(i);
    }
  }
  return count;
}

std::size_t collect_floats(const float* values, std::size_t n, std::int32_t above, std::uint32_t first,
                           float* kept, std::uint32_t* positions) {
  return collect(
      n, above, first, kept, positions, [=](std::size_t i) { return hn::LoadU(Floats(), values + i); },
      [=](std::size_t i) { return values[i]; });
}

std::size_t collect_sums(const float* values, float* sum, std::size_t n, std::int32_t above,
                         std::uint32_t first, float* kept, std::uint32_t* positions) {
  return collect(
      n, above, first, kept, positions,
      [=](std::size_t i) {
        const FloatVector total = hn::LoadU(Floats(), values + i) + hn::LoadU(Floats(), sum + i);
        hn::StoreU(total, Floats(), sum + i);
        return total;
      },
      [=](std::size_t i) { return sum[i] += values[i]; });
}

/// Entries whose magnitude is above `tie`, at most `ties` of them not above `sure`.
std::size_t keep_entries(Cut& cut, const float* values, const std::uint32_t* positions, std::size_t n,
                         float* kept, std::uint32_t* kept_positions) {
  std::size_t count = 0, i = 0;
  const auto one_by_one = [&](std::size_t end) {
    for (; i < end; ++i) {
      const std::int32_t at = magnitude(values[i]);
      const bool tie = at > cut.tie && at <= cut.sure && cut.ties > 0;
      if (at > cut.sure || tie) {
        cut.ties -= tie ? 1 : 0;
        kept[count] = values[i];
        kept_positions[count++] = positions[i];
      }
    }
  };
  for (; i + kLanes <= n;) {
    const FloatVector vector = hn::LoadU(Floats(), values + i);
    const WordVector places = hn::LoadU(Words(), positions + i);
    const KeyVector keys = magnitudes_of(vector);
    KeyMask mask = keys > key(cut.sure);
    if (cut.ties > 0) {
      const KeyMask all = keys > key(cut.tie);
      const std::size_t ties = hn::CountTrue(Keys(), all) - hn::CountTrue(Keys(), mask);
      if (ties > cut.ties) {
        one_by_one(i + kLanes);
        continue;
      }
      cut.ties -= ties;
      mask = all;
    }
    count = append(vector, places, mask, count, kept, kept_positions);
    i += kLanes;
  }
  one_by_one(n);
  return count;
}

/// Sixteen sums, whatever the vectors' width: every target rounds alike.
Spread float_spread(const float* values, std::size_t n) {
  const hn::ScalableTag<double> wide;
  const hn::Rebind<float, decltype(wide)> narrow;
  const hn::RebindToSigned<decltype(narrow)> keys;
  constexpr std::size_t kStep = hn::MaxLanes(narrow), kSums = 16;
  hn::Vec<decltype(wide)> sums[kSums / kStep];
  std::fill(std::begin(sums), std::end(sums), hn::Zero(wide));
  auto largest = hn::Zero(keys);
  std::size_t i = 0;
  for (; i + kSums <= n; i += kSums) {
    for (std::size_t part = 0; part < kSums / kStep; ++part) {
      const auto absolute = hn::Abs(hn::LoadU(narrow, values + i + part * kStep));
      largest = hn::Max(largest, hn::BitCast(keys, absolute));
      sums[part] += hn::PromoteTo(wide, absolute);
    }
  }
  Spread spread{0, hn::GetLane(hn::MaxOfLanes(keys, largest))};
  double lanes[kSums];
  for (std::size_t part = 0; part < kSums / kStep; ++part) {
    hn::StoreU(sums[part], wide, lanes + part * kStep);
  }
  for (; i < n; ++i) {
    lanes[i % kSums] += std::abs(static_cast<double>(values[i]));
    spread.largest = std::max(spread.largest, magnitude(values[i]));
  }
  for (const double lane : lanes) {
    spread.sum += lane;
  }
  return spread;
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(count_floats);
HWY_EXPORT(collect_floats);
HWY_EXPORT(collect_sums);
HWY_EXPORT(keep_entries);
HWY_EXPORT(float_spread);

std::size_t count_above(const float* values, std::size_t n, std::int32_t above) {
  return HWY_DYNAMIC_DISPATCH(count_floats)(values, n, above);
}
std::size_t collect_above(const float* values, std::size_t n, std::int32_t above, std::uint32_t first,
                          float* kept, std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(collect_floats)(values, n, above, first, kept, positions);
}
std::size_t add_and_collect(const float* values, float* sum, std::size_t n, std::int32_t above,
                            std::uint32_t first, float* kept, std::uint32_t* positions) {
  return HWY_DYNAMIC_DISPATCH(collect_sums)(values, sum, n, above, first, kept, positions);
}
std::size_t keep(Cut& cut, const float* values, const std::uint32_t* positions, std::size_t n, float* kept,
                 std::uint32_t* kept_positions) {
  return HWY_DYNAMIC_DISPATCH(keep_entries)(cut, values, positions, n, kept, kept_positions);
}
Spread spread_of(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(float_spread)(values, n);
}

}  // namespace breakeven
#endif  // HWY_ONCE
