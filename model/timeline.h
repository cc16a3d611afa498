// One training step as an event loop: backward, codec, copies and network as resources that messages pass
// through. It knows no scheme: it sees times.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/units.h"

namespace breakeven {

enum class Resource { compute, codec, host, copy, network };
constexpr std::size_t kResources = 5;
std::string_view name(Resource resource);

enum class Activity { forward, backward, encode, exchange, decode, copy, other };
std::string_view name(Activity activity);

/// One piece of work of a message on one resource. `compute` is shared with backward, which gives way.
struct Stage {
  Resource resource = Resource::network;
  Activity activity = Activity::exchange;
  Seconds time;
  std::size_t round = 0;
};

/// One message: its stages run strictly one after the other, once `ready` of backward's work is done.
struct Chain {
  Seconds ready;  ///< in backward work, not slowed
  std::vector<Stage> stages;
};

/// For traces. Spans of one resource never overlap.
struct Span {
  Resource resource = Resource::compute;
  Activity activity = Activity::backward;
  std::size_t message = 0, round = 0;
  Seconds begin, end;  ///< from the start of backward
};

/// Where the step's time goes. Everything up to `exposed_communication` adds up to step().
struct Breakdown {
  Seconds forward, backward, other;
  Seconds slowdown;                       ///< backward's, by what overlaps it
  Seconds exposed_codec;                  ///< backward stands still or is over, and a codec or a copy runs
  Seconds exposed_communication;          ///< nothing but the network is busy
  Seconds encode, decode, communication;  ///< busy time, hidden or not

  [[nodiscard]] Seconds backward_and_sync() const {
    return backward + slowdown + exposed_codec + exposed_communication;
  }
  [[nodiscard]] Seconds step() const { return forward + other + backward_and_sync(); }
};

struct Slowdown {
  double network = 1;  ///< backward while the network is busy
  double codec = 1;    ///< backward while the codec resource is busy
};

/// Runs backward (`backward` of work) and the chains; each resource serves its queue first come, first
/// served, in the order of `chains` among equals. forward and other are left zero. `spans` may be null.
Breakdown run_timeline(std::span<const Chain> chains, Seconds backward, Slowdown slowdown,
                       std::vector<Span>* spans = nullptr);

}  // namespace breakeven
