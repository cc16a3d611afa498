#include "model/where.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace breakeven {
namespace {

/// Halves [a, b] in log space until both ends agree to 1e-12; `inside(a)` differs from `inside(b)`. The end
/// that is inside.
template <class Inside>
double bisect_log(double a, double b, Inside&& inside) {
  const bool left = inside(a);
  while (b / a - 1 > 1e-12) {
    const double middle = std::sqrt(a * b);
    if (middle <= a || middle >= b) {
      break;
    }
    (inside(middle) == left ? a : b) = middle;
  }
  return left ? a : b;
}

/// The counts of workers that fill whole nodes, by position: 2 ... node, then two nodes, three nodes ...
class WorkerCounts {
 public:
  explicit WorkerCounts(std::size_t node) : node_(node) {}

  [[nodiscard]] std::size_t at(std::size_t position) const {
    return position <= node_ ? position : (position - node_ + 1) * node_;
  }
  /// Positions to look at, up to `most` workers: each about half as much again as the one before, the full
  /// node among them.
  [[nodiscard]] std::vector<std::size_t> grid(std::size_t most) const {
    std::vector<std::size_t> positions;
    for (std::size_t i = 2; i < node_ && i <= most; i = std::max(i + 1, i + i / 2)) {
      positions.push_back(i);
    }
    for (std::size_t nodes = 1; nodes * node_ <= most; nodes = std::max(nodes + 1, nodes + nodes / 2)) {
      if (nodes * node_ > 1) {
        positions.push_back(node_ + nodes - 1);
      }
    }
    return positions;
  }

 private:
  std::size_t node_;
};

class Search {
 public:
  Search(Scenario scenario, const Compressor& plain, const Compressor& candidate, Placement natural,
         const JudgeOptions& options, Forecast& before, Forecast& after)
      : scenario_(std::move(scenario)),
        plain_(plain),
        candidate_(candidate),
        natural_(natural),
        options_(options),
        before_(before),
        after_(after) {}

  [[nodiscard]] bool pays(Forecast& before, Forecast& after, const Fabric& fabric,
                          const Variation& variation = {}) const {
    const Seconds plain = before.run(fabric).step();
    const Seconds candidate = after.run(fabric, variation).step() * (1 + options_.extra_steps);
    return plain / candidate > 1 + options_.margin;
  }

  BandwidthIntervals bandwidth() {
    // 1 Mbit/s to 100 Tbit/s, six points a decade: algorithms that take over from each other can make several
    // intervals.
    constexpr int kPerDecade = 6;
    constexpr int kPoints = 8 * kPerDecade + 1;
    Fabric fabric = scenario_.fabric;
    Level& level = scenario_.group().nodes() > 1 ? fabric.across : fabric.inside;
    const auto inside = [&](double bandwidth) {
      level.bandwidth = BytesPerSecond::of(bandwidth);
      return pays(before_, after_, fabric);
    };
    const auto point = [](int i) { return 1e6 / 8 * std::pow(10.0, static_cast<double>(i) / kPerDecade); };
    BandwidthIntervals intervals;
    bool before = false;
    for (int i = 0; i < kPoints; ++i) {
      const bool now = inside(point(i));
      if (now && !before) {
        const double begin = i == 0 ? 0 : bisect_log(point(i - 1), point(i), inside);
        intervals.emplace_back(BytesPerSecond::of(begin),
                               BytesPerSecond::of(std::numeric_limits<double>::infinity()));
      } else if (!now && before) {
        intervals.back().second = BytesPerSecond::of(bisect_log(point(i - 1), point(i), inside));
      }
      before = now;
    }
    return intervals;
  }

  WorkerIntervals workers() {
    const WorkerCounts counts(scenario_.workers_per_node);
    // Without a network there is no second node to ask about.
    const bool network = scenario_.fabric.across.bandwidth > BytesPerSecond{};
    const std::size_t most = network ? options_.max_workers : scenario_.workers_per_node;
    WorkerIntervals intervals;
    bool before = false;
    std::size_t last = 0;
    for (const std::size_t position : counts.grid(most)) {
      const bool now = pays_with(counts.at(position));
      std::size_t flip = position;  // the first position that is as `now`
      for (std::size_t low = last; last != 0 && now != before && flip - low > 1;) {
        const std::size_t middle = (low + flip) / 2;
        (pays_with(counts.at(middle)) == before ? low : flip) = middle;
      }
      if (now && !before) {
        intervals.emplace_back(counts.at(flip), 0);
      } else if (!now && before) {
        intervals.back().second = counts.at(flip - 1);
      }
      before = now;
      last = position;
    }
    return intervals;  // one that is still open stays open: as far as was looked
  }

  std::optional<Seconds> codec_below() {
    const Seconds here = after_.codec_time();
    const auto inside = [&](double factor) {
      return pays(before_, after_, scenario_.fabric, {.codec = factor});
    };
    if (here <= Seconds{} || !inside(0)) {
      return std::nullopt;
    }
    constexpr double kSmallest = 1e-9;
    constexpr double kLargest = 1e9;
    double high = 1;
    while (inside(high) && high < kLargest) {
      high *= 2;
    }
    double low = high;
    while (!inside(low) && low > kSmallest) {
      low /= 2;
    }
    return inside(low) ? here * bisect_log(low, high, inside) : Seconds{};
  }

 private:
  [[nodiscard]] bool pays_with(std::size_t workers) {
    scenario_.workers = workers;
    Forecast before(scenario_, plain_);
    Forecast after(scenario_, candidate_, natural_);
    return pays(before, after, scenario_.fabric);
  }

  Scenario scenario_;
  const Compressor& plain_;
  const Compressor& candidate_;
  Placement natural_;
  JudgeOptions options_;
  Forecast& before_;
  Forecast& after_;
};

}  // namespace

Where where_it_pays(const Scenario& scenario, const Compressor& plain, const Compressor& candidate,
                    Placement natural, const JudgeOptions& options, Forecast& before, Forecast& after) {
  Where where;
  const bool measured = before.used_table() || after.used_table();
  Search search(scenario, plain, candidate, natural, options, before, after);
  where.codec_below = search.codec_below();
  if (scenario.workers > 1 && !measured) {
    where.bandwidth = search.bandwidth();
    where.workers = search.workers();
  }
  return where;
}

}  // namespace breakeven
