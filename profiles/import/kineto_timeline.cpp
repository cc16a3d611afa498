#include "profiles/import/kineto_timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace breakeven {

KinetoTimeline::KinetoTimeline(const KinetoTrace& trace) : trace_(trace) {
  double until = -std::numeric_limits<double>::infinity();
  for (const Kernel& kernel : trace.kernels) {
    until = kernel.kind == Kernel::Kind::compute ? std::max(until, kernel.end) : until;
    busy_until_.push_back(until);
  }
}

std::span<const KinetoTrace::Kernel> KinetoTimeline::launched(const Range& range) const {
  const std::size_t first = count_before(range.begin);
  return std::span(trace_.kernels).subspan(first, count_before(range.end) - first);
}

double KinetoTimeline::settled(double time) const {
  const std::size_t before = count_before(time);
  return before == 0 ? time : std::max(time, busy_until_[before - 1]);
}

std::optional<Range> KinetoTimeline::longest(Span::Kind kind, const Range& range) const {
  std::optional<Range> found;
  for (const Span& span : spans_in(range)) {
    if (span.kind == kind && (!found || span.end - span.begin > found->end - found->begin)) {
      found = Range{span.begin, span.end};
    }
  }
  return found;
}

std::optional<Range> KinetoTimeline::around(Span::Kind kind, const Range& range) const {
  std::optional<Range> found;
  for (const Span& span : spans_in(range)) {
    if (span.kind == kind) {
      found = found ? Range{found->begin, std::max(found->end, span.end)} : Range{span.begin, span.end};
    }
  }
  return found;
}

std::vector<Range> KinetoTimeline::steps() const {
  const Range all{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  std::vector<Range> steps;
  for (const Span::Kind kind : {Span::Kind::step, Span::Kind::forward}) {
    for (const Span& span : trace_.spans) {
      // Annotations nest: what begins inside the one before belongs to it.
      if (span.kind == kind && (steps.empty() || span.begin >= steps.back().end)) {
        steps.push_back({span.begin, span.end});
      }
    }
    if (!steps.empty()) {
      break;
    }
  }
  double last = trace_.kernels.back().launch;
  for (const Span& span : trace_.spans) {
    last = std::max(last, span.end);
  }
  const bool marked = longest(Span::Kind::step, all).has_value();
  if (steps.empty()) {
    double first = trace_.kernels.front().launch;
    first = trace_.spans.empty() ? first : std::min(first, trace_.spans.front().begin);
    steps.push_back({first, last});
  }
  for (std::size_t i = 0; !marked && i < steps.size(); ++i) {
    steps[i].end = i + 1 < steps.size() ? steps[i + 1].begin : std::nextafter(last, HUGE_VAL);
  }
  return steps;
}

std::size_t KinetoTimeline::count_before(double launch) const {
  const auto found = std::lower_bound(trace_.kernels.begin(), trace_.kernels.end(), launch,
                                      [](const Kernel& kernel, double time) { return kernel.launch < time; });
  return static_cast<std::size_t>(found - trace_.kernels.begin());
}

std::span<const KinetoTrace::Span> KinetoTimeline::spans_in(const Range& range) const {
  const auto begins_before = [](const Span& span, double time) { return span.begin < time; };
  const auto first = std::lower_bound(trace_.spans.begin(), trace_.spans.end(), range.begin, begins_before);
  const auto last = std::lower_bound(first, trace_.spans.end(), range.end, begins_before);
  return {first, last};
}

}  // namespace breakeven
