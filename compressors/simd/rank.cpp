#include "compressors/simd/rank.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/rank.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/magnitudes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

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

/// Magnitudes above `low` and up to `high`, in order; `to` may be `from`.
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

void copy_line_magnitudes(const Terms& terms, const std::uint32_t* lines, std::size_t count,
                          std::int32_t* magnitudes) {
  constexpr std::size_t kAhead = 128;  // lines on their way from memory to the second-level cache
  for (std::size_t line = 0; line < count; ++line) {
    const std::size_t at = kLine * lines[line], ahead = kLine * lines[std::min(line + kAhead, count - 1)];
    for (const float* term : {terms.gradient, terms.residual, terms.velocity}) {
      if (term != nullptr) {
        __builtin_prefetch(term + ahead, 0, 2);
      }
    }
    for (std::size_t i = 0; i < kLine; i += kLanes) {
      FloatVector vector = hn::LoadU(Floats(), terms.gradient + at + i);
      if (terms.velocity != nullptr) {
        vector = hn::MulAdd(hn::Set(Floats(), terms.momentum), hn::LoadU(Floats(), terms.velocity + at + i),
                            vector);
      }
      if (terms.residual != nullptr) {
        vector = hn::LoadU(Floats(), terms.residual + at + i) + vector;
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

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(count_magnitudes);
HWY_EXPORT(find_sides);
HWY_EXPORT(floats_between);
HWY_EXPORT(magnitudes_between);
HWY_EXPORT(copy_line_magnitudes);
HWY_EXPORT(line_differences);

std::size_t copy_between(const float* values, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* magnitudes) {
  return HWY_DYNAMIC_DISPATCH(floats_between)(values, n, low, high, magnitudes);
}
std::size_t copy_between(const std::int32_t* magnitudes, std::size_t n, std::int32_t low, std::int32_t high,
                         std::int32_t* to) {
  return HWY_DYNAMIC_DISPATCH(magnitudes_between)(magnitudes, n, low, high, to);
}
void copy_lines(const Terms& terms, const std::uint32_t* lines, std::size_t count, std::int32_t* magnitudes) {
  HWY_DYNAMIC_DISPATCH(copy_line_magnitudes)(terms, lines, count, magnitudes);
}
double line_variation(const std::int32_t* magnitudes, std::size_t lines, std::int32_t above) {
  return HWY_DYNAMIC_DISPATCH(line_differences)(magnitudes, lines, above);
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
