#include "compressors/simd/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>

#include "compressors/simd/compress_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/select.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Keys = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using FloatVector = hn::Vec<Floats>;
using KeyVector = hn::Vec<Keys>;
using WordVector = hn::Vec<Words>;
using KeyMask = hn::Mask<Keys>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
/// Elements of one turn of the loop.
constexpr std::size_t kBlock = 4 * kLanes;
static_assert(kBlock <= kCollectSlack);

HWY_INLINE KeyVector key(std::int32_t value) {
  return hn::Set(Keys(), value);
}
HWY_INLINE KeyVector magnitudes_of(FloatVector values) {
  return hn::And(hn::BitCast(Keys(), values), key(0x7fffffff));
}
HWY_INLINE KeyVector load_keys(const float* values) {
  return magnitudes_of(hn::LoadU(Floats(), values));
}
HWY_INLINE KeyVector load_keys(const std::int32_t* magnitudes) {
  return hn::LoadU(Keys(), magnitudes);
}
HWY_INLINE std::int32_t key_at(float value) {
  return magnitude(value);
}
HWY_INLINE std::int32_t key_at(std::int32_t magnitude) {
  return magnitude;
}

template <class T>
HWY_INLINE std::size_t count_keys(const T* from, std::size_t n, std::int32_t above) {
  const KeyVector limit = key(above);
  std::size_t count = 0, i = 0;
  while (i + kBlock <= n) {
    // A lane of a sum counts down to -2^16 at most.
    const std::size_t end = i + std::min((n - i) / kBlock, std::size_t{1} << 16U) * kBlock;
    KeyVector a = hn::Zero(Keys()), b = a, c = a, d = a;
    for (; i < end; i += kBlock) {
      a += hn::VecFromMask(Keys(), load_keys(from + i) > limit);
      b += hn::VecFromMask(Keys(), load_keys(from + i + kLanes) > limit);
      c += hn::VecFromMask(Keys(), load_keys(from + i + 2 * kLanes) > limit);
      d += hn::VecFromMask(Keys(), load_keys(from + i + 3 * kLanes) > limit);
    }
    count -= static_cast<std::size_t>(
        static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(Keys(), (a + b) + (c + d)))));
  }
  for (; i < n; ++i) {
    count += key_at(from[i]) > above ? 1 : 0;
  }
  return count;
}

std::size_t count_floats(const float* values, std::size_t n, std::int32_t above) {
  return count_keys(values, n, above);
}
std::size_t count_magnitudes(const std::int32_t* magnitudes, std::size_t n, std::int32_t above) {
  return count_keys(magnitudes, n, above);
}

void find_sides(const std::int32_t* magnitudes, std::size_t n, std::int32_t pivot, Sides* sides) {
  const KeyVector limit = key(pivot);
  KeyVector smallest = key(kAboveAll), largest = key(kBelowAll), count = key(0);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const KeyVector keys = load_keys(magnitudes + i);
    const KeyMask above = keys > limit;
    count += hn::VecFromMask(Keys(), above);
    smallest = hn::Min(smallest, hn::IfThenElse(above, keys, key(kAboveAll)));
    largest = hn::Max(largest, hn::IfThenElse(above, key(kBelowAll), keys));
  }
  sides->above = static_cast<std::size_t>(-hn::GetLane(hn::SumOfLanes(Keys(), count)));
  sides->smallest_above = hn::GetLane(hn::MinOfLanes(Keys(), smallest));
  sides->largest_below = hn::GetLane(hn::MaxOfLanes(Keys(), largest));
  for (; i < n; ++i) {
    if (magnitudes[i] > pivot) {
      ++sides->above;
      sides->smallest_above = std::min(sides->smallest_above, magnitudes[i]);
    } else {
      sides->largest_below = std::max(sides->largest_below, magnitudes[i]);
    }
  }
}

#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_SCALAR
/// Moves the lanes of a mask to the front of vectors.
struct Compression {
  HWY_INLINE explicit Compression(KeyMask mask) : kept(mask), count(hn::CountTrue(Keys(), mask)) {}
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> vector) const {
    return hn::Compress(vector, hn::RebindMask(d, kept));
  }
  KeyMask kept;
  std::size_t count;
};
#else
/// Highway 1.0.3's Compress copies its table to the stack at each call, and takes ten times as long.
struct Compression {
  HWY_INLINE explicit Compression(KeyMask mask) {
    std::uint8_t bits[8] = {};  // as many as StoreMaskBits may write
    hn::StoreMaskBits(Keys(), mask, bits);
    count = static_cast<std::size_t>(std::popcount(bits[0]));
    row = kCompressTable<kLanes>[bits[0]].data();
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> vector) const {
    return hn::TableLookupLanes(vector, hn::SetTableIndices(D(), row));
  }
  const std::uint32_t* row;
  std::size_t count;
};
#endif

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

/// Magnitudes low `low` and up to `high`, in order; `to` may be `from`.
template <class T>
HWY_INLINE std::size_t between(const T* from, std::size_t n, std::int32_t low, std::int32_t high,
                               std::int32_t* to) {
  std::size_t count = 0, i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const KeyVector keys = load_keys(from + i);
    const KeyMask mask = hn::AndNot(keys > key(high), keys > key(low));
    const Compression compressed(mask);
    hn::StoreU(compressed(Keys(), keys), Keys(), to + count);
    count += compressed.count;
  }
  for (; i < n; ++i) {
    const std::int32_t at = key_at(from[i]);
    if (at > low && at <= high) {
      to[count++] = at;
    }
  }
  return count;
}

std::size_t floats_between(const float* values, std::size_t n, std::int32_t low, std::int32_t high,
                           std::int32_t* to) {
  return between(values, n, low, high, to);
}
std::size_t magnitudes_between(const std::int32_t* magnitudes, std::size_t n, std::int32_t low,
                               std::int32_t high, std::int32_t* to) {
  return between(magnitudes, n, low, high, to);
}

void copy_line_magnitudes(const float* values, const float* more, const std::uint32_t* lines,
                          std::size_t count, std::int32_t* magnitudes) {
  constexpr std::size_t kAhead = 128;  // lines on their way from memory to the second-level cache
  for (std::size_t line = 0; line < count; ++line) {
    const std::size_t ahead = kLine * lines[std::min(line + kAhead, count - 1)];
    __builtin_prefetch(values + ahead, 0, 2);
    const std::size_t at = kLine * lines[line];
    if (more != nullptr) {
      __builtin_prefetch(more + ahead, 0, 2);
    }
    for (std::size_t i = 0; i < kLine; i += kLanes) {
      FloatVector vector = hn::LoadU(Floats(), values + at + i);
      if (more != nullptr) {
        vector += hn::LoadU(Floats(), more + at + i);
      }
      hn::StoreU(magnitudes_of(vector), Keys(), magnitudes + kLine * line + i);
    }
  }
}

double line_differences(const std::int32_t* magnitudes, std::size_t lines, std::int32_t above) {
  std::size_t squares = 0, before = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < kLine; i += kLanes) {
      count += hn::CountTrue(Keys(), load_keys(magnitudes + kLine * line + i) > key(above));
    }
    const std::size_t difference = count > before ? count - before : before - count;
    squares += line > 0 ? difference * difference : 0;
    before = count;
  }
  return static_cast<double>(squares);
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
HWY_EXPORT(count_magnitudes);
HWY_EXPORT(find_sides);
HWY_EXPORT(collect_floats);
HWY_EXPORT(collect_sums);
HWY_EXPORT(keep_entries);
HWY_EXPORT(floats_between);
HWY_EXPORT(magnitudes_between);
HWY_EXPORT(copy_line_magnitudes);
HWY_EXPORT(line_differences);
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
std::size_t copy_between(const float* values, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* magnitudes) {
  return HWY_DYNAMIC_DISPATCH(floats_between)(values, n, low, high, magnitudes);
}
std::size_t copy_between(const std::int32_t* magnitudes, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* to) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_between)(magnitudes, n, low, high, to);
}
void copy_lines(const float* values, const float* more, const std::uint32_t* lines, std::size_t count,
                std::int32_t* magnitudes) {
  HWY_DYNAMIC_DISPATCH(copy_line_magnitudes)(values, more, lines, count, magnitudes);
}
double line_variation(const std::int32_t* magnitudes, std::size_t lines, std::int32_t above) {
  return HWY_DYNAMIC_DISPATCH(line_differences)(magnitudes, lines, above);
}
Spread spread_of(const float* values, std::size_t n) {
  return HWY_DYNAMIC_DISPATCH(float_spread)(values, n);
}

namespace {

/// A magnitude likely above the k-th largest and one likely below, from a few of them.
std::array<std::int32_t, 2> guesses(const std::int32_t* magnitudes, std::size_t n, std::size_t k) {
  constexpr std::size_t kFew = 64;
  std::array<std::int32_t, kFew> few{};
  for (std::size_t i = 0; i < kFew; ++i) {
    few[i] = magnitudes[i * (n / kFew)];
  }
  const double share = static_cast<double>(k) / static_cast<double>(n);
  const auto margin = static_cast<std::size_t>(1.5 * std::sqrt(kFew * share * (1 - share))) + 1;
  const auto rank = static_cast<std::size_t>(kFew * share);
  const std::size_t below = std::min(rank + margin, kFew - 1), above = rank > margin ? rank - margin : 0;
  std::nth_element(few.begin(), few.begin() + below, few.end(), std::greater<>());
  std::nth_element(few.begin(), few.begin() + above, few.begin() + below, std::greater<>());
  return {few[above], few[below] - 1};
}

}  // namespace

Ranked kth_largest(std::int32_t* magnitudes, std::size_t n, std::size_t k) {
  constexpr std::size_t kMany = 1024;
  std::array<std::int32_t, 2> pivots = {kAboveAll, kAboveAll};
  if (n >= kMany) {
    pivots = guesses(magnitudes, n, k);
  }
  std::int32_t low = 0, high = kAboveAll;
  std::size_t above_high = 0, dropped = 0;  // larger ones: than high, and those no longer in the vector
  bool narrow = n < kMany;                  // bring low and high to values that occur
  // Then bisection of the range of values, by passes over what is left of the vector.
  for (std::size_t pass = 0; low < high; ++pass) {
    const std::int32_t pivot =
        pass < pivots.size() ? std::clamp(pivots[pass], low, high - 1) : low + (high - low) / 2;
    Sides sides;
    if (narrow) {
      HWY_DYNAMIC_DISPATCH(find_sides)(magnitudes, n, pivot, &sides);
    } else {
      sides = {HWY_DYNAMIC_DISPATCH(count_magnitudes)(magnitudes, n, pivot), pivot + 1, pivot};
    }
    const bool upper = dropped + sides.above >= k;
    if (upper) {
      low = sides.smallest_above;
    } else {
      high = sides.largest_below;
      above_high = dropped + sides.above;
    }
    const std::size_t rest = upper ? sides.above : n - sides.above;
    narrow = rest > n - n / 4;
    if (!narrow) {
      copy_between(magnitudes, n, upper ? pivot : kBelowAll, upper ? kAboveAll : pivot, magnitudes);
      n = rest;
      dropped += upper ? 0 : sides.above;
    }
  }
  return {low, above_high};
}

}  // namespace breakeven
#endif  // HWY_ONCE
