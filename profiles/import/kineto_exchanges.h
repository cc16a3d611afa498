// Which pass of a traced step exchanges gradients, and which of its exchanges those are.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/import/kineto_timeline.h"

namespace breakeven {

/// A process group, as far as the trace tells one from another.
struct ProcessGroup {
  std::string name;
  std::size_t workers = 0;

  bool operator==(const ProcessGroup&) const = default;
  bool operator<(const ProcessGroup& other) const {
    return std::tie(name, workers) < std::tie(other.name, other.workers);
  }
};

/// On the host, without those that backward computes again (checkpoints): they lie in a gradient's span.
std::vector<Range> forward_passes(const KinetoTimeline& timeline, const Range& step);

/// The backward pass, on the host. Where gradients accumulate over several, the one that exchanges them.
std::optional<Range> backward_pass(const KinetoTimeline& timeline, const Range& step);

/// Several groups exchange in backward where a layer is split over workers too: gradients are taken to be
/// those of the group that carries most. Says what that leaves out.
ProcessGroup main_group(const KinetoTimeline& timeline, const std::vector<Range>& steps,
                        std::vector<std::string>& notes);

/// The all-reduces of gradients that backward launched in this group.
std::vector<KinetoTrace::Kernel> gradient_exchanges(const KinetoTimeline& timeline, const Range& pass,
                                                    const Range& step, const ProcessGroup& group);

/// What a trace exchanges that has no all-reduce of gradients in backward: ", but ...". Empty: nothing.
std::string exchanges_instead(const KinetoTrace& trace);

}  // namespace breakeven
