// A kineto trace with what is asked of it again and again: what was launched when, when the device is done
// with it, where its steps are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiles/import/kineto.h"
#include "profiles/import/ranges.h"

namespace breakeven {

class KinetoTimeline {
 public:
  using Kernel = KinetoTrace::Kernel;
  using Span = KinetoTrace::Span;

  /// The trace must live as long.
  explicit KinetoTimeline(const KinetoTrace& trace);

  [[nodiscard]] const KinetoTrace& trace() const { return trace_; }
  [[nodiscard]] std::span<const Kernel> launched(const Range& range) const;
  /// When the device has computed all that was launched before `time`, if that is later.
  [[nodiscard]] double settled(double time) const;
  /// The host runs ahead of the device: a pass begins when what was launched before it is done, and ends when
  /// what was launched in it is.
  [[nodiscard]] Range settled(const Range& host) const { return {settled(host.begin), settled(host.end)}; }
  /// The longest span of this kind that begins in `range`.
  [[nodiscard]] std::optional<Range> longest(Span::Kind kind, const Range& range) const;
  /// Spans of this kind that begin in `range`. Annotations nest: what begins inside the one before belongs to
  /// it.
  [[nodiscard]] std::vector<Range> marked(Span::Kind kind, const Range& range) const;
  /// From the first span of this kind that begins in `range` to the end of the last.
  [[nodiscard]] std::optional<Range> around(Span::Kind kind, const Range& range) const;
  /// The profiler's steps; without them from one forward pass to the next, or where several make a step, from
  /// one optimizer's end to the next; without those the whole trace.
  [[nodiscard]] std::vector<Range> steps() const;

 private:
  [[nodiscard]] std::size_t count_before(double launch) const;
  [[nodiscard]] std::span<const Span> spans_in(const Range& range) const;

  const KinetoTrace& trace_;
  std::vector<double> busy_until_;  // by kernel: when all compute kernels up to it have ended
};

}  // namespace breakeven
