#include "model/schedule.h"

#include <algorithm>

#include "model/error.h"
#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

std::vector<ScheduleKind> make_kinds() {
  std::vector<ScheduleKind> kinds;
  for (const auto& rows :
       {bucket_schedules(), fusion_schedules(), merging_schedules(), priority_schedules()}) {
    kinds.insert(kinds.end(), rows.begin(), rows.end());
  }
  return kinds;
}

}  // namespace

std::vector<Gradient> in_gradient_order(const Workload& workload) {
  const std::vector<Seconds> ready = module_ready(workload);
  std::vector<Gradient> gradients;
  gradients.reserve(workload.tensors.size());
  for (auto tensor = workload.tensors.rbegin(); tensor != workload.tensors.rend(); ++tensor) {
    gradients.push_back({workload.shape(*tensor), ready[tensor->module], tensor->module});
  }
  return gradients;
}

std::vector<Message> merged(const std::vector<Gradient>& gradients, const std::vector<std::size_t>& begins) {
  std::vector<Message> messages;
  Bucket bucket;
  std::size_t group = 1;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (group < begins.size() && i == begins[group]) {
      bucket.flush(messages);
      ++group;
    }
    bucket.add(gradients[i].shape, gradients[i].ready, gradients[i].module);
  }
  bucket.flush(messages);
  return messages;
}

std::vector<Message> pieces(const Workload& workload, std::size_t elements) {
  constexpr std::size_t kMost = 250'000;  // keeps a prediction to a second or so
  std::size_t count = 0;
  for (const Tensor& tensor : workload.tensors) {
    count += (tensor.elements() + elements - 1) / elements;
  }
  if (count > kMost) {
    throw Error(
        Fault::value, "schedule",
        "pieces of " + std::to_string(elements) + " elements are " + std::to_string(count) + " messages",
        "a size that leaves at most " + std::to_string(kMost));
  }
  std::vector<Message> messages;
  Bucket bucket;
  for (const Gradient& gradient : in_gradient_order(workload)) {
    const Shape& shape = gradient.shape;
    for (std::size_t left = shape.elements(); left > 0;) {
      const std::size_t piece = std::min(left, elements);
      bucket.add(piece == shape.elements() ? shape : Shape{piece, 1, shape.element}, gradient.ready,
                 gradient.module);
      bucket.flush(messages);
      left -= piece;
    }
  }
  return messages;
}

Param size_param(std::string name, std::string fallback, std::string help) {
  constexpr double kLargest = 1e16;  // the largest gradient, 1e15 elements, fits in a power of two below
  return {.name = std::move(name),
          .kind = Param::Kind::bytes,
          .fallback = std::move(fallback),
          .low = 0,
          .high = kLargest,
          .choices = {},
          .help = std::move(help),
          .above_low = true};
}

Param elements_param(std::string name, std::string fallback, std::string help, double least) {
  Param param = size_param(std::move(name), std::move(fallback), std::move(help));
  param.kind = Param::Kind::integer;
  param.low = least;
  param.above_low = false;
  return param;
}

Param interval_param(std::string name, std::string fallback, std::string help, bool above_zero) {
  return {.name = std::move(name),
          .kind = Param::Kind::time,
          .fallback = std::move(fallback),
          .low = 0,
          .high = 1e6,
          .choices = {},
          .help = std::move(help),
          .above_low = above_zero};
}

const std::vector<ScheduleKind>& schedule_kinds() {
  static const std::vector<ScheduleKind> kinds = make_kinds();
  return kinds;
}

Schedule make_schedule(std::string_view spec, Element gradient) {
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
    Schedule schedule;
    schedule.spec = join_spec(name, params.text());
    schedule.weighs_costs = found->weighs_costs;
    schedule.sending = found->sending ? found->sending(params, gradient) : Sending{};
    schedule.messages = [kind = &*found, params = std::move(params)](const Workload& workload,
                                                                     const MessageCosts& costs) {
      return kind->messages(workload, params, costs);
    };
    return schedule;
  } catch (const Error& error) {
    throw error.inside(found->name, Fault::value);
  }
}

Message whole_gradient(const Workload& workload) {
  std::vector<Message> all;
  Bucket bucket;
  for (const Gradient& gradient : in_gradient_order(workload)) {
    bucket.add(gradient.shape, gradient.ready, gradient.module);
  }
  bucket.flush(all);
  return all.empty() ? Message{} : std::move(all.front());
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
