#include "compressors/selector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compressors/simd/momentum.h"
#include "compressors/simd/vector.h"

namespace breakeven {
namespace {

constexpr std::size_t kChunk = 16384;     // elements collected between two looks at the room that is left
constexpr std::size_t kSumChunk = 65536;  // elements whose sum is taken at once, whatever the threads
constexpr std::size_t kAlign = 64;        // bounds of ranges
constexpr std::size_t kSampled = 4096;    // smaller vectors are taken whole
constexpr std::size_t kMostLines = 4096;  // more cost more than a narrower band saves

std::size_t sample_lines(std::size_t n) {
  return std::min(kMostLines, static_cast<std::size_t>(std::sqrt(static_cast<double>(n))));
}
/// Room of one range for entries. Shrinking what it holds to k makes room for a chunk, and pays for itself;
/// where most are equal it will come to that, the sooner the better.
std::size_t room(std::size_t length, std::size_t k, bool equal) {
  return std::min(length, k + 2 * kChunk + (equal ? k / 4 : k));
}
std::size_t range_count(std::size_t n, const Threads& threads) {
  return std::clamp<std::size_t>(n / kChunk, 1, threads.count());
}
std::size_t collect_chunk(const Source& source, std::size_t begin, std::size_t length, std::int32_t above,
                          std::uint32_t place, float* values, std::uint32_t* positions) {
  const std::span<const float> gradient = source.gradient.subspan(begin, length);
  if (source.residual == nullptr) {
    return collect_above(gradient.data(), length, above, place, values, positions);
  }
  float* const residual = source.residual + begin;
  if (source.velocity == nullptr) {
    return add_and_collect(gradient.data(), residual, length, above, place, values, positions);
  }
  constexpr std::size_t kNear = 1024;  // elements that are collected while they are in the first-level cache
  std::size_t count = 0;
  for (std::size_t i = 0; i < length; i += kNear) {
    const std::size_t near = std::min(kNear, length - i);
    accumulate_momentum(gradient.subspan(i, near), source.momentum, source.velocity + begin + i,
                        residual + i);
    count += collect_above(residual + i, near, above, place + static_cast<std::uint32_t>(i), values + count,
                           positions + count);
  }
  return count;
}
std::size_t part_begin(std::size_t n, std::size_t part, std::size_t parts) {
  return part == parts ? n : n * part / parts / kAlign * kAlign;
}

}  // namespace

Selector::Selector(std::span<const Quota> vectors, Threads& threads)
    : threads_(threads), sample_([&] {
        std::size_t most = 0;
        for (const Quota& quota : vectors) {
          most = std::max(most, quota.elements);
        }
        return sample_lines(most);
      }()) {
  std::size_t total = 0, here = 0, pool = 0, largest = 0;
  for (const Quota& quota : vectors) {
    const std::size_t parts = range_count(quota.elements, threads);
    std::size_t collected = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = part_begin(quota.elements, part, parts);
      collected +=
          room(part_begin(quota.elements, part + 1, parts) - begin, quota.kept, false) + kVectorSlack;
    }
    here = std::max(here, total + (parts == 1 ? collected : 0));
    pool = std::max(pool, parts == 1 ? 0 : collected);
    largest = std::max(largest, collected);
    total += quota.kept;
  }
  values_ = Buffer<float>(std::max(here, total));
  positions_ = Buffer<std::uint32_t>(std::max(here, total));
  pool_values_ = Buffer<float>(pool);
  pool_positions_ = Buffer<std::uint32_t>(pool);
  magnitudes_ = Buffer<std::int32_t>(largest);
  std::size_t chunks = 0;
  for (const Quota& quota : vectors) {
    chunks = std::max(chunks, (quota.elements + kSumChunk - 1) / kSumChunk);
  }
  spreads_ = Buffer<Spread>(chunks);
  ranges_.reserve(threads.count());
}

void Selector::lay_out(std::size_t n, std::size_t k, bool equal) {
  const std::size_t parts = range_count(n, threads_);
  ranges_.clear();
  std::size_t offset = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part_begin(n, part, parts), end = part_begin(n, part + 1, parts);
    const std::size_t capacity = room(end - begin, k, equal);
    ranges_.push_back({begin, end, offset, capacity, 0});
    offset += capacity + kVectorSlack;
  }
}

void Selector::pad(std::size_t k) {
  for (; count_ < k; ++count_) {
    values_[count_] = 0;
    positions_[count_] = 0;
  }
}

float* Selector::values_of(const Range& range) {
  return ranges_.size() == 1 ? values_.data() + count_ : pool_values_.data() + range.offset;
}
std::uint32_t* Selector::positions_of(const Range& range) {
  return ranges_.size() == 1 ? positions_.data() + count_ : pool_positions_.data() + range.offset;
}

std::size_t Selector::collected() const {
  std::size_t count = 0;
  for (const Range& range : ranges_) {
    count += range.count;
  }
  return count;
}

template <class Work>
void Selector::each_range(Work work) {
  threads_.run(ranges_.size(), [&](std::size_t part) { work(ranges_[part]); });
}

/// Entries above `above`. Where a range runs out of room, `shrink(range)` drops some of what it has and says
/// above what to go on.
template <class Shrink>
void Selector::collect(Source source, std::int32_t above, std::size_t first, Shrink shrink) {
  each_range([&](Range& range) {
    float* const values = values_of(range);
    std::uint32_t* const positions = positions_of(range);
    std::int32_t limit = above;
    range.count = 0;
    for (std::size_t i = range.begin; i < range.end; i += kChunk) {
      const std::size_t length = std::min(kChunk, range.end - i);
      if (range.count + length > range.capacity) {
        limit = std::max(limit, shrink(range));
      }
      range.count += collect_chunk(source, i, length, limit, static_cast<std::uint32_t>(first + i),
                                   values + range.count, positions + range.count);
    }
  });
}

/// No entry of the k largest is lost: later ones must exceed the k-th so far, since equal ones come after it.
void Selector::collect_largest(Source source, std::int32_t above, std::size_t k, std::size_t first) {
  collect(source, above, first, [&](Range& range) {
    if (range.count <= k) {
      return kBelowAll;
    }
    float* const values = values_of(range);
    std::int32_t* const magnitudes = magnitudes_.data() + range.offset;
    copy_between(values, range.count, kBelowAll, kAboveAll, magnitudes);
    const Ranked kth = kth_largest(magnitudes, range.count, k);
    Cut cut{kth.magnitude, kth.magnitude - 1, k - kth.above};
    range.count = keep(cut, values, positions_of(range), range.count, values, positions_of(range));
    return kth.magnitude;
  });
}

/// What leaves k of the entries collected, of which the k-th is likely at most `high`.
Cut Selector::cut_of(std::size_t k, std::int32_t high) {
  const std::size_t all = collected();
  if (all <= k) {
    return {};
  }
  const auto copy_up_to = [&](std::int32_t most) {
    each_range([&](Range& range) {
      range.found =
          copy_between(values_of(range), range.count, kBelowAll, most, magnitudes_.data() + range.offset);
    });
    std::size_t count = 0;
    for (const Range& range : ranges_) {
      std::copy_n(magnitudes_.data() + range.offset, range.found, magnitudes_.data() + count);
      count += range.found;
    }
    return count;
  };
  std::size_t count = copy_up_to(high);
  if (all - count >= k) {
    count = copy_up_to(kAboveAll);
  }
  const std::size_t above = all - count;
  const Ranked kth = kth_largest(magnitudes_.data(), count, k - above);
  return {kth.magnitude, kth.magnitude - 1, k - above - kth.above};
}

/// Leaves the `k` entries that the cut spares where values() and positions() find them.
void Selector::finish(Cut cut, std::size_t k) {
  if (ranges_.size() == 1) {
    float* const values = values_of(ranges_[0]);
    std::uint32_t* const positions = positions_of(ranges_[0]);
    keep(cut, values, positions, ranges_[0].count, values, positions);
    count_ += k;
    return;
  }
  each_range([&](Range& range) {
    range.found = cut.ties == 0 ? 0
                                : count_above(values_of(range), range.count, cut.tie) -
                                      count_above(values_of(range), range.count, cut.sure);
  });
  for (Range& range : ranges_) {
    range.found = std::min(range.found, cut.ties);
    cut.ties -= range.found;
  }
  each_range([&](Range& range) {
    Cut own{cut.sure, cut.tie, range.found};
    range.count =
        keep(own, values_of(range), positions_of(range), range.count, values_of(range), positions_of(range));
  });
  threads_.run(ranges_.size(), [&](std::size_t part) {
    std::size_t at = count_;
    for (std::size_t before = 0; before < part; ++before) {
      at += ranges_[before].count;
    }
    const Range& range = ranges_[part];
    std::copy_n(values_of(range), range.count, values_.data() + at);
    std::copy_n(positions_of(range), range.count, positions_.data() + at);
  });
  count_ += k;
}

void Selector::add_largest(Source source, std::size_t k, std::size_t first) {
  const std::size_t n = source.gradient.size();
  Sample::Band band;
  if (k < n && n >= kSampled) {
    sample_.take(source.terms(), n, sample_lines(n));
    band = sample_.band(n, k);
  }
  lay_out(n, k, band.low + 1 == band.high);
  collect_largest(source, band.low, k, first);
  if (collected() < k) {  // the band has missed
    const float* const sums = source.residual == nullptr ? source.gradient.data() : source.residual;
    collect_largest({.gradient = {sums, n}}, kBelowAll, k, first);
  }
  finish(cut_of(k, band.high), k);
}

void Selector::add_above(Source source, std::int32_t above, std::size_t k, std::size_t first) {
  lay_out(source.gradient.size(), k, false);
  collect_largest(source, above, k, first);
  const Cut cut = cut_of(k, kAboveAll);
  finish(cut, std::min(k, collected()));
}

/// MSTop-k (Shi et al., arXiv 2010.10458). Infinities and NaN do not widen the search; all thresholds are
/// below them.
Cut Selector::bisect(std::span<const float> values, std::size_t k, std::size_t rounds) {
  const std::size_t n = values.size(), chunks = (n + kSumChunk - 1) / kSumChunk;
  threads_.run(chunks, [&](std::size_t chunk) {
    const std::size_t begin = chunk * kSumChunk;
    spreads_[chunk] = spread_of(values.data() + begin, std::min(kSumChunk, n - begin));
  });
  Spread all;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    all.sum += spreads_[chunk].sum;
    all.largest = std::max(all.largest, spreads_[chunk].largest);
  }
  const double mean = std::isfinite(all.sum) ? all.sum / static_cast<double>(n) : 0;
  const double largest = std::bit_cast<float>(
      static_cast<std::uint32_t>(std::min(all.largest, magnitude(std::numeric_limits<float>::max()))));
  Cut cut{kAboveAll, kBelowAll, k};
  double low = 0, high = 1;
  for (std::size_t round = 0; round < rounds; ++round) {
    const double share = low + (high - low) / 2;
    const auto threshold = static_cast<float>(mean + share * std::max(0.0, largest - mean));
    const std::int32_t above = magnitude(threshold) - 1;
    each_range([&](Range& range) {
      range.found = count_above(values.data() + range.begin, range.end - range.begin, above);
    });
    std::size_t count = 0;
    for (const Range& range : ranges_) {
      count += range.found;
    }
    if (count <= k) {
      high = share;
      cut.sure = above;
      cut.ties = k - count;
    } else {
      low = share;
      cut.tie = above;
    }
  }
  return cut;
}

void Selector::add_by_bisection(Source source, std::size_t k, std::size_t first, std::size_t rounds) {
  const std::size_t n = source.gradient.size();
  lay_out(n, k, false);
  std::span<const float> values = source.gradient;
  if (source.residual != nullptr) {
    each_range([&](const Range& range) {
      add(source.gradient.subspan(range.begin, range.end - range.begin),
          {source.residual + range.begin, range.end - range.begin});
    });
    values = {source.residual, n};
  }
  const Cut cut = bisect(values, k, rounds);
  collect({.gradient = values}, cut.ties > 0 ? cut.tie : cut.sure, first, [&](Range& range) {
    Cut rest = cut;
    range.count =
        keep(rest, values_of(range), positions_of(range), range.count, values_of(range), positions_of(range));
    return rest.ties == 0 ? cut.sure : kBelowAll;
  });
  finish(cut, k);
}

}  // namespace breakeven
