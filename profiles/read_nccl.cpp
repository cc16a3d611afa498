// Reads what NCCL's cost model asks about a device or a fabric.
#include <string>
#include <vector>

#include "profiles/read_fields.h"

namespace breakeven {
namespace {

/// The value of an enumeration whose names name() knows, from 0 to `last`.
template <class E>
std::optional<E> read_named(const Json& object, std::string_view key, E last) {
  const auto json = object.find(key);
  if (!json) {
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    names.emplace_back(name(static_cast<E>(i)));
  }
  return static_cast<E>(read_choice(*json, names, key));
}

void read_gpus(const Json& json, NcclTopology& topology) {
  topology.architecture = read_named(json, "architecture", Architecture::blackwell);
  topology.peers = read_named(json, "peers", PeerLink::nvswitch);
}

}  // namespace

NcclTopology read_nccl_device(const Json& json) {
  json.only({"architecture", "peers", "source"});
  NcclTopology topology;
  read_gpus(json, topology);
  return topology;
}

NcclTopology read_nccl_fabric(const Json& json) {
  json.only({"architecture", "peers", "cpu", "channels", "latency", "gpudirect", "collnet", "source"});
  NcclTopology topology;
  read_gpus(json, topology);
  topology.cpu = read_named(json, "cpu", CpuVendor::arm).value_or(CpuVendor::intel);
  if (const auto channels = json.find("channels")) {
    constexpr std::size_t kMost = 64;  // MAXCHANNELS of NVIDIA/nccl
    topology.channels = channels->count();
    if (topology.channels < 1 || topology.channels > kMost) {
      channels->fail(channels->scalar() + " channels", "1 to " + std::to_string(kMost));
    }
  }
  if (const auto latency = json.find("latency")) {
    topology.latency = latency->not_negative<Seconds>();
  }
  if (const auto direct = json.find("gpudirect")) {
    topology.gpudirect = direct->flag();
  }
  if (const auto collnet = json.find("collnet")) {
    topology.collnet = collnet->flag();
  }
  return topology;
}

}  // namespace breakeven
