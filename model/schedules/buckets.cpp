// Buckets that depend on sizes alone, and none.
#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

/// PyTorch DistributedDataParallel: a bucket closes when it has reached its limit; the first limit is
/// smaller; tensors are never split (reducer.cpp, compute_bucket_assignment_by_size).
std::vector<Message> ddp(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  std::vector<Message> messages;
  Bucket bucket;
  Bytes limit = Bytes::of(params.number("first"));
  const Bytes cap = Bytes::of(params.number("cap"));
  for (const Gradient& gradient : in_gradient_order(workload)) {
    bucket.add(gradient.shape, gradient.ready, gradient.module);
    if (bucket.size() >= limit) {
      bucket.flush(messages);
      limit = cap;
    }
  }
  bucket.flush(messages);
  return messages;
}

/// Equal buckets of `cap` bytes and a remainder, cut through tensors where need be: what the closed form
/// assumes.
std::vector<Message> equal(const Workload& workload, const Params& params, const MessageCosts& /*costs*/) {
  std::vector<Message> messages;
  Bucket bucket;
  const double size = size_of(workload.gradient);
  const auto capacity = static_cast<std::size_t>(std::max(1.0, params.number("cap") / size));
  std::size_t room = capacity;
  for (const Gradient& gradient : in_gradient_order(workload)) {
    const Shape& shape = gradient.shape;
    std::size_t left = shape.elements();
    while (left > 0) {
      const std::size_t piece = std::min(left, room);
      bucket.add(piece == shape.elements() ? shape : Shape{piece, 1, shape.element}, gradient.ready,
                 gradient.module);
      left -= piece;
      room -= piece;
      if (room == 0) {
        bucket.flush(messages);
        room = capacity;
      }
    }
  }
  bucket.flush(messages);
  return messages;
}

std::vector<Message> bsp(const Workload& workload, const Params& /*params*/, const MessageCosts& /*costs*/) {
  return workload.tensors.empty() ? std::vector<Message>{} : std::vector<Message>{whole_gradient(workload)};
}

std::vector<Message> wfbp(const Workload& workload, const Params& /*params*/, const MessageCosts& /*costs*/) {
  std::vector<Message> messages;
  Bucket bucket;
  for (const Gradient& gradient : in_gradient_order(workload)) {
    bucket.add(gradient.shape, gradient.ready, gradient.module);
    bucket.flush(messages);
  }
  return messages;
}

}  // namespace

std::vector<ScheduleKind> bucket_schedules() {
  return {
      {"ddp",
       "PyTorch DDP's buckets: reverse order, closed when full, tensors whole",
       {size_param("first", "1MiB", "the first bucket closes at this size"),
        size_param("cap", "25MiB", "every later bucket closes at this size")},
       "PyTorch reducer.cpp, defaults of torch.nn.parallel.DistributedDataParallel",
       ddp,
       false,
       {}},
      {"equal",
       "buckets of equal size and a remainder: what the closed form assumes",
       {size_param("cap", "25MiB", "size of a bucket")},
       "arXiv 2103.00543, model section",
       equal,
       false,
       {}},
      {"bsp", "one message after the whole backward pass", {}, "arXiv 2005.13247, BSP", bsp, false, {}},
      {"wfbp",
       "one message a tensor, as soon as its gradient exists",
       {},
       "wait-free backpropagation, arXiv 2005.13247",
       wfbp,
       false,
       {}},
  };
}

}  // namespace breakeven
