// Kernels and spans of a trace -> where its steps went. Three things are kept apart: how much of the exchange
// runs beside compute kernels, how much backward slows down beside it, and what the step waits for it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "model/error.h"
#include "profiles/import/kineto_timeline.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

using Kernel = KinetoTrace::Kernel;
using Span = KinetoTrace::Span;

/// A stream that waited for an event goes on this soon after it.
constexpr double kWakeUp = 20;  // microseconds

Seconds seconds(double microseconds) {
  return Seconds::of(microseconds * 1e-6);
}

std::vector<Range> ranges_of(std::span<const Kernel> kernels, bool exchanges, const Range& within) {
  std::vector<Range> ranges;
  for (const Kernel& kernel : kernels) {
    if ((kernel.kind == Kernel::Kind::compute) != exchanges) {
      ranges.push_back({std::max(kernel.begin, within.begin), std::min(kernel.end, within.end)});
    }
  }
  return merged(std::move(ranges));
}

/// Compute kernels that could not begin before an all-reduce had ended: the device computed nothing, the
/// kernel had been launched, and it began as soon as the all-reduce was over.
double stalls(std::vector<Kernel> kernels, const std::vector<Kernel>& exchanges) {
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.begin < b.begin; });
  double frontier = kernels.empty() ? 0 : kernels.front().begin;
  double sum = 0;
  for (const Kernel& kernel : kernels) {
    for (const Kernel& exchange : exchanges) {
      if (kernel.begin > frontier && exchange.end <= kernel.begin && exchange.end > kernel.begin - kWakeUp) {
        const double from = std::max({frontier, exchange.begin, kernel.linked ? kernel.launch : frontier});
        const double waited = std::max(0.0, exchange.end - from);
        sum += waited;
        frontier = waited > 0 ? exchange.end : frontier;
      }
    }
    frontier = std::max(frontier, kernel.end);
  }
  return sum;
}

/// The all-reduces of gradients: those that backward launched. Other types are flags and counters.
std::vector<Kernel> gradient_exchanges(const KinetoTimeline& timeline, const Range& pass, const Range& step) {
  std::vector<Kernel> found;
  for (const Kernel& kernel : timeline.launched({pass.begin, step.end})) {
    // Where the launch is not known, the kernel may begin after the host has left backward.
    if (kernel.kind != Kernel::Kind::all_reduce || (kernel.linked && kernel.launch > pass.end)) {
      continue;
    }
    const std::string& type = timeline.trace().messages[kernel.message].type;
    if (type.empty() || element_named(type)) {
      found.push_back(kernel);
    }
  }
  return found;
}

/// A process group, as far as the trace tells one from another.
struct ProcessGroup {
  std::string name;
  std::size_t workers = 0;

  bool operator==(const ProcessGroup&) const = default;
  bool operator<(const ProcessGroup& other) const {
    return std::tie(name, workers) < std::tie(other.name, other.workers);
  }
};
ProcessGroup group_of(const KinetoTrace& trace, const Kernel& kernel) {
  const KinetoTrace::Message& message = trace.messages[kernel.message];
  return {message.group_name, message.group};
}

std::vector<Kernel> exchanges_of(const ProcessGroup& group, const KinetoTrace& trace,
                                 std::vector<Kernel> kernels) {
  std::erase_if(kernels, [&](const Kernel& kernel) { return group_of(trace, kernel) != group; });
  return kernels;
}

void add_buckets(const KinetoTimeline& timeline, const std::vector<Kernel>& exchanges, const Range& backward,
                 KinetoStep& result) {
  double last = backward.begin;
  for (const Kernel& kernel : exchanges) {
    const KinetoTrace::Message& message = timeline.trace().messages[kernel.message];
    KinetoBucket bucket;
    bucket.elements = message.elements;
    bucket.element = element_named(message.type).value_or(Element::f32);
    bucket.group = message.group > 0 ? message.group : timeline.trace().workers;
    // It may have queued behind the one before: ready is when its gradients were there.
    const double ready = std::min(kernel.begin, timeline.settled(kernel.launch));
    last = std::max(last, ready);
    bucket.ready = seconds(last - backward.begin);
    bucket.time = seconds(kernel.end - kernel.begin);
    result.buckets.push_back(bucket);
  }
}

/// A gradient is there when what was launched before autograd took it is done.
void add_gradients(const KinetoTimeline& timeline, const Range& pass, const Range& backward,
                   KinetoStep& result) {
  const KinetoTrace& trace = timeline.trace();
  double last = backward.begin;
  auto next =
      std::lower_bound(trace.accumulations.begin(), trace.accumulations.end(), pass.begin,
                       [](const KinetoTrace::Accumulation& one, double time) { return one.begin < time; });
  for (; next != trace.accumulations.end() && next->begin <= pass.end; ++next) {
    const KinetoTrace::Gradient& gradient = trace.gradients[next->gradient];
    last = std::max(last, timeline.settled(next->begin));
    result.gradients.push_back({gradient.dims,
                                gradient.type.empty() ? Element::f32 : element_named(gradient.type),
                                seconds(last - backward.begin)});
  }
}

/// Whether these are the gradients that the buckets hold, as far as their sizes are stated: a pass of several
/// accumulates them again.
bool fill_buckets(const KinetoStep& step) {
  double buckets = 0, gradients = 0;
  bool stated = !step.buckets.empty() && !step.gradients.empty();
  for (const KinetoBucket& bucket : step.buckets) {
    buckets += static_cast<double>(bucket.elements);
    stated = stated && bucket.elements > 0;
  }
  for (const KinetoGradient& gradient : step.gradients) {
    gradients += gradient.elements();
  }
  return !stated || buckets == gradients;
}

/// On the host.
std::optional<Range> backward_pass(const KinetoTimeline& timeline, const Range& step) {
  const auto marked = timeline.longest(Span::Kind::backward, step);
  const auto gradients = timeline.around(Span::Kind::gradient, step);
  if (marked && gradients && timeline.trace().host_waits) {
    return Range{marked->begin, gradients->end};  // behind the last gradient it only waits
  }
  return marked ? marked : gradients;
}

/// Several groups exchange in backward where a layer is split over workers too: gradients are taken to be
/// those of the group that carries most. Says what that leaves out.
ProcessGroup main_group(const KinetoTimeline& timeline, const std::vector<Range>& steps,
                        std::vector<std::string>& notes) {
  struct Load {
    double bytes = 0;
    std::size_t exchanges = 0;
  };
  std::map<ProcessGroup, Load> groups;
  for (const Range& step : steps) {
    const auto pass = backward_pass(timeline, step);
    for (const Kernel& kernel : pass ? gradient_exchanges(timeline, *pass, step) : std::vector<Kernel>{}) {
      const KinetoTrace::Message& message = timeline.trace().messages[kernel.message];
      Load& load = groups[group_of(timeline.trace(), kernel)];
      load.bytes +=
          static_cast<double>(message.elements) * size_of(element_named(message.type).value_or(Element::f32));
      ++load.exchanges;
    }
  }
  const auto most = std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.bytes < b.second.bytes;
  });
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group != most) {
      notes.push_back("left out: " + counted(group->second.exchanges, "all-reduce") + " of " +
                      to_string(Bytes::of(group->second.bytes)) + " in another process group" +
                      (group->first.name.empty() ? "" : ", " + quote(group->first.name)) +
                      (group->first.workers > 0 ? ", of " + counted(group->first.workers, "worker") : "") +
                      ": the gradients are taken to be those of the group that carries most");
    }
  }
  return most == groups.end() ? ProcessGroup{} : most->first;
}

/// Nothing for a step without backward pass.
std::optional<KinetoStep> step_of(const KinetoTimeline& timeline, const Range& host,
                                  const ProcessGroup& group) {
  const auto pass = backward_pass(timeline, host);
  if (!pass) {
    return std::nullopt;
  }
  const Range step = timeline.settled(host);
  const Range backward = timeline.settled(*pass);
  const std::vector<Kernel> exchanges =
      exchanges_of(group, timeline.trace(), gradient_exchanges(timeline, *pass, host));
  KinetoStep result;
  result.time = seconds(step.end - step.begin);
  if (const auto forward = timeline.longest(Span::Kind::forward, host)) {
    const Range settled = timeline.settled(*forward);
    result.forward = seconds(std::min(settled.end, backward.begin) - std::min(settled.begin, backward.begin));
  }
  const auto all = timeline.launched(host);
  const std::vector<Range> computes = ranges_of(all, false, step);
  const std::vector<Range> others = ranges_of(all, true, step);
  result.compute = seconds(length(computes));
  result.idle = seconds(
      std::max(0.0, step.end - step.begin - length(computes) - length(others) + overlap(computes, others)));
  const std::vector<Range> reduces = ranges_of(exchanges, true, step);
  result.exchange = seconds(length(reduces));
  result.overlapped = seconds(overlap(reduces, computes));
  for (const Range& reduce : reduces) {
    result.reduces.push_back({reduce.begin - backward.begin, reduce.end - backward.begin});
  }
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : timeline.launched(*pass)) {
    if (kernel.kind == Kernel::Kind::compute) {
      kernels.push_back(kernel);
    }
  }
  const double stalled = stalls(std::move(kernels), exchanges);
  result.stalled = seconds(stalled);
  result.tail =
      seconds(reduces.empty() ? 0 : std::max(0.0, std::min(reduces.back().end, step.end) - backward.end));
  if (const auto optimizer = timeline.longest(Span::Kind::optimizer, host)) {
    const Range settled = timeline.settled(*optimizer);  // from when the host is there: it may wait for sums
    const double sums = reduces.empty() ? backward.end : std::max(backward.end, reduces.back().end);
    result.optimizer = seconds(std::max(0.0, settled.end - std::max(settled.begin, sums)));
  }
  result.backward = seconds(std::max(0.0, backward.end - backward.begin - stalled));
  add_buckets(timeline, exchanges, backward, result);
  add_gradients(timeline, *pass, backward, result);
  return result;
}

bool same_buckets(const KinetoStep& a, const KinetoStep& b) {
  return std::equal(a.buckets.begin(), a.buckets.end(), b.buckets.begin(), b.buckets.end(),
                    [](const KinetoBucket& x, const KinetoBucket& y) { return x.elements == y.elements; });
}

}  // namespace

KinetoFindings find_in(const KinetoTrace& trace, const std::string& where) {
  const KinetoTimeline timeline(trace);
  KinetoFindings findings;
  const std::vector<Range> ranges = trace.kernels.empty() ? std::vector<Range>{} : timeline.steps();
  const ProcessGroup group = main_group(timeline, ranges, findings.notes);
  std::vector<KinetoStep> steps;
  for (const Range& range : ranges) {
    if (const auto step = step_of(timeline, range, group)) {
      steps.push_back(*step);
    }
  }
  if (steps.empty()) {
    throw Error(Fault::file, where, "has no backward pass",
                "a training step: spans of autograd, or record_function(\"## backward ##\")");
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const KinetoStep& a, const KinetoStep& b) { return a.time < b.time; });
  findings.steps = steps.size();
  findings.step = steps[(steps.size() - 1) / 2];
  if (!fill_buckets(findings.step)) {
    findings.notes.push_back(counted(findings.step.gradients.size(), "gradient") +
                             " of backward are not what its all-reduces carry: buckets stand for them");
    findings.step.gradients.clear();
  }
  findings.device = trace.device;
  findings.memory = trace.memory;
  findings.host_computes = trace.host_computes;
  std::size_t others = 0;
  for (const KinetoStep& step : steps) {
    others += same_buckets(step, findings.step) ? 0 : 1;
    for (std::size_t i = 0; same_buckets(step, findings.step) && i < step.buckets.size(); ++i) {
      findings.step.buckets[i].time = std::min(findings.step.buckets[i].time, step.buckets[i].time);
    }
  }
  if (others > 0) {
    findings.notes.push_back(
        std::to_string(others) + " of " + std::to_string(steps.size()) +
        " steps have other buckets (DDP rebuilds them after the first) and are left out of "
        "the buckets' times");
  }
  for (const KinetoBucket& bucket : findings.step.buckets) {
    findings.workers = std::max(findings.workers, bucket.group);
  }
  return findings;
}

double KinetoGradient::elements() const {
  double product = 1;
  for (const std::size_t dim : dims) {
    product *= static_cast<double>(dim);
  }
  return product;
}

}  // namespace breakeven
