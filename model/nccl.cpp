#include "model/nccl.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/nccl_tables.h"

namespace breakeven {
namespace {

using nccl::Hardware;
using nccl::Row;
using enum NcclAlgorithm;
using enum NcclProtocol;

/// One call, in NCCL's units: microseconds and GB/s.
struct Call {
  Exchange exchange;
  Row row;
  double n, m, g;
  double steps;  // of a ring
  std::size_t nodes;
  double channels;
  double link, network;  // of a GPU inside the node, of a node
  bool nvlink, amd, x86, gpudirect;
  double net_latency;
  double bytes;

  [[nodiscard]] bool several_nodes() const { return m > 1; }
  [[nodiscard]] bool all_reduce() const { return exchange == Exchange::all_reduce; }
};

constexpr std::array<std::string_view, 6> kArchitectures = {"volta", "turing", "ampere",
                                                            "ada",   "hopper", "blackwell"};
constexpr std::array<std::string_view, 3> kPeers = {"pcie", "nvlink", "nvswitch"};
constexpr std::array<std::string_view, 3> kCpus = {"intel", "amd", "arm"};
constexpr std::array<std::string_view, 7> kAlgorithms = {
    "Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"};
constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "Simple"};

Call call_of(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, Bytes bytes) {
  Call c{};
  c.exchange = exchange;
  c.row = nccl::row_of(*topology.architecture);
  c.nodes = group.nodes;
  c.n = static_cast<double>(group.ranks);
  c.m = static_cast<double>(group.nodes);
  c.g = static_cast<double>(group.per_node());
  c.steps = c.all_reduce() ? 2 * (c.n - 1) : c.n - 1;
  c.link = group.link.base() * 1e-9;
  c.network = group.network.base() * 1e-9;
  c.channels = c.several_nodes() ? static_cast<double>(topology.channels)
                                 : std::max(1.0, std::floor(c.link / nccl::ring_channel(c.row)));
  c.nvlink = topology.peers.value_or(PeerLink::pcie) != PeerLink::pcie;
  c.amd = topology.cpu == CpuVendor::amd;
  c.x86 = topology.cpu != CpuVendor::arm;
  c.gpudirect = topology.gpudirect;
  c.net_latency = topology.latency.base() * 1e6;
  c.bytes = bytes.base();
  return c;
}

/// Of all channels together. The search gives rings one speed everywhere; trees up to twice the network's
/// inside the node (search.cc), which counts where the model looks at the inner speed: up to two nodes.
double bus(const Call& c, double inner) {
  if (!c.several_nodes()) {
    return c.link;
  }
  return c.g > 1 ? std::min(c.link, inner * c.network) : inner * c.network;
}

double ring_bandwidth(const Call& c, NcclProtocol protocol, double max_ll) {
  double bandwidth = bus(c, 1);
  if (protocol == ll) {
    bandwidth = std::min(max_ll, bandwidth / 2);
  } else if (protocol == ll128) {
    bandwidth = std::min(0.92 * bandwidth, c.channels * nccl::max_ring_ll128(c.row));
  }
  return bandwidth * c.n / c.steps;
}

double tree_bandwidth(const Call& c, NcclProtocol protocol, double max_ll) {
  double bandwidth =
      std::min(0.92 * bus(c, c.nodes <= 2 ? 2 : 1), c.channels * nccl::max_tree(c.row, c.nodes));
  if (protocol == ll) {
    bandwidth = std::min(bandwidth / 3.8, max_ll);
  } else if (protocol == ll128) {
    bandwidth = std::min(bandwidth * (c.several_nodes() ? 120.0 / 128 : 7.0 / 9),
                         c.channels * nccl::max_tree_ll128(c.row, c.nodes));
  }
  return bandwidth / 2 * nccl::tree_correction(protocol, c.bytes);
}

/// A channel a GPU of the node, each at what the search finds for it.
double nvls_bandwidth(const Call& c, NcclAlgorithm algorithm) {
  double channel = nccl::channel_speed(c.row, c.several_nodes(), c.link / c.g) *
                   nccl::nvls_efficiency(c.row) * (c.g - 1) / c.g;
  channel *= c.all_reduce() ? 2 : (c.g - 1) / c.g;
  if (c.several_nodes()) {
    const bool tree_of_two = algorithm == nvls_tree && c.nodes == 2;
    channel = std::min(channel, c.network / c.g * (tree_of_two ? 2 : 1));
  }
  if (algorithm == nvls_tree) {
    channel = std::min(channel, nccl::max_nvls_tree(c.row, c.nodes));
  }
  const bool corrected = algorithm == nvls_tree && c.row == Row::blackwell && c.x86;
  return c.g * channel * (c.all_reduce() ? c.n / c.steps : 1) *
         (corrected ? nccl::tree_correction(simple, c.bytes) : 1);
}

double collnet_bandwidth(const Call& c, NcclAlgorithm algorithm) {
  const double inner = bus(c, 2);
  if (algorithm == collnet_chain) {
    return inner / 2;
  }
  if (!c.all_reduce()) {
    return c.g * std::min(inner, 0.9 * c.network) / c.channels;
  }
  const double gpus = c.g / c.channels;  // a network adapter
  return inner / (gpus - (gpus - 1) / 2) * (c.row >= Row::hopper ? 0.85 : 1) / 2;
}

double bandwidth_of(const Call& c, NcclAlgorithm algorithm, NcclProtocol protocol) {
  // Inside a node the GPU's ceiling counts, across nodes the CPU's: AMD stands in the row of Ampere.
  const Row row = !c.several_nodes() ? c.row : c.amd ? Row::ampere : Row::volta;
  const double max_ll = nccl::max_ll(row, c.nodes);
  switch (algorithm) {
    case ring:
      return ring_bandwidth(c, protocol, max_ll);
    case tree:
      return tree_bandwidth(c, protocol, max_ll);
    case nvls:
    case nvls_tree:
      return nvls_bandwidth(c, algorithm);
    case pat:
      return 0.75 * bus(c, 1);
    default:
      return collnet_bandwidth(c, algorithm);
  }
}

double ring_latency(const Call& c, NcclProtocol protocol, double inside, double across) {
  const double crossing = !c.several_nodes() ? 0 : c.all_reduce() ? 2 * (c.m - 1) : c.m - 1;
  if (c.several_nodes()) {
    const double post = (c.amd ? 2 : 1) * (protocol == simple ? 3 : 1);  // what a network send costs the CPU
    inside = std::max(inside, post);
  }
  const double latency =
      nccl::base_latency(ring, protocol) + (c.steps - crossing) * inside + crossing * across;
  const bool plateau =
      protocol == simple && c.several_nodes() && c.all_reduce() && c.bytes / (c.channels * c.n) >= 64;
  return latency * (!plateau ? 1 : c.row == Row::volta ? 1.9 : 1.4);
}

double latency_of(const Call& c, NcclAlgorithm algorithm, NcclProtocol protocol) {
  const double inside =
      nccl::hardware_latency(c.nvlink ? Hardware::nvlink : Hardware::pci, algorithm, protocol);
  // Simple also flushes. With one GPU a node every algorithm is entered with the tree's figure.
  const double across = nccl::hardware_latency(Hardware::net, c.g == 1 ? tree : algorithm, protocol) +
                        c.net_latency * (protocol == simple ? 2 : 1);
  const double base = nccl::base_latency(algorithm, protocol);
  const double peers = c.g - 1;
  const double levels = std::floor(std::log2(c.m));
  switch (algorithm) {
    case ring:
      return ring_latency(c, protocol, inside, across);
    case tree:
      return base + 2 * (peers * inside + levels * across);
    case collnet_direct:
      return base + 2 * (std::min(1.0, peers) * inside + 0.4 * peers) + across;
    case collnet_chain:
      return base + 2 * peers * inside + across;
    case nvls:
      return inside + (c.several_nodes() ? across : 0);
    case nvls_tree:
      return base + inside + 2 * levels * across;
    default:
      return base + levels * across / 3.5 + 2.8 * c.n;
  }
}

bool enabled(const Call& c, const NcclTopology& topology, NcclAlgorithm algorithm, bool switch_adds) {
  const bool reduces = c.exchange != Exchange::all_gather;
  const bool nvswitch = topology.peers == PeerLink::nvswitch;
  switch (algorithm) {
    case ring:
      return true;
    case tree:
      return c.all_reduce();
    case pat:
      return !c.all_reduce() && c.g == 1 && c.several_nodes();
    case collnet_chain:
      return c.all_reduce() && topology.collnet && c.several_nodes() && switch_adds;
    case collnet_direct:
      return topology.collnet && c.several_nodes() && nvswitch && (switch_adds || !reduces);
    default: {  // NVLS: all-gather multicasts
      const bool heads = nvswitch && c.row >= Row::hopper && c.g >= 2 && (switch_adds || !reduces);
      return heads && (algorithm == nvls_tree ? c.all_reduce() && c.several_nodes()
                                              : !c.several_nodes() || topology.collnet);
    }
  }
}

bool enabled(const Call& c, NcclAlgorithm algorithm, NcclProtocol protocol) {
  if (algorithm != ring && algorithm != tree) {
    return protocol == simple;
  }
  // LL128 rests on 128-byte stores that arrive whole: NVLink, and adapters beside the GPU.
  return protocol != ll128 || ((c.g == 1 || c.nvlink) && (!c.several_nodes() || c.gpudirect));
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

std::string missing(const NcclTopology& topology, const NcclGroup& group) {
  if (!topology.architecture) {
    return "the architecture of the GPUs";
  }
  if (group.per_node() > 1 && !topology.peers) {
    return "what the GPUs of a node reach each other over";
  }
  return group.nodes > 1 && topology.channels == 0 ? "the channels across nodes" : "";
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

std::optional<NcclCost> nccl_cost(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                  Bytes bytes, bool switch_adds) {
  const bool known = exchange == Exchange::all_reduce || exchange == Exchange::reduce_scatter ||
                     exchange == Exchange::all_gather;
  if (!known || group.ranks <= 1 || !missing(topology, group).empty()) {
    return std::nullopt;
  }
  const Call call = call_of(topology, group, exchange, bytes);
  std::optional<NcclCost> best;
  for (const NcclAlgorithm algorithm : {tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat}) {
    if (!enabled(call, topology, algorithm, switch_adds)) {
      continue;
    }
    for (const NcclProtocol protocol : {ll, ll128, simple}) {
      if (!enabled(call, algorithm, protocol)) {
        continue;
      }
      // One exchange is one operation: NCCL's latency counts once.
      const double latency = latency_of(call, algorithm, protocol);
      const double bandwidth = bandwidth_of(call, algorithm, protocol);
      const double time = latency + (call.bytes > 0 ? call.bytes / (1000 * bandwidth) : 0);
      if (bandwidth > 0 && (!best || time < best->time.base() * 1e6)) {
        best = {algorithm,
                protocol,
                bytes,
                Seconds::of(latency * 1e-6),
                BytesPerSecond::of(bandwidth * 1e9),
                Seconds::of(time * 1e-6)};
      }
    }
  }
  return best;
}

BytesPerSecond bus_bandwidth(Exchange exchange, Bytes bytes, std::size_t ranks, Seconds time) {
  const auto n = static_cast<double>(ranks);
  const double factor = (n - 1) / n * (exchange == Exchange::all_reduce ? 2 : 1);
  return bytes * factor / time;
}

}  // namespace breakeven
