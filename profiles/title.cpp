// The setup in one line: the first thing that every report says.
#include <algorithm>

#include "model/spec.h"
#include "profiles/resolve.h"

namespace breakeven {
namespace {

std::string machines(const Resolution& r) {
  const Scenario& scenario = r.setup.scenario;
  const Group group = scenario.group();
  std::string count = std::to_string(scenario.workers);
  std::string text = r.device_assumed ? count + (scenario.workers == 1 ? " worker" : " workers")
                                      : count + " x " + scenario.device.name;
  if (scenario.workers == 1) {
    return text;
  }
  if (group.nodes() == 1) {
    return text + " in one node";
  }
  return text + (group.per_node == 1 ? ", one a node"
                                     : " in " + std::to_string(group.nodes()) + " nodes of " +
                                           std::to_string(group.per_node));
}

std::string links(const Scenario& scenario) {
  if (scenario.workers == 1) {
    return "no network";
  }
  if (scenario.group().nodes() == 1) {
    return bytes_per_second(scenario.fabric.inside.bandwidth.base()) + " inside the node";
  }
  return to_string(scenario.fabric.across.bandwidth) + " a node";
}

std::string messages(const Scenario& scenario) {
  const Spec spec = split_spec(scenario.schedule.spec);
  const auto& kinds = schedule_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const ScheduleKind& known) { return known.name == spec.name; });
  if (spec.name == "ddp" || spec.name == "equal") {
    const Params params(kind->params, spec.params);
    return (spec.name == "ddp" ? "DDP" : "equal") + std::string(" buckets of ") +
           to_string(Bytes::of(params.number("cap")));
  }
  return "schedule " + scenario.schedule.spec + ": " + kind->summary;
}

}  // namespace

std::string make_title(const Resolution& r) {
  const Scenario& scenario = r.setup.scenario;
  const std::string dot = " \u00b7 ";
  std::string title = r.model                 ? r.model->name
                      : r.has("backward-log") ? "gradients of " + scenario.workload.name
                                              : "gradient of unknown shape";
  if (r.batch) {
    title += dot + "batch " + plain(*r.batch);
  }
  title += dot + machines(r) + dot + links(scenario) + dot + std::string(dtype(scenario.workload.gradient)) +
           " gradients, " + to_string(scenario.dense_bytes.value_or(scenario.workload.gradient_bytes())) +
           dot + messages(scenario);
  return scenario.method == Method::closed_form ? title + dot + "closed form" : title;
}

}  // namespace breakeven
