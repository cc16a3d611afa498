// Steps in which each bucket has its own scheme: what plan_schemes() searches with.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "model/schedules/bucket.h"
#include "model/scheme_plan.h"

namespace breakeven {

using Ranges = std::vector<GradientRange>;
constexpr double kForever = std::numeric_limits<double>::infinity();

/// Buckets, and the choice of each.
struct Mix {
  Ranges ranges;
  std::vector<std::size_t> choices;
  double step = kForever;  ///< without forward and the rest, which no mix changes
};
/// By more than rounding.
bool sooner(const Mix& a, const Mix& b);

/// What a bucket takes on the network, and whether that is all it takes, in one go.
struct Cost {
  Seconds network, all;
  bool one_exchange = true;
};
Cost cost_of(const Chain& chain);

/// Runs mixes, from chains that are made once a bucket and choice.
class Mixer {
 public:
  Mixer(const Scenario& scenario, std::span<const Choice> choices);
  Mixer(const Mixer&) = delete;
  Mixer& operator=(const Mixer&) = delete;
  ~Mixer() = default;

  [[nodiscard]] const Workload& workload() const { return scenario_.workload; }
  [[nodiscard]] double gamma() const { return slowdown_.network; }
  [[nodiscard]] std::size_t choices() const { return choices_.size(); }
  [[nodiscard]] std::size_t runs() const { return runs_; }

  const Chain& chain(const GradientRange& range, std::size_t choice);
  /// Fills in its step.
  void run(Mix& mix);
  /// The same with all there is to know.
  MixedStep step(const Mix& mix);

 private:
  Chain make(const GradientRange& range, std::size_t choice);
  Breakdown parts(const Mix& mix, std::vector<Span>* spans);

  Scenario scenario_;
  std::span<const Choice> choices_;
  Seconds backward_;
  Slowdown slowdown_;
  std::vector<Gradient> gradients_;
  std::vector<Message> messages_;  // what the scenario's schedule says
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>, Chain> chains_;
  std::vector<Chain> running_;
  std::size_t runs_ = 0;
};

}  // namespace breakeven
