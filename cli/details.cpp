// Everything that is known about one profile or scheme.
#include <fmt/format.h>

#include <algorithm>

#include "cli/doors.h"
#include "cli/list.h"
#include "model/error.h"
#include "model/schedule.h"
#include "profiles/grid.h"
#include "profiles/published.h"

namespace breakeven::cli {
namespace {

using Details = std::vector<Detail>;

std::string limits_text(const Param& param) {
  if (param.kind == Param::Kind::choice) {
    std::string text;
    for (const std::string& choice : param.choices) {
      text += (text.empty() ? "" : "|") + choice;
    }
    return text;
  }
  const auto number = [&](double value) {
    return param.kind == Param::Kind::bytes  ? to_string(Bytes::of(value))
           : param.kind == Param::Kind::time ? to_string(Seconds::of(value))
                                             : significant(value, 7);
  };
  return fmt::format("{} {} to {}", param.above_low ? "above" : "from", number(param.low),
                     number(param.high));
}

void add_params(Details& all, const std::vector<Param>& params) {
  for (const Param& param : params) {
    all.push_back({default_text(param), param.help + " (" + limits_text(param) + ")", {}});
  }
}

Details scheme_details(const Context& context, const std::string& name) {
  const Scheme& scheme = context.registry.at(name);
  Details all = {{"name", scheme.name, {}}, {"summary", scheme.summary, scheme.source}};
  all.push_back({"placement", std::string(breakeven::name(scheme.placement)), {}});
  all.push_back({"kernel", has_code(scheme) ? "yes" : "described only", {}});
  add_params(all, scheme.params);
  all.push_back({"encode=TIME,decode=TIME",
                 "codec times for the whole gradient of one step, where you measured them",
                 {}});
  return all;
}

Details schedule_details(const std::string& name) {
  const auto& kinds = schedule_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const ScheduleKind& kind) { return kind.name == name; });
  if (found == kinds.end()) {
    make_schedule(name);  // throws with the nearest name
    return {};
  }
  Details all = {{"name", found->name, {}}, {"summary", found->summary, found->source}};
  add_params(all, found->params);
  return all;
}

Details model_details(const ModelProfile& profile) {
  const Workload& workload = profile.workload;
  Details all = {{"name", profile.name, {}}, {"summary", profile.summary, profile.source}};
  all.push_back({"parameters", fmt::format("{}", workload.elements()), {}});
  all.push_back(
      {"gradient, fp32",
       fmt::format("{} ({} B)", to_string(4.0 * Bytes::of(static_cast<double>(workload.elements()))),
                   4 * workload.elements()),
       {}});
  all.push_back(
      {"tensors", fmt::format("{} in {} modules", workload.tensors.size(), workload.modules.size()), {}});
  all.push_back({"forward, one sample", significant(workload.forward_flops(), 4) + " FLOP", {}});
  all.push_back({"backward, one sample", significant(workload.backward_flops(), 4) + " FLOP", {}});
  for (const Timing& timing : profile.timings) {
    all.push_back({fmt::format("timing, {} {} batch {}", timing.device, name(timing.precision),
                               significant(timing.batch, 6)),
                   fmt::format("forward {}, backward {}, other {} ({})", to_string(timing.forward),
                               to_string(timing.backward), to_string(timing.other), name(timing.origin)),
                   timing.source});
  }
  return all;
}

void add_level(Details& all, const std::string& key, const Level& level, const std::string& source,
               bool knows_latency = true) {
  all.push_back(
      {key,
       fmt::format("{}{}{} each way, latency {}, efficiency {} %", level.name, level.name.empty() ? "" : ": ",
                   to_string(level.bandwidth), knows_latency ? to_string(level.latency) : "not known",
                   significant(level.efficiency * 100)),
       source});
}

/// What NCCL's model is told, where anything is.
void add_nccl(Details& all, const NcclTopology& topology, const std::string& source) {
  std::string text;
  const auto add = [&](std::string_view item) { text += (text.empty() ? "" : ", ") + std::string(item); };
  if (topology.architecture) {
    add(name(*topology.architecture));
  }
  if (topology.peers) {
    add(name(*topology.peers));
  }
  if (topology.channels > 0) {
    add(fmt::format("{} {} across nodes", topology.channels,
                    topology.channels == 1 ? "channel" : "channels"));
  }
  if (topology.cpu != CpuVendor::intel) {
    add(name(topology.cpu));
  }
  if (topology.latency > Seconds{}) {
    add("driver's latency " + to_string(topology.latency));
  }
  if (topology.gpudirect) {
    add("GPUDirect");
  }
  if (topology.collnet) {
    add("CollNet");
  }
  if (!text.empty()) {
    all.push_back({"nccl", text, source});
  }
}

Details device_details(const DeviceProfile& profile) {
  const Device& device = profile.device;
  const auto source = [&](const std::string& key) {
    for (const std::string& name : {key, key.substr(0, key.find('/'))}) {
      if (const auto found = profile.sources.find(name); found != profile.sources.end()) {
        return found->second;
      }
    }
    return std::string();
  };
  Details all = {{"name", device.name, {}}, {"summary", profile.summary, {}}};
  all.push_back(
      {"memory", fmt::format("{} GB/s", significant(device.memory.base() / 1e9, 4)), source("memory")});
  if (device.capacity > Bytes{}) {
    all.push_back({"capacity", to_string(device.capacity), source("capacity")});
  }
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    const auto i = static_cast<std::size_t>(precision);
    if (device.peak[i]) {
      const std::string key(name(precision));
      all.push_back({"peak " + key, to_string(*device.peak[i]), source("peak/" + key)});
      all.push_back(
          {"efficiency " + key, significant(device.efficiency[i] * 100) + " %", source("efficiency/" + key)});
    }
  }
  all.push_back({"launch", to_string(device.launch), source("launch")});
  if (device.host_link > BytesPerSecond{}) {
    all.push_back({"host_link", fmt::format("{} GB/s", significant(device.host_link.base() / 1e9)),
                   source("host_link")});
  }
  if (device.peer.bandwidth > BytesPerSecond{}) {
    add_level(all, "peer", device.peer, source("peer/bandwidth"));
  }
  NcclTopology topology;
  topology.architecture = device.architecture;
  topology.peers = device.peers;
  add_nccl(all, topology, source("nccl"));
  return all;
}

Details fabric_details(const FabricProfile& profile) {
  const Fabric& fabric = profile.fabric;
  const auto source = [&](const std::string& key) {
    const auto found = profile.sources.find(key);
    return found == profile.sources.end() ? std::string() : found->second;
  };
  Details all = {{"name", fabric.name, {}}, {"summary", profile.summary, profile.source}};
  if (fabric.across.bandwidth > BytesPerSecond{}) {
    add_level(all, "across nodes", fabric.across, {}, profile.sources.contains("across/latency"));
  }
  if (profile.has_inside) {
    add_level(all, "inside a node", fabric.inside, {}, profile.sources.contains("inside/latency"));
  }
  if (profile.workers_per_node > 0) {
    all.push_back({"workers per node", std::to_string(profile.workers_per_node), {}});
  }
  if (!profile.device.empty()) {
    all.push_back({"device", profile.device, {}});
  }
  if (profile.flows > 0) {
    all.push_back({"connections",
                   fmt::format("{} of {} each at most", profile.flows, to_string(profile.flow)),
                   source("across/flow")});
  }
  add_nccl(all, fabric.nccl, source("nccl"));
  std::string offered;
  for (const Algorithm algorithm : fabric.offered) {
    offered += (offered.empty() ? "" : ", ") + std::string(name(algorithm));
  }
  all.push_back({"algorithms", offered, {}});
  for (const Table& table : fabric.tables) {
    all.push_back(
        {"table",
         fmt::format("{} of {} workers, {} points", name(table.exchange), table.workers, table.points.size()),
         {}});
  }
  return all;
}

Details codec_details(const CodecProfile& profile) {
  Details all = {{"name", profile.name, {}}, {"summary", profile.summary, profile.source}};
  const auto range = [](const Curve& curve) {
    if (curve.points.empty()) {
      return std::string("none");
    }
    const auto point = [](const Curve::Point& p) {
      return significant(p.elements, 9) + " elements in " + to_string(p.time);
    };
    return curve.points.size() == 1 ? point(curve.points.front())
                                    : point(curve.points.front()) + " to " + point(curve.points.back());
  };
  for (const auto& [condition, value] : profile.conditions) {
    all.push_back({condition, value, {}});
  }
  for (const CodecCosts& costs : profile.costs) {
    const std::string key = fmt::format("{} on {} ({})", costs.scheme, costs.device, name(costs.origin));
    all.push_back({key + ", encode", range(costs.encode), costs.source});
    all.push_back({key + ", decode", range(costs.decode), costs.source});
    if (!costs.decode_next.points.empty()) {
      all.push_back({key + ", each further payload", range(costs.decode_next), costs.source});
    }
    if (costs.spread > 0) {
      all.push_back({key + ", spread", significant(costs.spread * 100, 2) + " %", costs.source});
    }
  }
  return all;
}

Details sweep_details(const Grid& grid) {
  Details all = {{"name", grid.name, {}},
                 {"summary", grid.summary, grid.source},
                 {"rows", std::to_string(grid.rows()), {}}};
  for (const auto& [option, value] : grid.base) {
    all.push_back({option, value, {}});
  }
  const auto joined = [](const std::vector<std::string>& values) {
    std::string text;
    for (const std::string& value : values) {
      text += (text.empty() ? "" : ", ") + value;
    }
    return text;
  };
  for (const Grid::Axis& axis : grid.axes) {
    all.push_back({"axis " + axis.option, joined(axis.values), {}});
  }
  all.push_back({"cases", std::to_string(grid.cases.size()), {}});
  if (!grid.schemes.empty()) {
    all.push_back({"schemes", joined(grid.schemes), {}});
  }
  return all;
}

Details published_details(const Published& source) {
  Details all = {{"name", source.name, {}}, {"summary", source.summary, source.source}};
  for (const PublishedCase& one : source.cases) {
    all.push_back({fmt::format("{}, {}", one.id, name(one.figure)),
                   fmt::format("{} ({}), within {}", one.text, name(one.kind), to_string(one.tolerance)),
                   {}});
  }
  for (const std::string& text : source.left_out) {
    all.push_back({"left out", text, {}});
  }
  return all;
}

}  // namespace

std::vector<Detail> details(const Context& context, const std::string& kind, const std::string& name) {
  const Catalogue& catalogue = context.catalogue;
  try {
    if (kind == "models") {
      return model_details(catalogue.model(name));
    }
    if (kind == "devices") {
      return device_details(catalogue.device(name));
    }
    if (kind == "fabrics") {
      return fabric_details(catalogue.fabric(name));
    }
    if (kind == "codecs") {
      return codec_details(catalogue.codec(name));
    }
    if (kind == "sweeps") {
      const Catalogue::Text text = catalogue.sweep(name);
      return sweep_details(read_grid(text.json, text.where));
    }
    if (kind == "published") {
      const Catalogue::Text text = catalogue.published(name);
      return published_details(read_published(text.json, text.where));
    }
    return kind == "schemes" ? scheme_details(context, name) : schedule_details(name);
  } catch (const Error& error) {
    throw error.fault() == Fault::file
        ? error
        : Error(error.fault(), "list " + kind, error.wrong(), error.expected());
  }
}

}  // namespace breakeven::cli
