// Which buckets a gradient is best divided into, and how near the settings of common frameworks come.
#pragma once

#include <string>
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
  Prediction best;                 ///< "optimal": nothing compared below ends sooner
  std::vector<Division> compared;  ///< schedules with their defaults, "ddp" first
  Setting ddp;                     ///< `size`: bucket_cap_mb, in MiB; 0: left alone, as "ddp"
  Division ddp_small_first;        ///< the same cap where the first bucket stays at its default
  Setting horovod;                 ///< `size`: bytes
  Setting deepspeed;               ///< `size`: elements, as reduce_bucket_size; priced as all-reduces
};

/// The scenario's schedule does not count; its method must be the timeline. `plain`: scheme none.
BucketPlan plan_buckets(const Scenario& scenario, const Compressor& plain);

}  // namespace breakeven
