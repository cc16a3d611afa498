// Workload -> messages: what is grouped, when it is ready, and how it is sent.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/spec.h"
#include "model/workload.h"

namespace breakeven {

/// Tensors that are exchanged together.
struct Message {
  std::vector<Shape> tensors;
  Seconds ready;           ///< backward work done (not slowed) when the last of its gradients exists
  std::size_t module = 0;  ///< the first in forward order that one of its tensors belongs to
  Seconds delay;           ///< from ready until it may be sent
};

/// What schedules that weigh one message against two may ask, for the scheme and the fabric at hand: the time
/// of a message of that many gradient bytes.
struct MessageCosts {
  std::function<Seconds(Bytes)> exchange;  ///< all its rounds on the network
  std::function<Seconds(Bytes)> encode;
  double gamma = 1;  ///< backward takes gamma times as long while the network is busy
};

/// How messages are sent. The default: first come, first served, and the next forward pass waits for all.
struct Sending {
  bool priority = false;  ///< tensors of the first modules first
  Bytes credit;           ///< with priority: bytes that may be out of its hands; at least one message is
  bool overlaps_forward = false;  ///< each module's forward waits for its own tensors only
  bool splits = false;  ///< an all-reduce is a reduce-scatter beside backward, an all-gather beside forward
  bool duplex = false;  ///< parameter servers: pushes and pulls of different messages pass each other
};

/// Messages in the order in which they are sent.
struct Schedule {
  std::string spec;  ///< canonical: "ddp:cap=25MiB"
  std::function<std::vector<Message>(const Workload&, const MessageCosts&)> messages;
  bool weighs_costs = false;  ///< messages depend on MessageCosts; others may be given none
  Sending sending;
};

struct ScheduleKind {
  std::string name, summary;
  std::vector<Param> params;
  std::string source;
  std::function<std::vector<Message>(const Workload&, const Params&, const MessageCosts&)> messages;
  bool weighs_costs = false;
  std::function<Sending(const Params&, Element)> sending;  ///< none: the default
};
const std::vector<ScheduleKind>& schedule_kinds();
/// "ddp:first=1MiB,cap=25MiB". `gradient`: what an element takes, for limits in elements. Throws Error with
/// the nearest name.
Schedule make_schedule(std::string_view spec, Element gradient = Element::f32);

/// The best buckets of whole tensors for one channel, first come, first served: nothing that merges
/// neighbours ends sooner, whatever a message costs by its size.
std::vector<Message> best_buckets(const Workload& workload, const MessageCosts& costs);
/// The same as ranges [begin, end) of gradients, last tensor first, where the bucket of such a range takes
/// `cost` on the network and backward `gamma` times as long meanwhile.
using GradientRange = std::pair<std::size_t, std::size_t>;
std::vector<GradientRange> best_ranges(const Workload& workload,
                                       const std::function<Seconds(std::size_t begin, std::size_t end)>& cost,
                                       double gamma);
/// The messages that these ranges are.
std::vector<Message> buckets_of(const Workload& workload, const std::vector<GradientRange>& ranges);

/// Everything in one message, ready when backward has ended.
Message whole_gradient(const Workload& workload);

/// Backward work done when each module has finished, last module first in time: one entry a module, in
/// forward order.
std::vector<Seconds> module_ready(const Workload& workload);

}  // namespace breakeven
