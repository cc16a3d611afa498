#include "profiles/import/kineto_exchanges.h"

#include <algorithm>
#include <map>

#include "profiles/option_values.h"

namespace breakeven {
namespace {

using Kernel = KinetoTrace::Kernel;

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

ProcessGroup group_of(const KinetoTrace& trace, const Kernel& kernel) {
  const KinetoTrace::Message& message = trace.messages[kernel.message];
  return {message.group_name, message.group};
}

}  // namespace

std::vector<Range> forward_passes(const KinetoTimeline& timeline, const Range& step) {
  const std::vector<Range> gradients = timeline.marked(KinetoTrace::Span::Kind::gradient, step);
  std::vector<Range> forwards = timeline.marked(KinetoTrace::Span::Kind::forward, step);
  std::erase_if(forwards, [&](const Range& forward) {
    return std::any_of(gradients.begin(), gradients.end(), [&](const Range& gradient) {
      return forward.begin >= gradient.begin && forward.begin < gradient.end;
    });
  });
  return forwards;
}

std::optional<Range> backward_pass(const KinetoTimeline& timeline, const Range& step) {
  std::optional<Range> marked;
  std::size_t most = 0;
  for (const Range& pass : timeline.marked(KinetoTrace::Span::Kind::backward, step)) {
    const std::size_t exchanges = gradient_exchanges(timeline, pass, pass).size();
    const bool longer = !marked || pass.end - pass.begin > marked->end - marked->begin;
    if (exchanges > most || (exchanges == most && longer)) {
      marked = pass;
      most = exchanges;
    }
  }
  const std::vector<Range> forwards = forward_passes(timeline, step);
  const double begin = forwards.empty() ? step.begin : forwards.back().begin;  // the last pass exchanges
  auto gradients =
      timeline.around(KinetoTrace::Span::Kind::gradient, marked.value_or(Range{begin, step.end}));
  gradients = gradients ? gradients : timeline.around(KinetoTrace::Span::Kind::gradient, step);
  if (marked && gradients && timeline.trace().host_waits) {
    return Range{marked->begin, gradients->end};  // behind the last gradient it only waits
  }
  return marked ? marked : gradients;
}

ProcessGroup main_group(const KinetoTimeline& timeline, const std::vector<Range>& steps,
                        std::vector<std::string>& notes) {
  struct Load {
    double bytes = 0;
    std::size_t exchanges = 0;
  };
  std::map<ProcessGroup, Load> groups;
  for (const Range& step : steps) {
    const auto pass = backward_pass(timeline, step);
    for (const KinetoTrace::Kernel& kernel :
         pass ? gradient_exchanges(timeline, *pass, step) : std::vector<KinetoTrace::Kernel>{}) {
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

std::vector<KinetoTrace::Kernel> gradient_exchanges(const KinetoTimeline& timeline, const Range& pass,
                                                    const Range& step, const ProcessGroup& group) {
  std::vector<KinetoTrace::Kernel> kernels = gradient_exchanges(timeline, pass, step);
  std::erase_if(kernels, [&](const KinetoTrace::Kernel& kernel) {
    return group_of(timeline.trace(), kernel) != group;
  });
  return kernels;
}

std::string exchanges_instead(const KinetoTrace& trace) {
  std::size_t scattered = 0, behind = 0, others = 0;
  std::string named;
  for (const KinetoTrace::Kernel& kernel : trace.kernels) {
    if (kernel.kind == KinetoTrace::Kernel::Kind::reduce_scatter) {
      ++scattered;
    } else if (kernel.kind == KinetoTrace::Kernel::Kind::all_reduce) {
      const std::string& type = trace.messages[kernel.message].type;
      const bool known = type.empty() || element_named(type);
      ++(known ? behind : others);
      named = known ? named : type;
    }
  }
  if (scattered > 0) {
    return ", but " + counted(scattered, "reduce-scatter") +
           ": sharding, as of FSDP and ZeRO, is not modelled";
  }
  if (behind > 0) {
    return ", but " + counted(behind, "all-reduce") +
           " outside of it: only what backward launches is read, as DDP's hooks do";
  }
  return others > 0 ? ", but " + counted(others, "all-reduce") + " of " + quote(named) +
                          ", of which float, half and bfloat16 are known"
                    : std::string();
}

}  // namespace breakeven
