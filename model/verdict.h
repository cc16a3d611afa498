// Two predictions -> pays / does not pay / too close, and where that flips.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/predict.h"

namespace breakeven {

enum class Call { pays, does_not_pay, too_close };
std::string_view name(Call call);

struct JudgeOptions {
  double margin = 0.02;            ///< a gain within it is too close to call
  double extra_steps = 0;          ///< training with the scheme needs this share of steps more
  double compute_uncertainty = 0;  ///< relative, of forward and backward times
  double codec_uncertainty = -1;   ///< relative; negative: by the codec's origin
  bool where = true;               ///< look for the break-even values too
  std::size_t max_workers = 4096;
};

/// Closed intervals; 0 below or infinity above for a bandwidth, and 0 above for workers, mean "as far as was
/// looked".
using BandwidthIntervals = std::vector<std::pair<BytesPerSecond, BytesPerSecond>>;
using WorkerIntervals = std::vector<std::pair<std::size_t, std::size_t>>;

/// Where the speed-up exceeds 1 + margin, everything else as given. Empty: nowhere; none: not looked for (one
/// worker, or a measured table that prices this exchange at this bandwidth and this number of workers alone).
struct Where {
  std::optional<BandwidthIntervals> bandwidth;
  std::optional<WorkerIntervals> workers;
  std::optional<Seconds> codec_below;  ///< encode + decode under which it would pay; none: not even free
};

struct Verdict {
  Call call = Call::too_close;
  double speedup = 1;                         ///< plain step / candidate step, extra steps included
  double speedup_low = 1, speedup_high = 1;   ///< within the inputs' uncertainty
  double codec_swing = 0, compute_swing = 0;  ///< how far each uncertainty alone moves the speed-up
  Seconds plain, candidate;
  Where where;                   ///< where it flips
  double extra_steps_below = 0;  ///< plain step / candidate step - 1, at least 0
};

/// Plain all-reduce over one fabric, and its step at both ends of the compute times' uncertainty.
struct Baseline {
  Breakdown parts;
  Seconds fast, slow;
  double bound = 1;  ///< the most that a free exchange could gain, at whichever compute time it gains most
};
Baseline baseline(Forecast& plain, const Fabric& fabric, double gamma, const JudgeOptions& options);

/// plain step / candidate step over the same fabric, and its range within the inputs' uncertainty.
struct Gain {
  double speedup = 1, low = 1, high = 1;
  Seconds candidate;
  Call call = Call::too_close;
};
Gain gain(const Baseline& plain, Forecast& candidate, const Fabric& fabric, double gamma,
          const JudgeOptions& options);

/// `plain` and `candidate` are priced on the scenario's fabric.
Verdict judge(const Scenario& scenario, const Compressor& plain, const Compressor& candidate,
              Placement natural = Placement::serial, const JudgeOptions& options = {});

/// The call alone, from the speed-up and its range. `bound`: the most that any scheme could gain.
Call decide(double speedup_low, double speedup_high, double bound, double margin);

/// With an infinitely fast network the step takes this long: no scheme can gain more than plain / this.
Seconds step_without_network(const Scenario& scenario);

}  // namespace breakeven
