// Who exchanges with whom, over what: workers, nodes, links of both levels, algorithm.
#include <algorithm>

#include "model/error.h"
#include "profiles/resolve.h"

namespace breakeven {
namespace {

using Sources = std::map<std::string, std::string>;

// The MG-WFBP authors' latency of one step over 10 Gbit/s Ethernet (their communication.py).
constexpr double kEthernetLatency = 45.25e-6;
// NCCL's tuning table: ring, Simple protocol, one hop over PCIe.
constexpr double kPcieLatency = 5.7e-6;

bool has_across(const Resolution& r) {
  return r.has("bandwidth") || (r.fabric && r.fabric->fabric.across.bandwidth > BytesPerSecond{});
}

std::optional<Pick> stated(bool known, double value, const Sources& sources, const std::string& key,
                           const std::string& otherwise, Origin origin) {
  if (!known) {
    return std::nullopt;
  }
  const auto source = sources.find(key);
  return Pick{value, origin, source == sources.end() || source->second.empty() ? otherwise : source->second};
}

void resolve_workers(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  const auto workers = r.number("workers");
  if (!workers) {
    Resolution::refuse("workers", "is missing", "the number of workers");
  }
  std::optional<Pick> profile;
  if (r.fabric && r.fabric->workers_per_node > 0) {
    profile = Pick{static_cast<double>(r.fabric->workers_per_node), r.fabric->origin,
                   "the fabric " + r.fabric->fabric.name};
  } else if (r.fabric && !has_across(r)) {
    profile = Pick{*workers, Origin::assumed, "the fabric has links inside a node only"};
  }
  const Pick per_node =
      r.pick("workers-per-node", profile, Pick{1, Origin::assumed, "default: one worker a node"})
          .value_or(Pick{});
  scenario.workers = static_cast<std::size_t>(*workers);
  scenario.workers_per_node = static_cast<std::size_t>(per_node.value);
  if (scenario.workers > scenario.workers_per_node && scenario.workers % scenario.workers_per_node != 0) {
    const std::string size = std::to_string(scenario.workers_per_node);
    Resolution::refuse("workers", std::to_string(scenario.workers) + " workers do not fill nodes of " + size,
                       "a multiple of " + size + ", or fewer than " + size);
  }
  r.note_number("workers", {*workers, Origin::given, {}});
  r.note_number("workers_per_node", per_node);
}

void resolve_across(Resolution& r, std::size_t nodes) {
  Level& level = r.setup.scenario.fabric.across;
  const bool known = r.fabric && r.fabric->fabric.across.bandwidth > BytesPerSecond{};
  const auto from_fabric = [&](double value, const std::string& key) {
    return known ? stated(true, value, r.fabric->sources, "across/" + key,
                          "the fabric " + r.fabric->fabric.name, r.fabric->origin)
                 : std::nullopt;
  };
  const bool has_latency = known && r.fabric->sources.contains("across/latency");
  const auto bandwidth = r.pick("bandwidth", from_fabric(level.bandwidth.base(), "bandwidth"));
  if (nodes == 1) {
    r.warn_unused({"bandwidth", "latency", "efficiency"}, "all workers are in one node");
  }
  if (!bandwidth) {
    if (nodes > 1) {
      Resolution::refuse("bandwidth", "is missing",
                         "what one node can send, such as 25Gbit/s, or --fabric NAME");
    }
    return;
  }
  const Pick latency =
      r.pick("latency", has_latency ? from_fabric(level.latency.base(), "latency") : std::nullopt,
             Pick{kEthernetLatency, Origin::published, "10 Gbit/s Ethernet, as MG-WFBP's authors fitted it"})
          .value_or(Pick{});
  const Pick efficiency = r.pick("efficiency", from_fabric(level.efficiency, "efficiency"),
                                 Pick{1, Origin::assumed, "the bandwidth is what a node can send"})
                              .value_or(Pick{});
  level.bandwidth = BytesPerSecond::of(bandwidth->value);
  level.latency = Seconds::of(latency.value);
  level.efficiency = efficiency.value;
  r.note<BytesPerSecond>("bandwidth", *bandwidth, "B/s");
  r.note<Seconds>("latency", latency, "s");
  r.note_fraction("efficiency", efficiency);
}

void resolve_inside(Resolution& r, std::size_t per_node) {
  Level& level = r.setup.scenario.fabric.inside;
  const bool fabric = r.fabric && r.fabric->has_inside;
  const bool known = fabric || r.device.device.peer.bandwidth > BytesPerSecond{};
  if (!fabric) {
    level = r.device.device.peer;
  }
  const Origin origin = fabric ? r.fabric->origin : r.device_assumed ? Origin::assumed : Origin::published;
  const auto profile = [&](double value, const std::string& key) {
    return fabric ? stated(known, value, r.fabric->sources, "inside/" + key,
                           "the fabric " + r.fabric->fabric.name, origin)
                  : stated(known, value, r.device.sources, "peer/" + key,
                           "the device " + r.device.device.name, origin);
  };
  if (per_node == 1) {
    r.warn_unused({"intra-bandwidth", "intra-latency"}, "every worker has a node of its own");
  }
  const auto bandwidth = r.pick("intra-bandwidth", profile(level.bandwidth.base(), "bandwidth"));
  if (!bandwidth) {
    if (per_node > 1) {
      Resolution::refuse(
          "intra-bandwidth", "is missing",
          "what one worker can send inside its node: no profile states it for " + r.device.device.name);
    }
    return;
  }
  const bool has_latency = !fabric || r.fabric->sources.contains("inside/latency");
  const Pick latency =
      r.pick("intra-latency", has_latency ? profile(level.latency.base(), "latency") : std::nullopt,
             Pick{kPcieLatency, Origin::assumed, "one hop over PCIe in NCCL's tuning table"})
          .value_or(Pick{});
  const Pick efficiency = profile(level.efficiency, "efficiency")
                              .value_or(Pick{1, Origin::assumed, "the bandwidth is what a worker can send"});
  level.bandwidth = BytesPerSecond::of(bandwidth->value);
  level.latency = Seconds::of(latency.value);
  level.efficiency = efficiency.value;
  if (per_node > 1) {
    r.note_bytes_per_second("intra_bandwidth", *bandwidth);
    r.note<Seconds>("intra_latency", latency, "s");
    r.note_fraction("intra_efficiency", efficiency);
  }
}

void resolve_algorithm(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  std::string text = "auto";
  if (const std::string* given = r.text("algorithm")) {
    try {
      scenario.algorithm = parse_algorithm(*given);
    } catch (const Error& error) {
      throw error.inside("--algorithm", Fault::value);
    }
    text = *given;
  }
  if (scenario.algorithm == Algorithm::automatic) {
    for (const Algorithm offered : scenario.fabric.offered) {
      text += (offered == scenario.fabric.offered.front() ? ": the cheapest of " : ", ") +
              std::string(name(offered));
    }
  }
  r.note_choice("algorithm", "algorithm", text, "default: as NCCL chooses");
  const Group group = scenario.group();
  const Algorithm chosen = scenario.algorithm;
  if (group.workers > 1 && group.nodes() == 1 &&
      (chosen == Algorithm::parameter_server || chosen == Algorithm::byteps)) {
    r.warn_unused({"algorithm"}, "all workers are in one node, which has no servers");
  }
  const bool alike = chosen == Algorithm::hierarchical ? group.nodes() == 1 || group.per_node == 1
                                                       : chosen == Algorithm::leader && group.per_node == 1;
  if (group.workers > 1 && alike) {
    r.warn_unused({"algorithm"}, "with one level of links it is a ring");
  }
  const bool ps = uses(scenario, Algorithm::parameter_server);
  const bool servers = ps || uses(scenario, Algorithm::byteps);
  if (r.has("servers") && !servers) {
    Resolution::refuse("servers", "is given without servers to use", "--algorithm ps or byteps");
  }
  if (r.has("duplex") && !ps) {
    Resolution::refuse("duplex", "is given without servers to use", "--algorithm ps");
  }
  if (servers) {
    const Pick count = r.pick("servers", Pick{static_cast<double>(scenario.fabric.servers),
                                              r.fabric ? Origin::published : Origin::assumed,
                                              r.fabric ? "the fabric" : "default: one on every node"})
                           .value_or(Pick{});
    scenario.fabric.servers = static_cast<std::size_t>(count.value);
    r.note_number("servers", count);
  }
  if (r.has("duplex")) {
    scenario.fabric.full_duplex = r.choice("duplex", {"full", "half"}) == 0;
  }
  if (ps) {
    r.note_choice("duplex", "duplex", scenario.fabric.full_duplex ? "full" : "half", "default");
  }
}

/// A fabric that was measured says so where its tables do not answer.
void warn_unmeasured(Resolution& r, const Group& group) {
  const Fabric& fabric = r.setup.scenario.fabric;
  if (!r.fabric || r.fabric->origin != Origin::measured || fabric.tables.empty() || group.workers <= 1) {
    return;
  }
  constexpr std::string_view kInstead = "links fitted to its times by the rule of a ring stand for it";
  if (r.setup.scenario.algorithm != Algorithm::automatic) {
    r.warn("the measured times of the fabric " + fabric.name + " are not used: --algorithm " +
           std::string(name(r.setup.scenario.algorithm)) + " asks for a formula; " + std::string(kInstead));
    return;
  }
  const auto of_group = [&](const Table& table) {
    return table.workers == group.workers && (table.per_node == 0 || table.per_node == group.per_node);
  };
  if (std::none_of(fabric.tables.begin(), fabric.tables.end(), of_group)) {
    const Table& table = fabric.tables.front();
    const auto spread = [](std::size_t workers, std::size_t per_node) {
      return std::to_string(workers) + " workers" +
             (per_node == 0 ? std::string() : ", " + std::to_string(per_node) + " a node");
    };
    r.warn("the fabric " + fabric.name + " was measured among " + spread(table.workers, table.per_node) +
           ", not among " + spread(group.workers, group.per_node) + ": " + std::string(kInstead));
  }
}

}  // namespace

bool uses(const Scenario& scenario, Algorithm algorithm) {
  const auto& offered = scenario.fabric.offered;
  return scenario.algorithm == algorithm ||
         (scenario.algorithm == Algorithm::automatic &&
          std::find(offered.begin(), offered.end(), algorithm) != offered.end());
}

void resolve_cluster(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  if (r.fabric) {
    scenario.fabric = r.fabric->fabric;
  }
  resolve_workers(r);
  const Group group = scenario.group();
  resolve_across(r, group.nodes());
  resolve_inside(r, group.per_node);
  resolve_algorithm(r);
  if (uses(scenario, Algorithm::nccl)) {
    resolve_nccl(r, has_across(r));
  }
  const auto replaced = {"bandwidth", "latency", "efficiency", "intra-bandwidth", "intra-latency"};
  const auto* option =
      std::find_if(replaced.begin(), replaced.end(), [&](const char* name) { return r.has(name); });
  if (!scenario.fabric.tables.empty() && option != replaced.end()) {
    scenario.fabric.tables.clear();
    r.warn("the measured times of the fabric " + scenario.fabric.name + " are not used: --" +
           std::string(*option) + " replaces what they were taken on");
  }
  warn_unmeasured(r, group);
}

}  // namespace breakeven
