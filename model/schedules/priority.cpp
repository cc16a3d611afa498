// Schedules that reach into the next forward pass, or into parameter servers.
#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

std::vector<Message> slices(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  return pieces(workload, params.count("slice"));
}
std::vector<Message> partitions(const Workload& workload, const Params& params,
                                const MessageCosts& /*costs*/) {
  return pieces(workload, params.count("partition"));
}
std::vector<Message> byte_partitions(const Workload& workload, const Params& params,
                                     const MessageCosts& /*costs*/) {
  const double elements = params.number("partition") / size_of(workload.gradient);
  return pieces(workload, static_cast<std::size_t>(std::max(1.0, elements)));
}

/// DeAR (its authors' dopt_rsag.py): groups are built in forward order, so that each is a run of first needed
/// tensors.
std::vector<Message> dear(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  std::vector<Gradient> gradients = in_gradient_order(workload);
  std::reverse(gradients.begin(), gradients.end());
  std::vector<Message> messages;
  Bucket bucket;
  const Bytes limit = Bytes::of(params.number("group"));
  for (const Gradient& gradient : gradients) {
    bucket.add(gradient.shape, gradient.ready, gradient.module);
    if (bucket.size() >= limit) {
      bucket.flush(messages);
    }
  }
  bucket.flush(messages);
  std::reverse(messages.begin(), messages.end());  // the last group's gradients are there first
  return messages;
}

}  // namespace

std::vector<ScheduleKind> priority_schedules() {
  return {
      {"p3",
       "P3: slices of tensors, the first layers' first, to parameter servers and into the next forward pass",
       {elements_param("slice", "40000", "elements of a slice (MXNET_KVSTORE_SLICE_THRESHOLD)")},
       "anandj91/p3 and MXNet's p3store",
       slices,
       false,
       [](const Params&, Element) {
         return Sending{
             .priority = true, .credit = {}, .overlaps_forward = true, .splits = false, .duplex = true};
       }},
      {"bytescheduler",
       "ByteScheduler: partitions by priority within a credit, into the next forward pass",
       {elements_param("partition", "1000000",
                       "elements, not bytes, of a partition; 8000000 is advised for all-reduce"),
        elements_param("credit", "4000000",
                       "elements that may be on their way; 16000000 is advised for all-reduce")},
       "ByteScheduler's bytecore.py and docs/scheduling.md",
       partitions,
       false,
       [](const Params& params, Element gradient) {
         return Sending{.priority = true,
                        .credit = Bytes::of(params.number("credit") * size_of(gradient)),
                        .overlaps_forward = true,
                        .splits = false,
                        .duplex = true};
       }},
      {"byteps",
       "BytePS: partitions in the order of the gradients, pushes and pulls passing each other",
       {size_param("partition", "4096000B", "bytes of a partition (BYTEPS_PARTITION_BYTES)")},
       "BytePS's global.cc and docs",
       byte_partitions,
       false,
       [](const Params&, Element) {
         return Sending{
             .priority = false, .credit = {}, .overlaps_forward = false, .splits = false, .duplex = true};
       }},
      {"dear",
       "DeAR: groups reduce-scattered beside backward, all-gathered beside the next forward pass",
       {size_param("group", "25MB", "a group closes at this size")},
       "DeAR's dopt_rsag.py",
       dear,
       false,
       [](const Params&, Element) {
         return Sending{
             .priority = false, .credit = {}, .overlaps_forward = true, .splits = true, .duplex = false};
       }},
  };
}

}  // namespace breakeven
