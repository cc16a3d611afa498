// What NCCL's cost model is told about the cluster (--algorithm nccl).
#include <algorithm>

#include "profiles/resolve.h"

namespace breakeven {
namespace {

/// What is not stated, by whom, and the key that mends it.
[[noreturn]] void refuse(const Resolution& r, const NcclLack& lack, const std::string& silent,
                         const std::string& otherwise) {
  const std::string key =
      "\"nccl\": {\"" + std::string(lack.key) + "\": " + (lack.key == "channels" ? "N" : "\"...\"") + "}";
  const std::string place =
      r.fabric ? " in the profile of " + r.fabric->fabric.name : " in a profile for --fabric";
  Resolution::refuse("algorithm",
                     "NCCL's model lacks " + std::string(lack.what) + ", which " + silent + " does not state",
                     key + place + ", or " + otherwise);
}

}  // namespace

/// What the fabric does not state about the GPUs the device does. Ranges of workers go beyond the group, so
/// what any group may need is asked for.
void resolve_nccl(Resolution& r, bool across) {
  Scenario& scenario = r.setup.scenario;
  NcclTopology& topology = scenario.fabric.nccl;
  const bool own = topology.architecture.has_value();
  if (!own) {
    topology.architecture = r.device.device.architecture;
  }
  if (!topology.peers) {
    topology.peers = r.device.device.peers;
  }
  const Group group = scenario.group();
  if (const auto lack = missing(topology, {scenario.workers_per_node, 1, {}, {}})) {
    refuse(r, *lack, r.device.device.name, "an NVIDIA device");
  }
  if (const auto lack = missing(topology, {group.workers, group.nodes(), {}, {}})) {
    refuse(r, *lack, r.fabric ? "the fabric " + r.fabric->fabric.name : "--bandwidth",
           "a fabric that `list fabrics` marks for NCCL across nodes");
  }
  if (topology.channels == 0 && across) {
    scenario.fabric.across = {};
    r.warn("only one node is looked at: NCCL's model lacks the channels across nodes");
  }
  const auto warn_latency = [&r](const std::string& option, bool used) {
    if (used && r.has(option)) {
      r.warn("--" + option + " is of no use where NCCL's model, which has its own, prices an exchange");
    }
  };
  warn_latency("latency", group.nodes() > 1);
  warn_latency("intra-latency", group.per_node > 1);
  std::string text = std::string(name(*topology.architecture));
  if (group.per_node > 1) {
    text += ", " + std::string(name(*topology.peers));
  }
  if (group.nodes() > 1) {
    text += ", " + std::to_string(topology.channels) + (topology.channels == 1 ? " channel" : " channels") +
            " across nodes" +
            (topology.latency > Seconds{} ? ", driver's latency " + to_string(topology.latency) : "") +
            (topology.gpudirect ? ", GPUDirect" : "");
  }
  const auto source = r.fabric ? r.fabric->sources.find("nccl") : r.device.sources.find("nccl");
  const auto end = r.fabric ? r.fabric->sources.end() : r.device.sources.end();
  r.note_text("nccl", text, !own && r.device_assumed ? Origin::assumed : Origin::published,
              source == end ? std::string() : source->second);
}

std::string beyond_nccl(const Scenario& scenario, std::span<const Plan> plans) {
  std::string names;
  if (scenario.workers < 2 || !uses(scenario, Algorithm::nccl)) {
    return names;
  }
  for (const Exchange exchange :
       {Exchange::all_to_all, Exchange::push_pull, Exchange::tree_step, Exchange::broadcast}) {
    const bool used = std::any_of(plans.begin(), plans.end(), [exchange](const Plan& plan) {
      return std::any_of(plan.begin(), plan.end(),
                         [exchange](const Round& round) { return round.exchange == exchange; });
    });
    if (used) {
      names += (names.empty() ? "" : " and no ") + std::string(name(exchange));
    }
  }
  return names.empty() ? names
                       : "NCCL's model prices no " + names + ": textbook formulas over the fabric's links do";
}

}  // namespace breakeven
