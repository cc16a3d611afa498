#include "model/nccl.h"

#include <algorithm>
#include <array>

#include "model/nccl_terms.h"

namespace breakeven {
namespace {

using nccl::Call;
using nccl::Row;
using enum NcclAlgorithm;
using enum NcclProtocol;

constexpr std::array<std::string_view, 6> kArchitectures = {"volta", "turing", "ampere",
                                                            "ada",   "hopper", "blackwell"};
constexpr std::array<std::string_view, 3> kPeers = {"pcie", "nvlink", "nvswitch"};
constexpr std::array<std::string_view, 3> kCpus = {"intel", "amd", "arm"};
constexpr std::array<std::string_view, 7> kAlgorithms = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "Simple"};

bool enabled(const Call& c, const NcclTopology& topology, NcclAlgorithm algorithm, bool switch_adds) {
  const bool reduces = c.exchange != Exchange::all_gather;
  const bool nvswitch = topology.peers == PeerLink::nvswitch;
  // Parts that the network gathers or scatters need an adapter for each GPU (collNetHeadsNum).
  const bool collnet = topology.collnet && c.several_nodes() && (c.all_reduce() || c.channels >= c.g);
  switch (algorithm) {
    case ring:
      return true;
    case tree:
      return c.all_reduce();
    case pat:
      return !c.all_reduce() && c.g == 1 && c.several_nodes();
    case collnet_chain:
      return c.all_reduce() && collnet && switch_adds;
    case collnet_direct:
      return collnet && nvswitch && (switch_adds || !reduces);
    default: {  // NVLS: all-gather multicasts
      const bool heads = nvswitch && c.row >= Row::hopper && c.g >= 2 && (switch_adds || !reduces);
      return heads &&
             (algorithm == nvls_tree ? c.all_reduce() && c.several_nodes() : !c.several_nodes() || collnet);
    }
  }
}

bool enabled(const Call& c, const NcclTopology& topology, NcclAlgorithm algorithm, NcclProtocol protocol) {
  if (algorithm != ring && algorithm != tree) {
    return protocol == simple;
  }
  // LL128 rests on 128-byte stores that arrive whole: NVLink, and adapters beside the GPU.
  return protocol != ll128 || ((c.g == 1 || c.nvlink) && (!c.several_nodes() || topology.gpudirect));
}

/// One exchange is one operation: NCCL's latency counts once.
template <class Use>
void for_each_pair(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, Bytes bytes,
                   bool switch_adds, const Use& use) {
  if (!nccl_prices(exchange) || group.ranks <= 1 || missing(topology, group)) {
    return;
  }
  const Call call = nccl::call_of(topology, group, exchange, bytes);
  for (const NcclAlgorithm algorithm : {tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat}) {
    if (!enabled(call, topology, algorithm, switch_adds)) {
      continue;
    }
    for (const NcclProtocol protocol : {ll, ll128, simple}) {
      const double bandwidth =
          enabled(call, topology, algorithm, protocol) ? nccl::bandwidth(call, algorithm, protocol) : 0;
      if (bandwidth > 0) {
        const double latency = nccl::latency(call, algorithm, protocol);
        const double time = latency + call.bytes / (1000 * bandwidth);
        use(NcclCost{algorithm, protocol, bytes, Seconds::of(latency * 1e-6),
                     BytesPerSecond::of(bandwidth * 1e9), Seconds::of(time * 1e-6)});
      }
    }
  }
}

}  // namespace

std::string_view name(Architecture architecture) {
  return kArchitectures[static_cast<std::size_t>(architecture)];
}

std::string_view name(PeerLink peers) {
  return kPeers[static_cast<std::size_t>(peers)];
}

std::string_view name(CpuVendor cpu) {
  return kCpus[static_cast<std::size_t>(cpu)];
}

std::optional<NcclLack> missing(const NcclTopology& topology, const NcclGroup& group) {
  if (!topology.architecture) {
    return NcclLack{"the architecture of the GPUs", "architecture"};
  }
  if (group.per_node() > 1 && !topology.peers) {
    return NcclLack{"what the GPUs of a node reach each other over", "peers"};
  }
  if (group.nodes > 1 && topology.channels == 0) {
    return NcclLack{"the channels across nodes", "channels"};
  }
  return std::nullopt;
}

std::string_view name(NcclAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

std::string_view name(NcclProtocol protocol) {
  return kProtocols[static_cast<std::size_t>(protocol)];
}

bool in_switch(NcclAlgorithm algorithm) {
  return algorithm != tree && algorithm != ring && algorithm != pat;
}

bool nccl_prices(Exchange exchange) {
  return exchange == Exchange::all_reduce || exchange == Exchange::reduce_scatter ||
         exchange == Exchange::all_gather;
}

std::optional<NcclCost> nccl_cost(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                  Bytes bytes, bool switch_adds) {
  std::optional<NcclCost> best;
  for_each_pair(topology, group, exchange, bytes, switch_adds, [&](const NcclCost& cost) {
    if (!best || cost.time < best->time) {
      best = cost;
    }
  });
  return best;
}

std::vector<NcclCost> nccl_costs(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                 Bytes bytes, bool switch_adds) {
  std::vector<NcclCost> all;
  for_each_pair(topology, group, exchange, bytes, switch_adds,
                [&](const NcclCost& cost) { all.push_back(cost); });
  std::stable_sort(all.begin(), all.end(),
                   [](const NcclCost& a, const NcclCost& b) { return a.time < b.time; });
  return all;
}

NcclDerivation derivation(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                          const NcclCost& cost) {
  const Call call = nccl::call_of(topology, group, exchange, cost.bytes);
  NcclDerivation how;
  nccl::latency(call, cost.algorithm, cost.protocol, &how.latency);
  nccl::bandwidth(call, cost.algorithm, cost.protocol, &how.bandwidth);
  return how;
}

BytesPerSecond bus_bandwidth(Exchange exchange, Bytes bytes, std::size_t ranks, Seconds time) {
  const auto n = static_cast<double>(ranks);
  const double factor = (n - 1) / n * (exchange == Exchange::all_reduce ? 2 : 1);
  return bytes * factor / time;
}

}  // namespace breakeven
