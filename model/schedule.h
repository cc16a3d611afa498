// Workload -> messages: what is grouped, and when it is ready.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/spec.h"
#include "model/workload.h"

namespace breakeven {

/// Tensors that are exchanged together.
struct Message {
  std::vector<Shape> tensors;
  Seconds ready;  ///< backward work done (not slowed) when the last of its gradients exists
};

/// Messages in the order in which they are sent.
struct Schedule {
  std::string spec;  ///< canonical: "ddp:cap=25MiB"
  std::function<std::vector<Message>(const Workload&)> messages;
};

struct ScheduleKind {
  std::string name, summary;
  std::vector<Param> params;
  std::string source;
  std::function<std::vector<Message>(const Workload&, const Params&)> messages;
};
/// ddp, equal, bsp, wfbp.
const std::vector<ScheduleKind>& schedule_kinds();
/// "ddp:first=1MiB,cap=25MiB". Throws Error with the nearest name.
Schedule make_schedule(std::string_view spec);

/// Everything in one message, ready when backward has ended.
Message whole_gradient(const Workload& workload);

/// Backward work done when each module has finished, last module first in time: one entry a module, in
/// forward order.
std::vector<Seconds> module_ready(const Workload& workload);

}  // namespace breakeven
