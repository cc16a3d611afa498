// Kernels and spans of a trace -> where its steps went. Three things are kept apart: how much of the exchange
// runs beside compute kernels, how much backward slows down beside it, and what the step waits for it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "model/error.h"
#include "profiles/import/kineto_exchanges.h"
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

/// Nothing for a step without backward pass.
std::optional<KinetoStep> step_of(const KinetoTimeline& timeline, const Range& host,
                                  const ProcessGroup& group) {
  const auto pass = backward_pass(timeline, host);
  if (!pass) {
    return std::nullopt;
  }
  const Range step = timeline.settled(host);
  const Range backward = timeline.settled(*pass);
  const std::vector<Kernel> exchanges = gradient_exchanges(timeline, *pass, host, group);
  KinetoStep result;
  result.passes = forward_passes(timeline, host).size();
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

/// Steps that only accumulate gradients are left out where others exchange them.
void keep_exchanging(std::vector<KinetoStep>& steps, std::vector<std::string>& notes) {
  const auto silent = [](const KinetoStep& step) { return step.buckets.empty(); };
  const std::size_t all = steps.size();
  if (std::all_of(steps.begin(), steps.end(), silent)) {
    return;
  }
  if (const std::size_t left_out = std::erase_if(steps, silent); left_out > 0) {
    notes.push_back(std::to_string(left_out) + " of " + counted(all, "step") +
                    " have no all-reduce in backward (gradient accumulation) and are left out");
  }
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
  keep_exchanging(steps, findings.notes);
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
  findings.instead = findings.step.buckets.empty() ? exchanges_instead(trace) : std::string();
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
