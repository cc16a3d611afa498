// Reads what the workers run on and exchange over: device and fabric profiles.
#include <algorithm>
#include <array>
#include <cmath>

#include "profiles/json_reader.h"
#include "profiles/read.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

using Sources = std::map<std::string, std::string>;

/// Unwraps the number at `key` of `object` and keeps its source under `name`.
Json number_at(const Json& object, std::string_view key, std::string_view expected, const std::string& name,
               const std::string& source_of_all, Sources& sources) {
  const SourcedJson number = sourced(object.at(key, expected), source_of_all);
  sources[name] = number.source;
  return number.value;
}

Level read_level(const Json& json, const std::string& prefix, const std::string& source_of_all,
                 Sources& sources) {
  json.only({"name", "bandwidth", "latency", "efficiency", "flow", "flows", "source"});
  const auto own = json.find("source");
  const std::string source = own ? own->text() : source_of_all;
  Level level;
  level.name = text_or_empty(json, "name");
  level.bandwidth = number_at(json, "bandwidth", "a bandwidth", prefix + "/bandwidth", source, sources)
                        .above_zero<BytesPerSecond>();
  if (prefix == "peer" || json.find("latency")) {  // measurements of large sizes alone cannot tell a fabric's
    level.latency =
        number_at(json, "latency", "a time", prefix + "/latency", source, sources).not_negative<Seconds>();
  }
  if (json.find("efficiency")) {
    level.efficiency =
        read_share(number_at(json, "efficiency", "a fraction", prefix + "/efficiency", source, sources));
  }
  return level;
}

/// What a node sends is bounded by its connections: each carries `flow` at most, `flows` share a transfer.
void read_flows(const Json& json, FabricProfile& profile) {
  const auto flow = json.find("flow");
  const auto flows = json.find("flows");
  if (!flow && !flows) {
    return;
  }
  Level& level = profile.fabric.across;
  const std::string expected = "\"flow\", what one connection carries, and \"flows\", their number";
  const std::string bandwidth = profile.sources["across/bandwidth"];
  profile.flow = number_at(json, "flow", expected, "across/flow", bandwidth, profile.sources)
                     .above_zero<BytesPerSecond>();
  const Json count = number_at(json, "flows", expected, "across/flows", bandwidth, profile.sources);
  profile.flows = count.count();
  if (profile.flows == 0) {
    count.fail("0 is too few", "1 connection or more");
  }
  const BytesPerSecond most = profile.flow * static_cast<double>(profile.flows);
  if (most < level.bandwidth) {
    level.bandwidth = most;
    profile.sources["across/bandwidth"] = "connections: " + profile.sources["across/flow"];
  }
}

constexpr std::array<std::string_view, 4> kPrecisions = {"fp32", "tf32", "fp16", "bf16"};

void read_arithmetic(const Json& root, const std::string& source, DeviceProfile& profile) {
  if (const auto peak = root.find("peak")) {
    peak->only({"fp32", "tf32", "fp16", "bf16"});
    for (std::size_t i = 0; i < kPrecisions.size(); ++i) {
      if (peak->find(kPrecisions[i])) {
        profile.device.peak[i] = number_at(*peak, kPrecisions[i], "", "peak/" + std::string(kPrecisions[i]),
                                           source, profile.sources)
                                     .above_zero<PerSecond>();
      }
    }
  }
  if (const auto efficiency = root.find("efficiency")) {
    efficiency->only({"fp32", "tf32", "fp16", "bf16"});
    for (std::size_t i = 0; i < kPrecisions.size(); ++i) {
      if (efficiency->find(kPrecisions[i])) {
        profile.device.efficiency[i] =
            read_share(number_at(*efficiency, kPrecisions[i], "", "efficiency/" + std::string(kPrecisions[i]),
                                 source, profile.sources));
      }
    }
  }
}

void check_slope(const Table::Point& left, const Table::Point& right, const Json& json) {
  const double slope = steepness(left, right);
  if (std::abs(slope) > kSteepest) {
    json.fail("the time changes as the size to the power of " + significant(slope),
              "times that change slower, or sizes further apart");
  }
}

Table read_table(const Json& json) {
  json.only({"exchange", "workers", "points", "source"});
  static const std::vector<std::string> kExchanges = {"none",       "all_reduce", "reduce_scatter",
                                                      "all_gather", "all_to_all", "push_pull",
                                                      "tree_step",  "broadcast"};
  Table table;
  const Json exchange = json.at("exchange", "all_reduce, all_gather ...");
  table.exchange = static_cast<Exchange>(read_choice(exchange, kExchanges, "exchange"));
  if (table.exchange == Exchange::none) {
    exchange.fail("\"none\" takes no time", "all_reduce, all_gather ...");
  }
  if (table.exchange == Exchange::tree_step) {
    exchange.fail("a \"tree_step\" is one message, and takes as long as its distance says",
                  "all_reduce, all_gather ...");
  }
  const Json workers = json.at("workers", "the number of workers");
  table.workers = workers.count();
  if (table.workers < 2) {
    workers.fail(workers.scalar() + " is too few", "2 workers or more");
  }
  for (const Json& point : json.at("points", "a list of [size, time]").list(2)) {
    const std::vector<Json> cells = point.list(2, 2);
    const auto payload = cells[0].above_zero<Bytes>();
    if (payload < 1_B) {
      cells[0].fail("\"" + cells[0].scalar() + "\" is less than a byte", "rising sizes");
    }
    if (!table.points.empty() && payload <= table.points.back().payload) {
      cells[0].fail("\"" + cells[0].scalar() + "\" is not above the point before", "rising sizes");
    }
    table.points.push_back({payload, cells[1].above_zero<Seconds>()});
    if (table.points.size() > 1) {
      check_slope(table.points.end()[-2], table.points.back(), point);
    }
  }
  return table;
}

AdditionTable read_additions(const Json& json, const std::string& source_of_all) {
  json.only({"points", "source"});
  AdditionTable table;
  const auto own = json.find("source");
  table.source = own ? own->text() : source_of_all;
  for (const Json& point : json.at("points", "a list of [size of an operand, time]").list(1)) {
    const std::vector<Json> cells = point.list(2, 2);
    const auto size = cells[0].not_negative<Bytes>();
    if (!table.points.empty() && size <= table.points.back().size) {
      cells[0].fail("\"" + cells[0].scalar() + "\" is not above the point before", "rising sizes");
    }
    table.points.push_back({size, cells[1].not_negative<Seconds>()});
  }
  return table;
}

/// What is said about the group besides its links.
void read_shape(const Json& root, FabricProfile& profile) {
  Fabric& fabric = profile.fabric;
  if (const auto workers = root.find("workers_per_node")) {
    profile.workers_per_node = workers->count();
    if (profile.workers_per_node == 0) {
      workers->fail("0 is too few", "1 worker or more");
    }
  }
  profile.device = text_or_empty(root, "device");
  if (const auto servers = root.find("servers")) {
    fabric.servers = servers->count();
  }
  if (const auto duplex = root.find("full_duplex")) {
    fabric.full_duplex = duplex->flag();
  }
  if (const auto algorithms = root.find("algorithms")) {
    fabric.offered.clear();
    for (const Json& algorithm : algorithms->list(1)) {
      try {
        fabric.offered.push_back(parse_algorithm(algorithm.text()));
      } catch (const Error& error) {
        if (error.fault() == Fault::file) {
          throw;  // not even text
        }
        throw error.inside(algorithm.place(), Fault::file);
      }
      if (fabric.offered.back() == Algorithm::automatic) {
        algorithm.fail("\"auto\" is the choice among these", "algorithms");
      }
    }
  }
}

}  // namespace

DeviceProfile read_device(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "memory", "capacity", "peak", "efficiency", "launch",
             "host_link", "peer", "nccl"});
  check_schema(root);
  DeviceProfile profile;
  profile.summary = text_or_empty(root, "summary");
  const std::string source = text_or_empty(root, "source");
  Device& device = profile.device;
  device.name = root.at("name", "the device's name").text();
  device.memory = number_at(root, "memory", "the memory's bandwidth", "memory", source, profile.sources)
                      .above_zero<BytesPerSecond>();
  device.launch = number_at(root, "launch", "the time to start a kernel", "launch", source, profile.sources)
                      .not_negative<Seconds>();
  if (root.find("capacity")) {
    device.capacity =
        number_at(root, "capacity", "a size", "capacity", source, profile.sources).above_zero<Bytes>();
  }
  if (root.find("host_link")) {
    device.host_link = number_at(root, "host_link", "a bandwidth", "host_link", source, profile.sources)
                           .above_zero<BytesPerSecond>();
  }
  if (const auto peer = root.find("peer")) {
    device.peer = read_level(*peer, "peer", source, profile.sources);
  }
  if (const auto nccl = root.find("nccl")) {
    const NcclTopology read = read_nccl_device(*nccl);
    device.architecture = read.architecture;
    device.peers = read.peers;
    profile.sources["nccl"] = text_or_empty(*nccl, "source");
  }
  read_arithmetic(root, source, profile);
  return profile;
}

FabricProfile read_fabric(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "origin", "across", "inside", "workers_per_node",
             "device", "servers", "full_duplex", "algorithms", "tables", "additions", "nccl"});
  check_schema(root);
  FabricProfile profile;
  profile.summary = text_or_empty(root, "summary");
  profile.source = text_or_empty(root, "source");
  profile.fabric.name = root.at("name", "the fabric's name").text();
  if (const auto origin = root.find("origin")) {
    profile.origin = read_origin(*origin);
  }
  const auto across = root.find("across");
  const auto inside = root.find("inside");
  if (!across && !inside) {
    root.fail("has no links", "\"across\", \"inside\" or both");
  }
  if (across) {
    profile.fabric.across = read_level(*across, "across", profile.source, profile.sources);
    read_flows(*across, profile);
  }
  if (inside) {
    if (inside->find("flow") || inside->find("flows")) {
      inside->fail("has connections", "\"flow\" and \"flows\" of \"across\"");
    }
    profile.fabric.inside = read_level(*inside, "inside", profile.source, profile.sources);
    profile.has_inside = true;
  }
  read_shape(root, profile);
  if (const auto tables = root.find("tables")) {
    for (const Json& table : tables->list()) {
      profile.fabric.tables.push_back(read_table(table));
      Table& read = profile.fabric.tables.back();
      read.per_node = std::min(profile.workers_per_node, read.workers);
    }
  }
  if (const auto additions = root.find("additions")) {
    profile.fabric.additions = read_additions(*additions, profile.source);
  }
  if (const auto nccl = root.find("nccl")) {
    profile.fabric.nccl = read_nccl_fabric(*nccl);
    profile.sources["nccl"] = text_or_empty(*nccl, "source");
  }
  return profile;
}

}  // namespace breakeven
