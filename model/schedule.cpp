#include "model/schedule.h"

#include <algorithm>

#include "model/error.h"

namespace breakeven {
namespace {

/// Gathers tensors into one message.
class Bucket {
 public:
  void add(const Shape& shape, Seconds ready) {
    message_.tensors.push_back(shape);
    message_.ready = std::max(message_.ready, ready);
    size_ += shape.bytes();
  }
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] bool empty() const { return message_.tensors.empty(); }
  void flush(std::vector<Message>& out) {
    if (!empty()) {
      out.push_back(std::move(message_));
    }
    message_ = {};
    size_ = {};
  }

 private:
  Message message_;
  Bytes size_;
};

/// Calls `visit(shape, ready)` for every tensor in the order in which gradients appear: last tensor first.
template <class Visit>
void in_gradient_order(const Workload& workload, Visit&& visit) {
  const std::vector<Seconds> ready = module_ready(workload);
  for (auto tensor = workload.tensors.rbegin(); tensor != workload.tensors.rend(); ++tensor) {
    visit(workload.shape(*tensor), ready[tensor->module]);
  }
}

/// PyTorch DistributedDataParallel: a bucket closes when it has reached its limit; the first limit is
/// smaller; tensors are never split (reducer.cpp, compute_bucket_assignment_by_size).
std::vector<Message> ddp(const Workload& workload, const Params& params) {
  std::vector<Message> messages;
  Bucket bucket;
  Bytes limit = Bytes::of(params.number("first"));
  const Bytes cap = Bytes::of(params.number("cap"));
  in_gradient_order(workload, [&](const Shape& shape, Seconds ready) {
    bucket.add(shape, ready);
    if (bucket.size() >= limit) {
      bucket.flush(messages);
      limit = cap;
    }
  });
  bucket.flush(messages);
  return messages;
}

/// Equal buckets of `cap` bytes and a remainder, cut through tensors where need be: what the closed form
/// assumes.
std::vector<Message> equal(const Workload& workload, const Params& params) {
  std::vector<Message> messages;
  Bucket bucket;
  const double size = size_of(workload.gradient);
  const auto capacity = static_cast<std::size_t>(std::max(1.0, params.number("cap") / size));
  std::size_t room = capacity;
  in_gradient_order(workload, [&](const Shape& shape, Seconds ready) {
    std::size_t left = shape.elements();
    while (left > 0) {
      const std::size_t piece = std::min(left, room);
      bucket.add(piece == shape.elements() ? shape : Shape{piece, 1, shape.element}, ready);
      left -= piece;
      room -= piece;
      if (room == 0) {
        bucket.flush(messages);
        room = capacity;
      }
    }
  });
  bucket.flush(messages);
  return messages;
}

std::vector<Message> bsp(const Workload& workload, const Params& /*params*/) {
  return workload.tensors.empty() ? std::vector<Message>{} : std::vector<Message>{whole_gradient(workload)};
}

std::vector<Message> wfbp(const Workload& workload, const Params& /*params*/) {
  std::vector<Message> messages;
  Bucket bucket;
  in_gradient_order(workload, [&](const Shape& shape, Seconds ready) {
    bucket.add(shape, ready);
    bucket.flush(messages);
  });
  return messages;
}

Param limit(std::string name, std::string fallback, std::string help) {
  constexpr double kLargest = 1e15;
  return {.name = std::move(name),
          .kind = Param::Kind::bytes,
          .fallback = std::move(fallback),
          .low = 0,
          .high = kLargest,
          .choices = {},
          .help = std::move(help),
          .above_low = true};
}

std::vector<ScheduleKind> make_kinds() {
  return {
      {"ddp",
       "PyTorch DDP's buckets: reverse order, closed when full, tensors whole",
       {limit("first", "1MiB", "the first bucket closes at this size"),
        limit("cap", "25MiB", "every later bucket closes at this size")},
       "PyTorch reducer.cpp, defaults of torch.nn.parallel.DistributedDataParallel",
       ddp},
      {"equal",
       "buckets of equal size and a remainder: what the closed form assumes",
       {limit("cap", "25MiB", "size of a bucket")},
       "arXiv 2103.00543, model section",
       equal},
      {"bsp", "one message after the whole backward pass", {}, "arXiv 2005.13247, BSP", bsp},
      {"wfbp",
       "one message a tensor, as soon as its gradient exists",
       {},
       "wait-free backpropagation, arXiv 2005.13247",
       wfbp},
  };
}

}  // namespace

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = make_kinds();
  return kinds;
}

Schedule make_schedule(std::string_view spec) {
  const Spec parts = split_spec(spec);
  const std::string_view name = parts.name;
  const auto& kinds = schedule_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const ScheduleKind& kind) { return kind.name == name; });
  if (found == kinds.end()) {
    std::vector<std::string> known;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(known),
                   [](const ScheduleKind& kind) { return kind.name; });
    throw Error(Fault::value, {}, "unknown schedule \"" + std::string(name) + "\"", one_of(known, name));
  }
  try {
    if (spec.find(':') != std::string_view::npos && parts.params.empty()) {
      throw Error(Fault::value, {}, "nothing follows the colon", "name:key=value");
    }
    Params params(found->params, parts.params);
    const std::string text = join_spec(name, params.text());
    return {text, [kind = &*found, params = std::move(params)](const Workload& workload) {
              return kind->messages(workload, params);
            }};
  } catch (const Error& error) {
    throw error.inside(found->name, Fault::value);
  }
}

Message whole_gradient(const Workload& workload) {
  Message message;
  in_gradient_order(workload, [&](const Shape& shape, Seconds ready) {
    message.tensors.push_back(shape);
    message.ready = std::max(message.ready, ready);
  });
  return message;
}

std::vector<Seconds> module_ready(const Workload& workload) {
  std::vector<Seconds> ready(workload.modules.size());
  Seconds clock;
  for (std::size_t i = workload.modules.size(); i-- > 0;) {
    clock += workload.modules[i].backward;
    ready[i] = clock;
  }
  return ready;
}

}  // namespace breakeven
