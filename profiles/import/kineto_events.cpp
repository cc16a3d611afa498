// Events of a kineto trace -> kernels with the time of their launch, and spans.
#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "model/error.h"
#include "profiles/import/kineto.h"
#include "profiles/import/trace_events.h"
#include "profiles/json_reader.h"

namespace breakeven {
namespace {

using Kernel = KinetoTrace::Kernel;
using Span = KinetoTrace::Span;

constexpr std::size_t kMostKernels = 100'000'000;

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// When the host did something that kernels name by a number.
class Launches {
 public:
  void add(std::int64_t id, double time) { times_.emplace_back(id, time); }
  void sort() { std::sort(times_.begin(), times_.end()); }
  [[nodiscard]] std::optional<double> at(std::int64_t id) const {
    const auto found = std::lower_bound(times_.begin(), times_.end(), std::pair(id, -1e300));
    return found != times_.end() && found->first == id ? std::optional(found->second) : std::nullopt;
  }

 private:
  std::vector<std::pair<std::int64_t, double>> times_;
};

/// "nccl:all_reduce", "ncclKernel_AllReduce_RING_LL_Sum_float(...)",
/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
bool is_exchange(const std::string& name) {
  return has(name, "nccl") || name.starts_with("gloo:");
}
bool is_all_reduce(const std::string& name, std::string_view collective) {
  return collective.empty() ? has(name, "allreduce") || has(name, "all_reduce")
                            : has(lower(collective), "allreduce") || has(lower(collective), "all_reduce");
}

bool is_reduce_scatter(const std::string& name, std::string_view collective) {
  const std::string text = collective.empty() ? name : lower(collective);
  return has(text, "reducescatter") || has(text, "reduce_scatter");
}

using Dims = std::vector<std::size_t>;
/// 0: of no dimensions, which state nothing.
std::size_t product(const Dims& dims) {
  return dims.empty() ? 0 : std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

/// The element in a kernel's name, as args would state it.
std::string type_in(const std::string& name) {
  constexpr std::array<std::array<std::string_view, 2>, 6> kTypes = {{{"bfloat16", "BFloat16"},
                                                                      {"_bf16", "BFloat16"},
                                                                      {"_half", "Half"},
                                                                      {"_f16", "Half"},
                                                                      {"_float", "Float"},
                                                                      {"_f32", "Float"}}};
  for (const auto& [part, type] : kTypes) {
    if (has(name, part)) {
      return std::string(type);
    }
  }
  return {};
}

class Events {
 public:
  explicit Events(std::string where) : where_(std::move(where)) {}

  void add(const TraceEvent& event) {
    if (event.phase != 'X') {
      return;
    }
    const std::string category = lower(event.category);
    if (category == "kernel" || category == "gpu_memcpy" || category == "gpu_memset" ||
        category == "memcpy" || category == "memset") {
      any_kernel_ = true;
      add_kernel(event, category == "kernel" ? lower(event.name) : std::string());
    } else if (category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
               category == "runtime") {
      if (event.args.correlation) {
        calls_.add(*event.args.correlation, event.begin);
      }
    } else if (category == "cpu_op" || category == "user_annotation" || category == "operator") {
      add_operator(event);
    }
  }
  void add_member(const std::string& key, std::string_view json);
  KinetoTrace take();

 private:
  void add_kernel(const TraceEvent& event, const std::string& name);
  void add_operator(const TraceEvent& event);
  void add_span(Span::Kind kind, const TraceEvent& event) {
    trace_.spans.push_back({kind, event.begin, event.begin + event.duration});
    processes_.emplace(event.process);
  }
  std::uint32_t message(const TraceEvent& event, const std::string& name);
  void add_gradient(const TraceEvent& event);
  void compute_on_host();
  void refuse_without_compute() const;
  void refuse_several_workers() const;

  std::string where_;
  KinetoTrace trace_;
  struct Link {
    std::int64_t correlation, external;
  };
  std::vector<Link> links_;  // one a kernel
  Launches calls_, operators_;
  bool any_kernel_ = false, any_compute_ = false;
  bool device_exchanges_ = false;                           // the host calls NCCL
  std::set<std::string, std::less<>> devices_, processes_;  // of kernels and of spans
  std::map<KinetoTrace::Gradient, std::uint32_t> gradients_;
  std::map<std::tuple<std::size_t, std::size_t, std::string, std::string>, std::uint32_t> known_;
};

std::uint32_t Events::message(const TraceEvent& event, const std::string& name) {
  KinetoTrace::Message message;
  message.elements = event.args.elements.value_or(product(event.args.input_dims.value_or(Dims{})));
  message.group = event.args.group.value_or(0);
  message.group_name = std::string(event.args.group_name);
  message.type = event.args.dtype.empty() ? type_in(name) : std::string(event.args.dtype);
  const auto [found, added] =
      known_.try_emplace({message.elements, message.group, message.group_name, message.type},
                         static_cast<std::uint32_t>(trace_.messages.size()));
  if (added) {
    trace_.messages.push_back(std::move(message));
  }
  return found->second;
}

/// `name`: in lower case, of what may be an exchange; copies are none.
void Events::add_kernel(const TraceEvent& event, const std::string& name) {
  if (trace_.kernels.size() >= kMostKernels) {
    throw Error(Fault::file, where_, "holds more than 100 million kernels", "a trace of a few steps");
  }
  Kernel kernel;
  kernel.begin = kernel.launch = event.begin;
  kernel.end = event.begin + event.duration;
  if (is_exchange(name)) {
    kernel.kind = is_all_reduce(name, event.args.collective)       ? Kernel::Kind::all_reduce
                  : is_reduce_scatter(name, event.args.collective) ? Kernel::Kind::reduce_scatter
                                                                   : Kernel::Kind::other_exchange;
    kernel.message = message(event, name);
  }
  any_compute_ = any_compute_ || (kernel.kind == Kernel::Kind::compute && !name.empty());
  if (event.args.device && !name.empty()) {  // copies have two ends
    devices_.insert(std::to_string(*event.args.device));
  }
  trace_.kernels.push_back(kernel);
  links_.push_back({event.args.correlation.value_or(-1), event.args.external.value_or(-1)});
}

void Events::add_gradient(const TraceEvent& event) {
  const auto [found, added] =
      gradients_.try_emplace({*event.args.input_dims, std::string(event.args.input_type)},
                             static_cast<std::uint32_t>(trace_.gradients.size()));
  if (added) {
    trace_.gradients.push_back(found->first);
  }
  trace_.accumulations.push_back({event.begin, found->second});
}

/// Annotations by their usual names: PyTorch's own, and "## backward ##" of its examples.
void Events::add_operator(const TraceEvent& event) {
  if (event.args.external) {
    operators_.add(*event.args.external, event.begin);
  }
  if (event.name.starts_with("autograd::engine::evaluate_function")) {
    add_span(Span::Kind::gradient, event);
    return;
  }
  if (event.name == "torch::autograd::AccumulateGrad" && event.args.input_dims) {
    add_gradient(event);
  } else if (event.name.starts_with("ProfilerStep#")) {
    add_span(Span::Kind::step, event);
  } else if (event.name.starts_with("Optimizer.step")) {
    add_span(Span::Kind::optimizer, event);
  } else if (lower(event.category) == "user_annotation") {
    const std::string name = lower(event.name);
    device_exchanges_ = device_exchanges_ || name.starts_with("nccl:");
    if (name.starts_with("gloo:")) {
      trace_.host_waits = true;
      add_kernel(event, name);
    } else if (has(name, "backward")) {
      add_span(Span::Kind::backward, event);
    } else if (has(name, "forward")) {
      add_span(Span::Kind::forward, event);
    }
  }
}

/// What stands beside the events in newer traces.
void Events::add_member(const std::string& key, std::string_view json) {
  if (key != "deviceProperties" && key != "distributedInfo") {
    return;
  }
  const JsonDocument document(json, where_ + ": " + key);
  const Json root = document.root();
  if (key == "distributedInfo" && root.is(JsonValue::Kind::object)) {
    if (const auto workers = root.find("world_size")) {
      trace_.workers = workers->count();
    }
  } else if (root.is(JsonValue::Kind::list) && !root.list().empty()) {
    const Json first = root.list().front();
    if (const auto name = first.find("name")) {
      trace_.device = name->text();
    }
    if (const auto memory = first.find("totalGlobalMem")) {
      trace_.memory = Bytes::of(memory->number());
    }
  }
}

/// Without a device the host computes: what it does in passes and gradients is one kernel each.
void Events::compute_on_host() {
  for (const Span& span : trace_.spans) {
    if (span.kind != Span::Kind::step && span.kind != Span::Kind::backward) {
      trace_.kernels.push_back({span.begin, span.end, span.begin, Kernel::Kind::compute, false, 0});
      links_.push_back({-1, -1});
    }
  }
}

/// The host only starts what a device computes: without kernels its times say nothing of the step's.
void Events::refuse_without_compute() const {
  if (any_kernel_ ? !any_compute_ : device_exchanges_) {
    throw Error(Fault::file, where_,
                any_kernel_ ? "has no compute kernels, only exchanges and copies"
                            : "has no kernels, only the host's side of a step on a device",
                "a trace with ProfilerActivity.CPU and ProfilerActivity.CUDA around whole steps");
  }
}

/// Traces of several ranks, merged: a step's kernels would be those of all.
void Events::refuse_several_workers() const {
  for (const auto& [found, what] :
       {std::pair(&devices_, "kernels of devices "), {&processes_, "passes of processes "}}) {
    if (found->size() > 1) {
      std::string names;
      for (const std::string& name : *found) {
        names.append(names.empty() ? "" : ", ").append(name);
      }
      throw Error(Fault::file, where_, "holds " + std::string(what) + names, "the trace of one worker");
    }
  }
}

KinetoTrace Events::take() {
  refuse_without_compute();
  refuse_several_workers();
  if (!any_kernel_) {
    trace_.host_computes = true;
    compute_on_host();
  }
  calls_.sort();
  operators_.sort();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Kernel& kernel = trace_.kernels[i];
    auto launch = calls_.at(links_[i].correlation);
    launch = launch ? launch : operators_.at(links_[i].external);
    if (launch && *launch <= kernel.begin) {
      kernel.launch = *launch;
      kernel.linked = true;
    }
  }
  std::stable_sort(trace_.kernels.begin(), trace_.kernels.end(),
                   [](const Kernel& a, const Kernel& b) { return a.launch < b.launch; });
  std::stable_sort(trace_.spans.begin(), trace_.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::stable_sort(trace_.accumulations.begin(), trace_.accumulations.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return std::move(trace_);
}

}  // namespace

KinetoTrace read_kineto(const ReadBlock& read, const std::string& where) {
  Events events(where);
  TraceReader reader;
  reader.event = [&](const TraceEvent& event) { events.add(event); };
  reader.member = [&](const std::string& key, std::string_view json) { events.add_member(key, json); };
  if (!read_trace(read, where, reader)) {
    throw Error(Fault::file, where, "ends before its list of events does", "a whole trace");
  }
  KinetoTrace trace = events.take();
  if (trace.kernels.empty()) {
    throw Error(Fault::file, where, "has neither kernels nor passes of a training step",
                "a trace of PyTorch's profiler with ProfilerActivity.CUDA");
  }
  return trace;
}

}  // namespace breakeven
