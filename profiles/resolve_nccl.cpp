// What NCCL's cost model is told about the cluster (--algorithm nccl).
#include "profiles/resolve.h"

namespace breakeven {
namespace {

std::string fabrics_for_nccl(const Resolution& r) {
  std::string names;
  for (const std::string& name : r.catalogue.names("fabrics")) {
    if (r.catalogue.fabric(name).fabric.nccl.channels > 0) {
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  return names;
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
  const std::string lacks = missing(topology, {scenario.workers_per_node, 1, {}, {}});
  if (!lacks.empty()) {
    Resolution::refuse("algorithm",
                       "NCCL's model lacks " + lacks + ", which " + r.device.device.name + " does not state",
                       "an NVIDIA device, or a fabric with \"nccl\"");
  }
  if (topology.channels == 0 && group.nodes() > 1) {
    Resolution::refuse("algorithm", "NCCL's model lacks the channels across nodes",
                       "one of the fabrics " + fabrics_for_nccl(r));
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

}  // namespace breakeven
