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

std::vector<Range> KinetoTimeline::marked(Span::Kind kind, const Range& range) const {
  std::vector<Range> found;
  for (const Span& span : spans_in(range)) {
    if (span.kind == kind && (found.empty() || span.begin >= found.back().end)) {
      found.push_back({span.begin, span.end});
    }
  }
  return found;
}

std::vector<Range> KinetoTimeline::steps() const {
  const Range all{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  std::vector<Range> steps = marked(Span::Kind::step, all);
  if (!steps.empty()) {
    return steps;
  }
  double first = trace_.kernels.front().launch, last = trace_.kernels.back().launch;
  for (const Span& span : trace_.spans) {
    first = std::min(first, span.begin);
    last = std::max(last, span.end);
  }
  const std::vector<Range> forwards = marked(Span::Kind::forward, all);
  const std::vector<Range> optimizers = marked(Span::Kind::optimizer, all);
  if (optimizers.size() > 1 && (forwards.empty() || forwards.size() > optimizers.size())) {
    for (const Range& optimizer : optimizers) {
      steps.push_back({steps.empty() ? first : steps.back().end, optimizer.end});
    }
    return steps;
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(1, forwards.size()); ++i) {
    steps.push_back({forwards.empty() ? first : forwards[i].begin,
                     i + 1 < forwards.size() ? forwards[i + 1].begin : std::nextafter(last, HUGE_VAL)});
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
