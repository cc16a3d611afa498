#include "model/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/where.h"

namespace breakeven {

std::string_view name(Call call) {
  constexpr std::array<std::string_view, 3> names = {"pays", "does_not_pay", "too_close"};
  return names[static_cast<std::size_t>(call)];
}

namespace {

/// With an infinitely fast network only forward, backward and the rest would be left.
double bound_of(const Breakdown& parts) {
  const Seconds left = parts.forward + parts.backward + parts.other;
  return left > Seconds{} ? parts.step() / left : 1;
}

double codec_range(const Forecast& candidate, const JudgeOptions& options) {
  if (!candidate.has_codec()) {
    return 0;
  }
  return options.codec_uncertainty < 0 ? uncertainty(candidate.codec()) : options.codec_uncertainty;
}

}  // namespace

Baseline baseline(Forecast& plain, const Fabric& fabric, double gamma, const JudgeOptions& options) {
  Baseline result;
  result.parts = plain.run(fabric, {}, gamma);
  result.fast = result.slow = result.parts.step();
  result.bound = bound_of(result.parts);
  if (options.compute_uncertainty != 0) {
    const Breakdown fast = plain.rerun({.compute = 1 - options.compute_uncertainty}, gamma);
    const Breakdown slow = plain.rerun({.compute = 1 + options.compute_uncertainty}, gamma);
    result.fast = fast.step();
    result.slow = slow.step();
    result.bound = std::max({result.bound, bound_of(fast), bound_of(slow)});
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
  const double codec = codec_range(candidate, options);
  const double compute = options.compute_uncertainty;
  if (codec != 0 || compute != 0) {
    const auto corner = [&](Seconds before, double c, double k) {
      const Seconds after = candidate.rerun({.codec = k, .compute = c}, gamma).step() * steps;
      result.low = std::min(result.low, before / after);
      result.high = std::max(result.high, before / after);
    };
    for (const double k : {1 - codec, 1 + codec}) {
      corner(plain.parts.step(), 1, k);
      if (compute != 0) {
        corner(plain.fast, 1 - compute, k);
        corner(plain.slow, 1 + compute, k);
      }
    }
  }
  result.call = decide(result.low, result.high, plain.bound, options.margin);
  return result;
}

Call decide(double speedup_low, double speedup_high, double bound, double margin) {
  if (speedup_low > 1 + margin) {
    return Call::pays;
  }
  // Where nothing changes, or not even a free exchange gains more than the margin, no measurement can turn
  // the answer.
  if ((speedup_low == 1 && speedup_high == 1) || bound <= 1 + margin || speedup_high < 1 - margin) {
    return Call::does_not_pay;
  }
  // Within the margin on both sides it is a tie; below 1 whatever the inputs are, it is not.
  const bool tie = speedup_low >= 1 - margin && speedup_high <= 1 + margin;
  return speedup_high < 1 && !tie ? Call::does_not_pay : Call::too_close;
}

Seconds step_without_network(const Scenario& scenario) {
  return scenario.workload.forward() + scenario.workload.backward() + scenario.workload.other;
}

Verdict judge(const Scenario& scenario, const Compressor& plain, const Compressor& candidate,
              Placement natural, const JudgeOptions& options) {
  Forecast before(scenario, plain);
  Forecast after(scenario, candidate, natural);
  const double gamma = scenario.overlap.gamma;
  const Baseline base = baseline(before, scenario.fabric, gamma, options);
  const Gain here = gain(base, after, scenario.fabric, gamma, options);
  Verdict verdict;
  verdict.call = here.call;
  verdict.speedup = here.speedup;
  verdict.speedup_low = here.low;
  verdict.speedup_high = here.high;
  verdict.plain = base.parts.step();
  verdict.candidate = here.candidate;
  verdict.extra_steps_below = std::max(0.0, verdict.plain / verdict.candidate - 1);
  const auto step = [&](double codec, double compute) {
    return after.rerun({.codec = codec, .compute = compute}, gamma).step();
  };
  const double k = codec_range(after, options);
  const double c = options.compute_uncertainty;
  verdict.codec_swing = std::abs(verdict.plain / step(1 - k, 1) - verdict.plain / step(1 + k, 1));
  verdict.compute_swing = std::abs(base.fast / step(1, 1 - c) - base.slow / step(1, 1 + c));
  if (options.where) {
    verdict.where = where_it_pays(scenario, plain, candidate, natural, options, before, after);
  }
  return verdict;
}

}  // namespace breakeven
