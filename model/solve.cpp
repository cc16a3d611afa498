#include "model/solve.h"

#include <algorithm>
#include <cmath>

namespace breakeven {
namespace {

double scaling(const Breakdown& parts) {
  return (parts.forward + parts.backward + parts.other) / parts.step();
}

/// Both forecasts, prepared once. A scaling needs the candidate's alone.
class Forecasts {
 public:
  Forecasts(const Scenario& scenario, const Subject& subject, Goal::Of of)
      : of_(of),
        extra_steps_(subject.extra_steps),
        plain_(scenario, *subject.plain),
        candidate_(scenario, *subject.candidate, subject.natural) {}

  double value(const Fabric& fabric, const Variation& variation = {}) {
    const Breakdown here = candidate_.run(fabric, variation);
    return of_ == Goal::Of::scaling ? scaling(here)
                                    : plain_.run(fabric).step() / (here.step() * (1 + extra_steps_));
  }
  [[nodiscard]] Seconds codec_time() const { return candidate_.codec_time(); }
  [[nodiscard]] bool used_table() const { return plain_.used_table() || candidate_.used_table(); }

 private:
  Goal::Of of_;
  double extra_steps_;
  Forecast plain_, candidate_;
};

/// Between `a` and `b`, of which one reaches the goal and the other does not: the last that does.
double edge(double a, double b, const std::function<bool(double)>& reached) {
  constexpr double kClose = 1e-13;
  const bool left = reached(a);
  while (b / a - 1 > kClose) {
    const double middle = std::sqrt(a * b);
    if (middle <= a || middle >= b) {
      break;
    }
    (reached(middle) == left ? a : b) = middle;
  }
  return left ? a : b;
}

/// Adds point after point to the ranges. `edge_of(last, here)` is the end that lies between the two.
class Ranges {
 public:
  template <class Edge>
  void add(double last, double here, bool now, const Edge& edge_of) {
    if (now && !before_) {
      ranges_.push_back(first_ ? Interval{here, here, false, false}
                               : Interval{edge_of(last, here), here, true, false});
    } else if (!now && before_) {
      ranges_.back().high = edge_of(last, here);
      ranges_.back().ends = true;
    } else if (now) {
      ranges_.back().high = here;
    }
    before_ = now;
    first_ = false;
  }
  [[nodiscard]] std::vector<Interval> take() { return std::move(ranges_); }

 private:
  std::vector<Interval> ranges_;
  bool before_ = false, first_ = true;
};

/// 2 ... a full node, then whole nodes.
std::vector<std::size_t> worker_counts(std::size_t node, std::size_t most) {
  std::vector<std::size_t> counts;
  for (std::size_t n = 2; n < node && n <= most; ++n) {
    counts.push_back(n);
  }
  for (std::size_t n = node; n <= most; n += node) {
    if (n > 1) {
      counts.push_back(n);
    }
  }
  return counts;
}

}  // namespace

double measure(const Scenario& scenario, const Subject& subject, Goal::Of of) {
  return Forecasts(scenario, subject, of).value(scenario.fabric);
}

Level& limiting_level(Fabric& fabric, const Group& group) {
  return group.nodes() > 1 ? fabric.across : fabric.inside;
}

bool prices_by_table(const Scenario& scenario, const Subject& subject) {
  Forecasts forecasts(scenario, subject, Goal::Of::gain);
  (void)forecasts.value(scenario.fabric);
  return forecasts.used_table();
}

std::vector<double> log_grid(double low, double high, int points_per_decade) {
  const int steps =
      std::max(1, static_cast<int>(std::ceil(std::log10(high / low) * points_per_decade - 1e-9)));
  std::vector<double> grid;
  grid.reserve(static_cast<std::size_t>(steps) + 1);
  for (int i = 0; i < steps; ++i) {
    grid.push_back(low * std::pow(high / low, static_cast<double>(i) / steps));
  }
  grid.push_back(high);
  return grid;
}

Solution solve_over(std::span<const double> grid, const Goal& goal,
                    const std::function<double(double)>& value) {
  Solution solution;
  Ranges ranges;
  double last = 0;
  const auto reached = [&](double x) { return goal.reached(value(x)); };
  for (const double x : grid) {
    const double seen = value(x);
    solution.best = std::max(solution.best, seen);
    ranges.add(last, x, goal.reached(seen), [&](double a, double b) { return edge(a, b, reached); });
    last = x;
  }
  solution.ranges = ranges.take();
  return solution;
}

Solution solve_over_counts(std::span<const std::size_t> counts, const Goal& goal,
                           const std::function<double(std::size_t)>& value) {
  Solution solution;
  Ranges ranges;
  std::size_t last = 0;
  // Each position looked at is about half as far again from the first as the one before.
  for (std::size_t i = 0; i < counts.size();) {
    const double seen = value(counts[i]);
    const bool now = goal.reached(seen);
    solution.best = std::max(solution.best, seen);
    ranges.add(0, static_cast<double>(counts[i]), now, [&](double, double) {
      std::size_t low = last;
      std::size_t high = i;
      while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        (goal.reached(value(counts[middle])) == now ? high : low) = middle;
      }
      return static_cast<double>(counts[now ? high : low]);
    });
    last = i;
    const std::size_t next = std::max(i + 1, i + i / 2);
    i = i + 1 < counts.size() ? std::min(next, counts.size() - 1) : counts.size();
  }
  solution.ranges = ranges.take();
  return solution;
}

Solution solve_bandwidth(const Scenario& scenario, const Subject& subject, const Goal& goal) {
  constexpr int kPerDecade = 6;  // algorithms that take over from each other can make several ranges
  Forecasts forecasts(scenario, subject, goal.of);
  Fabric fabric = scenario.fabric;
  Level& level = limiting_level(fabric, scenario.group());
  return solve_over(log_grid(1e6 / 8, 1e14 / 8, kPerDecade), goal, [&](double bandwidth) {
    level.bandwidth = BytesPerSecond::of(bandwidth);
    return forecasts.value(fabric);
  });
}

Solution solve_workers(const Scenario& scenario, const Subject& subject, const Goal& goal, std::size_t most) {
  // Without a network there is no second node to ask about.
  const bool network = scenario.fabric.across.bandwidth > BytesPerSecond{};
  const std::size_t limit = network ? most : std::min(most, scenario.workers_per_node);
  return solve_over_counts(worker_counts(scenario.workers_per_node, limit), goal, [&](std::size_t workers) {
    Scenario varied = scenario;
    varied.workers = workers;
    return measure(varied, subject, goal.of);
  });
}

Solution solve_codec_time(const Scenario& scenario, const Subject& subject, const Goal& goal) {
  constexpr int kPerDecade = 4;
  constexpr double kFar = 1e6;
  Forecasts forecasts(scenario, subject, goal.of);
  const Seconds here = forecasts.codec_time();
  Solution solution;
  if (here <= Seconds{}) {
    return solution;
  }
  const auto value = [&](double factor) { return forecasts.value(scenario.fabric, {.codec = factor}); };
  solution = solve_over(log_grid(1 / kFar, kFar, kPerDecade), goal, value);
  solution.best = std::max(solution.best, value(0));
  for (Interval& range : solution.ranges) {
    range.low *= here.base();
    range.high *= here.base();
  }
  return solution;
}

}  // namespace breakeven
