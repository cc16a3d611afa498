// The inverse questions: for which values of one input does a setup reach what is wanted? Looked for on the
// predictions themselves, by sign changes on a grid, never assuming that more is better.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/predict.h"

namespace breakeven {

/// A closed range of an input. Without an end of its own it goes on as far as was looked.
struct Interval {
  double low = 0, high = 0;
  bool begins = false, ends = false;
};
struct Solution {
  std::vector<Interval> ranges;  ///< where the goal is reached; empty: nowhere
  double best = 0;               ///< the most that was seen of what the goal measures
};

struct Goal {
  enum class Of {
    scaling,  ///< the step of one worker alone / the step among all is `least` or more
    gain,     ///< plain step / the candidate's step, extra steps included, is more than `least`
  };
  Of of = Of::scaling;
  double least = 0;

  [[nodiscard]] bool reached(double value) const { return of == Of::gain ? value > least : value >= least; }
};

/// What is asked about. Both compressors must outlive it.
struct Subject {
  const Compressor* plain = nullptr;
  const Compressor* candidate = nullptr;
  Placement natural = Placement::serial;
  double extra_steps = 0;
};

/// What the goal measures, of the scenario as it is.
double measure(const Scenario& scenario, const Subject& subject, Goal::Of of);

/// Of one node across the network, or of one worker inside a single node: 1 Mbit/s to 100 Tbit/s.
Solution solve_bandwidth(const Scenario& scenario, const Subject& subject, const Goal& goal);
/// Whole nodes only, or a part of the first; from two workers to `most`.
Solution solve_workers(const Scenario& scenario, const Subject& subject, const Goal& goal, std::size_t most);
/// Encode and decode together, from a millionth to a million times what they take. Nothing begins there where
/// it would also do for free.
Solution solve_codec_time(const Scenario& scenario, const Subject& subject, const Goal& goal);

/// Any other input: `value` is what the goal measures at a point of the grid or between two.
Solution solve_over(std::span<const double> grid, const Goal& goal,
                    const std::function<double(double)>& value);
/// The same where only these counts make sense; of many counts most are not looked at.
Solution solve_over_counts(std::span<const std::size_t> counts, const Goal& goal,
                           const std::function<double(std::size_t)>& value);
/// Both ends included.
std::vector<double> log_grid(double low, double high, int points_per_decade);

/// The link that limits the exchange: across nodes, or inside the only one.
Level& limiting_level(Fabric& fabric, const Group& group);
/// Whether a measured table prices an exchange: then bandwidth and workers cannot be varied.
bool prices_by_table(const Scenario& scenario, const Subject& subject);

}  // namespace breakeven
