#include "model/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace breakeven {
namespace {

/// Halves [a, b] in log space until both ends agree to 1e-12; `inside(a)` differs from `inside(b)`.
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

Level& network_of(Fabric& fabric, const Group& group) {
  return group.nodes() > 1 ? fabric.across : fabric.inside;
}

/// Everything about one plain-against-candidate question that stays while numbers vary.
class Judge {
 public:
  Judge(const Scenario& scenario, const Compressor& plain, const Compressor& candidate, Placement natural,
        const JudgeOptions& options)
      : scenario_(scenario),
        plain_compressor_(plain),
        candidate_compressor_(candidate),
        natural_(natural),
        options_(options),
        plain_(scenario, plain),
        candidate_(scenario, candidate, natural) {}

  Verdict verdict() {
    const double gamma = scenario_.overlap.gamma;
    const Baseline base = baseline(plain_, scenario_.fabric, gamma, options_);
    const Gain here = gain(base, candidate_, scenario_.fabric, gamma, options_);
    Verdict verdict;
    verdict.speedup = here.speedup;
    verdict.speedup_low = here.low;
    verdict.speedup_high = here.high;
    verdict.plain = base.parts.step();
    verdict.candidate = here.candidate;
    verdict.call = here.call;
    verdict.extra_steps_below = std::max(0.0, verdict.plain / verdict.candidate - 1);
    if (options_.where) {
      verdict.codec_below = codec_below();
      if (scenario_.fabric.tables.empty() && scenario_.workers > 1) {
        verdict.bandwidth = bandwidth();
        verdict.workers = workers();
      }
    }
    return verdict;
  }

 private:
  [[nodiscard]] bool pays(Forecast& plain, Forecast& candidate, const Fabric& fabric,
                          const Variation& variation = {}) const {
    const Seconds before = plain.run(fabric).step();
    const Seconds after = candidate.run(fabric, variation).step() * (1 + options_.extra_steps);
    return before / after > 1 + options_.margin;
  }

  BandwidthIntervals bandwidth() {
    // 1 Mbit/s to 100 Tbit/s, six points a decade: algorithms that take over from each other can make several
    // intervals.
    constexpr int kPerDecade = 6;
    constexpr int kPoints = 8 * kPerDecade + 1;
    Fabric fabric = scenario_.fabric;
    Level& level = network_of(fabric, scenario_.group());
    const auto inside = [&](double bandwidth) {
      level.bandwidth = BytesPerSecond::of(bandwidth);
      return pays(plain_, candidate_, fabric);
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

  [[nodiscard]] bool pays_with(std::size_t workers) {
    scenario_.workers = workers;
    Forecast plain(scenario_, plain_compressor_);
    Forecast candidate(scenario_, candidate_compressor_, natural_);
    return pays(plain, candidate, scenario_.fabric);
  }

  /// Whole nodes only: part of one node, then multiples of the node. Steps grow by about half.
  [[nodiscard]] std::vector<std::size_t> worker_counts() const {
    const std::size_t node = std::min(scenario_.workers_per_node, scenario_.workers);
    // Without a network there is no second node to ask about.
    const std::size_t most =
        scenario_.fabric.across.bandwidth > BytesPerSecond{} ? options_.max_workers : node;
    std::vector<std::size_t> counts;
    for (std::size_t unit = 1, next = 0; unit <= most; unit = next) {
      if (unit > 1 && (unit < node || unit % node == 0)) {
        counts.push_back(unit);
      }
      const std::size_t step = unit < node ? 1 : node;
      next = std::max(unit + step, (unit + unit / 2) / step * step);
    }
    return counts;
  }

  WorkerIntervals workers() {
    const std::size_t asked = scenario_.workers;
    const std::size_t node = std::min(scenario_.workers_per_node, asked);
    scenario_.workers_per_node = node;
    WorkerIntervals intervals;
    bool before = false;
    std::size_t last = 0;
    for (const std::size_t count : worker_counts()) {
      const bool now = pays_with(count);
      if (now != before && last != 0) {
        // The flip lies between two counts that were looked at: whole nodes in between.
        const std::size_t step = last < node ? 1 : node;
        std::size_t low = last / step;
        std::size_t high = count / step;
        while (high - low > 1) {
          const std::size_t middle = (low + high) / 2;
          (pays_with(middle * step) == before ? low : high) = middle;
        }
        if (now) {
          intervals.emplace_back(high * step, 0);
        } else {
          intervals.back().second = low * step;
        }
      } else if (now && last == 0) {
        intervals.emplace_back(count, 0);
      }
      before = now;
      last = count;
    }
    if (before) {
      intervals.back().second = 0;  // as far as was looked
    }
    scenario_.workers = asked;
    return intervals;
  }

  std::optional<Seconds> codec_below() {
    const Seconds here = candidate_.codec_time();
    const auto inside = [&](double factor) {
      return pays(plain_, candidate_, scenario_.fabric, {.codec = factor});
    };
    if (here <= Seconds{} || !inside(0)) {
      return std::nullopt;
    }
    constexpr double kSmallest = 1e-9;
    double high = 1;
    while (inside(high) && high < 1e9) {
      high *= 2;
    }
    double low = high;
    while (!inside(low) && low > kSmallest) {
      low /= 2;
    }
    return inside(low) ? here * bisect_log(low, high, inside) : Seconds{};
  }

  Scenario scenario_;
  const Compressor& plain_compressor_;
  const Compressor& candidate_compressor_;
  Placement natural_;
  JudgeOptions options_;
  Forecast plain_, candidate_;
};

}  // namespace

std::string_view name(Call call) {
  constexpr std::array<std::string_view, 3> names = {"pays", "does_not_pay", "too_close"};
  return names[static_cast<std::size_t>(call)];
}

Baseline baseline(Forecast& plain, const Fabric& fabric, double gamma, const JudgeOptions& options) {
  Baseline result;
  result.parts = plain.run(fabric, {}, gamma);
  result.fast = result.slow = result.parts.step();
  if (options.compute_uncertainty != 0) {
    result.fast = plain.rerun({.compute = 1 - options.compute_uncertainty}, gamma).step();
    result.slow = plain.rerun({.compute = 1 + options.compute_uncertainty}, gamma).step();
  }
  return result;
}

Gain gain(const Baseline& plain, Forecast& candidate, const Fabric& fabric, double gamma,
          const JudgeOptions& options) {
  Gain result;
  const double steps = 1 + options.extra_steps;
  result.candidate = candidate.run(fabric, {}, gamma).step();
  result.speedup = plain.parts.step() / (result.candidate * steps);
  result.low = result.high = result.speedup;
  const double codec = !candidate.has_codec()          ? 0
                       : options.codec_uncertainty < 0 ? uncertainty(candidate.codec())
                                                       : options.codec_uncertainty;
  const double compute = options.compute_uncertainty;
  if (codec != 0 || compute != 0) {
    const auto corner = [&](Seconds before, double c, double k) {
      const Seconds after = candidate.rerun({.codec = k, .compute = c}, gamma).step() * steps;
      result.low = std::min(result.low, before / after);
      result.high = std::max(result.high, before / after);
    };
    for (const double k : {1 - codec, 1 + codec}) {
      corner(plain.fast, 1 - compute, k);
      if (compute != 0) {
        corner(plain.slow, 1 + compute, k);
      }
    }
  }
  // With an infinitely fast network only these would be left.
  const Seconds bound = plain.parts.forward + plain.parts.backward + plain.parts.other;
  result.call = decide(result.low, result.high, plain.parts.step() / bound, options.margin);
  return result;
}

Call decide(double speedup_low, double speedup_high, double bound, double margin) {
  if (speedup_low > 1 + margin) {
    return Call::pays;
  }
  // Where not even a free exchange gains more than the margin, no measurement can turn the answer.
  if (speedup_high < 1 - margin || bound <= 1 + margin) {
    return Call::does_not_pay;
  }
  return Call::too_close;
}

Seconds step_without_network(const Scenario& scenario) {
  return scenario.workload.forward() + scenario.workload.backward() + scenario.workload.other;
}

Verdict judge(const Scenario& scenario, const Compressor& plain, const Compressor& candidate,
              Placement natural, const JudgeOptions& options) {
  return Judge(scenario, plain, candidate, natural, options).verdict();
}

}  // namespace breakeven
