// Buffers that are sent by the clock.
#include <cmath>

#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

/// The what-if simulator of arXiv 2006.10103 (its authors' code): both tests come after the tensor is added,
/// so that a buffer may exceed the limit and a tensor is never split; the time counts from the last flush.
std::vector<Message> fusion(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  std::vector<Message> messages;
  Bucket bucket;
  const Bytes limit = Bytes::of(params.number("bytes"));
  const Seconds timeout = Seconds::of(params.number("timeout"));
  Seconds last, waited;
  for (const Gradient& gradient : in_gradient_order(workload)) {
    waited += gradient.ready - last;
    last = gradient.ready;
    bucket.add(gradient.shape, gradient.ready, gradient.module);
    if (waited >= timeout || bucket.size() >= limit) {
      bucket.flush(messages);
      waited = {};
    }
  }
  bucket.flush(messages);
  return messages;
}

/// Horovod's coordinator: at every tick the tensors that are ready, in order, as many in one buffer as fit;
/// one that is larger goes alone (docs/tensor-fusion.rst).
std::vector<Message> horovod(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  std::vector<Message> messages;
  const Bytes limit = Bytes::of(params.number("bytes"));
  const double cycle = params.number("cycle");
  const Seconds negotiation = Seconds::of(params.number("negotiation"));
  Bucket bucket;
  double tick = 0;
  Seconds last;
  const auto flush = [&] { bucket.flush(messages, Seconds::of(tick) - last + negotiation); };
  for (const Gradient& gradient : in_gradient_order(workload)) {
    const double next = std::ceil(gradient.ready.base() / cycle) * cycle;
    if (next > tick || bucket.size() + gradient.shape.bytes() > limit) {
      flush();
    }
    tick = std::max(next, gradient.ready.base());
    last = gradient.ready;
    bucket.add(gradient.shape, gradient.ready, gradient.module);
  }
  flush();
  return messages;
}

}  // namespace

std::vector<ScheduleKind> fusion_schedules() {
  return {
      {"fusion",
       "a buffer that is sent when it is full or some time after the last one",
       {size_param("bytes", "64MiB", "sent at this size"),
        interval_param("timeout", "5ms", "sent when a gradient comes this long after the last buffer", true)},
       "the simulator of arXiv 2006.10103",
       fusion,
       false,
       {}},
      {"horovod",
       "Horovod's run-time fusion: at every tick what is ready, up to a buffer's size",
       {size_param("bytes", "64MiB", "size of the buffer (HOROVOD_FUSION_THRESHOLD)"),
        interval_param("cycle", "5ms", "from tick to tick (HOROVOD_CYCLE_TIME)", true),
        interval_param(
            "negotiation", "0ms",
            "what the coordinator adds to every buffer; nothing where its response cache knows the tensors",
            false)},
       "Horovod docs/tensor-fusion.rst; defaults of its releases up to 0.19",
       horovod,
       false,
       {}},
  };
}

}  // namespace breakeven
