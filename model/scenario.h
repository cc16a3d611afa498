// What a user describes: one training setup.
#pragma once

#include <algorithm>
#include <optional>

#include "model/device.h"
#include "model/fabric.h"
#include "model/schedule.h"
#include "model/workload.h"

namespace breakeven {

/// How compute, codec and network get in each other's way.
struct Overlap {
  std::optional<Placement> placement;  ///< none: each scheme's own
  double gamma = 1;                    ///< backward takes gamma times as long while communication overlaps it
  double gamma_codec = 1;              ///< and while a codec on the `stream` resource does
  Seconds message = {};                ///< software's share of every exchange, on top of the network
  /// What the framework copies: every gradient into its bucket (divided by the workers on the way), and what
  /// a hook returns back out of it. Zero: nothing, or too fast to matter.
  BytesPerSecond bucket_copy = {};
  Device host;  ///< where the codec runs under `host`
};

enum class Method { timeline, closed_form };

struct Scenario {
  Workload workload;
  Device device;
  Fabric fabric;
  std::size_t workers = 1;
  std::size_t workers_per_node = 1;
  Schedule schedule;
  Overlap overlap;
  Algorithm algorithm = Algorithm::automatic;
  Method method = Method::timeline;
  bool last_bucket_inside = false;  ///< closed form only: the last bucket inside the max
  std::optional<Bytes>
      dense_bytes;  ///< closed form only: plain all-reduce exchanges this instead of the workload's bytes

  [[nodiscard]] Group group() const { return {workers, std::min(workers_per_node, workers)}; }
};

}  // namespace breakeven
