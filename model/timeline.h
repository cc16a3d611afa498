// One training step as an event loop: backward, codec, copies and network as resources that messages pass
// through. It knows no scheme: it sees times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/units.h"

namespace breakeven {

/// `network_in` is the way back from parameter servers over a full-duplex link: pushes take `network`, pulls
/// this.
enum class Resource { compute, codec, host, copy, network, network_in };
constexpr std::size_t kResources = 6;
std::string_view name(Resource resource);

enum class Activity { forward, backward, encode, exchange, decode, copy, other };
std::string_view name(Activity activity);

/// One piece of work of a message on one resource. `compute` is shared with backward, which gives way, also
/// to an exchange that it waits for.
struct Stage {
  Resource resource = Resource::network;
  Activity activity = Activity::exchange;
  Seconds time;
  std::size_t round = 0;
};

constexpr std::size_t kNever = SIZE_MAX;

/// One message: its stages run strictly one after the other, once `ready` of backward's work is done.
struct Chain {
  Seconds ready;  ///< in backward work, not slowed
  std::vector<Stage> stages;
  std::size_t rank = 0;  ///< where the network goes by priority: lower ones first
  Bytes size = {};       ///< counts against the credit
  std::size_t part = 0;  ///< the first part of the next forward pass that waits for it
  /// From this stage on it belongs to the forward pass: begun when the part of the late messages before
  /// begins; of the first ones, when backward and every message's earlier stages are over.
  std::size_t late = kNever;
  Seconds delay = {};  ///< from `ready` on, before its first stage: a coordinator's round
};

/// In which order the network serves what is ready, and how much of it is out of its hands.
struct Order {
  bool priority = false;  ///< by rank, else first come, first served
  Bytes credit;           ///< pieces are handed down to a queue of the network's own while less than this is
                          ///< out there; at least one is
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
  Seconds slowdown;                       ///< backward's and the next forward's, by what overlaps them
  Seconds exposed_codec;                  ///< compute waits or is over, and a codec or a copy runs
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

struct Step {
  std::span<const Chain> chains;
  Seconds backward;  ///< of work
  Slowdown slowdown;
  Order order;
  /// The next forward pass, part by part: each waits for the messages that it needs. Empty: it begins when
  /// all messages are there, and is not run here.
  std::span<const Seconds> forward;
};

/// Runs backward, the chains, and the next forward pass where it is given. Each resource serves its queue
/// first come, first served (the network by `order`), in the order of `chains` among equals.
/// Breakdown::forward and other are left zero: what forward loses to waiting and to slowdown is booked there.
/// `spans` may be null.
Breakdown run_timeline(const Step& step, std::vector<Span>* spans = nullptr);
/// Without priorities and a next forward pass.
Breakdown run_timeline(std::span<const Chain> chains, Seconds backward, Slowdown slowdown,
                       std::vector<Span>* spans = nullptr);

}  // namespace breakeven
