// Which buckets a gradient is best divided into, and how near the settings of common frameworks come.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/predict.h"

namespace breakeven {

/// One way to divide the gradient, on the scenario's timeline.
struct Division {
  std::string schedule;  ///< its spec
  Breakdown parts;
  std::size_t buckets = 0;
};

/// The best that a framework's own settings reach. Of values that are as good the one nearest to the default.
struct Setting {
  Division division;
  double size = 0;  ///< in the framework's unit
  Seconds cycle;    ///< Horovod's
};

struct BucketPlan {
  Prediction best;                 ///< nothing compared below, and no other division, ends sooner
  std::vector<Division> compared;  ///< schedules with their defaults, "ddp" first
  Setting ddp;                     ///< `size`: bucket_cap_mb, in MiB; 0: left alone, as "ddp"
  Division ddp_small_first;        ///< the same cap where the first bucket stays at its default
  Setting horovod;                 ///< `size`: bytes
  Setting deepspeed;               ///< `size`: elements, as reduce_bucket_size; priced as all-reduces
};

/// The scenario's schedule does not count; its method must be the timeline. `plain`: scheme none.
BucketPlan plan_buckets(const Scenario& scenario, const Compressor& plain);

/// The best buckets of whole tensors for one channel, first come, first served, where backward takes `gamma`
/// times as long while the network is busy. Among those that end, with backward, by `bound`; none: there are
/// none.
std::vector<Message> best_buckets(const Workload& workload, const MessageCosts& costs, double gamma,
                                  Seconds bound);
/// The same as ranges [begin, end) of gradients in their order, where a bucket of such a range takes `cost`
/// on the network.
using GradientRange = std::pair<std::size_t, std::size_t>;
std::vector<GradientRange> best_ranges(const Workload& workload,
                                       const std::function<Seconds(std::size_t begin, std::size_t end)>& cost,
                                       double gamma, Seconds bound);
/// The messages that these ranges are.
std::vector<Message> buckets_of(const Workload& workload, const std::vector<GradientRange>& ranges);

}  // namespace breakeven
