#include "model/nccl_terms.h"

#include <algorithm>
#include <cmath>

namespace breakeven::nccl {
namespace {

using enum NcclAlgorithm;
using enum NcclProtocol;

constexpr double kMostChannels = 64;  // MAXCHANNELS of NVIDIA/nccl

/// A number that is made step by step; where there are steps to write to, they tell how.
class Figure {
 public:
  explicit Figure(std::vector<NcclStep>* steps) : steps_(steps) {}

  void plus(double count, double value, std::string_view what) {
    value_ += count * value;
    tell(NcclStep::Kind::plus, count, value, what, count * value != 0);
  }
  void times(double factor, std::string_view what) {
    value_ *= factor;
    tell(NcclStep::Kind::times, 1, factor, what, factor != 1);
  }
  void at_most(double count, double value, std::string_view what) {
    tell(NcclStep::Kind::at_most, count, value, what, count * value < value_);
    value_ = std::min(value_, count * value);
  }
  [[nodiscard]] double value() const { return value_; }

 private:
  void tell(NcclStep::Kind kind, double count, double value, std::string_view what, bool matters) {
    if (steps_ != nullptr && matters) {
      steps_->push_back({kind, count, value, what});
    }
  }

  double value_ = 0;
  std::vector<NcclStep>* steps_;
};

/// All channels. The search gives rings one speed everywhere; trees up to twice the network's inside the node
/// (search.cc), which counts where the model looks at the inner speed: up to two nodes.
void add_channels(Figure& figure, const Call& c, double inner) {
  const double network = inner * c.network;
  const double all = !c.several_nodes() ? c.link : c.g > 1 ? std::min(c.link, network) : network;
  figure.plus(c.channels, all / c.channels, "channels");
}

/// Inside a node the GPU's ceiling counts, across nodes the CPU's: AMD stands in the row of Ampere.
double ceiling_of_ll(const Call& c) {
  const Row row = !c.several_nodes() ? c.row : c.amd ? Row::ampere : Row::volta;
  return max_ll(row, c.nodes);
}

void ring_bandwidth(Figure& figure, const Call& c, NcclProtocol protocol) {
  add_channels(figure, c, 1);
  if (protocol == ll) {
    figure.times(0.5, "LL");
    figure.at_most(1, ceiling_of_ll(c), "LL");
  } else if (protocol == ll128) {
    figure.times(0.92, "LL128");
    figure.at_most(c.channels, max_ring_ll128(c.row), "LL128");
  }
  figure.times(c.n / c.steps, "ranks a step");
}

void tree_bandwidth(Figure& figure, const Call& c, NcclProtocol protocol) {
  add_channels(figure, c, c.nodes <= 2 ? 2 : 1);
  figure.times(0.92, "trees");
  figure.at_most(c.channels, max_tree(c.row, c.nodes), "trees");
  if (protocol == ll) {
    figure.times(1 / 3.8, "LL");
    figure.at_most(1, ceiling_of_ll(c), "LL");
  } else if (protocol == ll128) {
    figure.times(c.several_nodes() ? 120.0 / 128 : 7.0 / 9, "LL128");
    figure.at_most(c.channels, max_tree_ll128(c.row, c.nodes), "LL128");
  }
  figure.times(0.5, "up and down");
  figure.times(tree_correction(protocol, c.bytes), "trees at this size");
}

/// A channel a GPU of the node, each at what the search finds for it.
void nvls_bandwidth(Figure& figure, const Call& c, NcclAlgorithm algorithm) {
  figure.plus(c.g, channel_speed(c.row, c.several_nodes(), c.link / c.g), "channels");
  figure.times(nvls_efficiency(c.row), "the switch's efficiency");
  figure.times((c.g - 1) / c.g, "peers");
  figure.times(c.all_reduce() ? 2 : (c.g - 1) / c.g, c.all_reduce() ? "adds and spreads" : "peers");
  if (c.several_nodes()) {
    const bool tree_of_two = algorithm == nvls_tree && c.nodes == 2;
    figure.at_most(c.g, c.network / c.g * (tree_of_two ? 2 : 1), "the network");
  }
  if (algorithm == nvls_tree) {
    figure.at_most(c.g, max_nvls_tree(c.row, c.nodes), "NVLSTree");
  }
  if (c.all_reduce()) {
    figure.times(c.n / c.steps, "ranks a step");
  }
  if (algorithm == nvls_tree && c.row == Row::blackwell && c.x86) {
    figure.times(tree_correction(simple, c.bytes), "trees at this size");
  }
}

void collnet_bandwidth(Figure& figure, const Call& c, NcclAlgorithm algorithm) {
  add_channels(figure, c, 2);
  if (algorithm == collnet_chain) {
    figure.times(0.5, "up and down");
  } else if (c.all_reduce()) {
    // A channel begins and ends at a GPU beside an adapter: more of them than GPUs change nothing.
    const double gpus = std::max(1.0, c.g / c.channels);
    figure.times(1 / (gpus - (gpus - 1) / 2), "GPUs an adapter");
    figure.times(c.row >= Row::hopper ? 0.85 : 1, "since Hopper");
    figure.times(0.5, "up and down");
  } else {
    figure.at_most(0.9, c.network, "the network");  // an adapter a GPU: enabled() sees to it
  }
}

/// Every node sends and receives what the others' sums need, once; half of an all-reduce's where the network
/// adds. NCCL's own figure of NVLSTree on two nodes is above that by n/(n-1).
void keep_to_the_wire(Figure& figure, const Call& c, NcclAlgorithm algorithm) {
  if (!c.several_nodes()) {
    return;
  }
  const bool network_adds = algorithm == collnet_direct || algorithm == collnet_chain || algorithm == nvls;
  const double others = (c.m - 1) / c.m;
  const double passes = !c.all_reduce() ? others : network_adds ? 1 : 2 * others;
  figure.at_most(1 / passes, c.network, "what must cross the network");
}

void ring_latency(Figure& figure, const Call& c, NcclProtocol protocol, double inside, double across) {
  const double crossing = !c.several_nodes() ? 0 : c.all_reduce() ? 2 * (c.m - 1) : c.m - 1;
  if (c.several_nodes()) {
    const double post = (c.amd ? 2 : 1) * (protocol == simple ? 3 : 1);  // what a network send costs the CPU
    inside = std::max(inside, post);
  }
  figure.plus(1, base_latency(ring, protocol), "base");
  figure.plus(c.steps - crossing, inside, "inside");
  figure.plus(crossing, across, "across");
  if (protocol == simple && c.several_nodes() && c.all_reduce() && c.bytes / (c.channels * c.n) >= 64) {
    figure.times(c.row == Row::volta ? 1.9 : 1.4, "plateau of rings");
  }
}

}  // namespace

Call call_of(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, Bytes bytes) {
  Call c{};
  c.exchange = exchange;
  c.row = row_of(*topology.architecture);
  c.nodes = group.nodes;
  c.n = static_cast<double>(group.ranks);
  c.m = static_cast<double>(group.nodes);
  c.g = static_cast<double>(group.per_node());
  c.steps = c.all_reduce() ? 2 * (c.n - 1) : c.n - 1;
  c.link = group.link.base() * 1e-9;
  c.network = group.network.base() * 1e-9;
  c.channels = c.several_nodes() ? static_cast<double>(topology.channels)
                                 : std::clamp(std::floor(c.link / ring_channel(c.row)), 1.0, kMostChannels);
  c.nvlink = topology.peers.value_or(PeerLink::pcie) != PeerLink::pcie;
  c.amd = topology.cpu == CpuVendor::amd;
  c.x86 = topology.cpu != CpuVendor::arm;
  c.net_latency = topology.latency.base() * 1e6;
  c.bytes = bytes.base();
  return c;
}

double bandwidth(const Call& c, NcclAlgorithm algorithm, NcclProtocol protocol,
                 std::vector<NcclStep>* steps) {
  Figure figure(steps);
  switch (algorithm) {
    case ring:
      ring_bandwidth(figure, c, protocol);
      break;
    case tree:
      tree_bandwidth(figure, c, protocol);
      break;
    case nvls:
    case nvls_tree:
      nvls_bandwidth(figure, c, algorithm);
      break;
    case pat:
      add_channels(figure, c, 1);
      figure.times(0.75, "PAT");
      break;
    default:
      collnet_bandwidth(figure, c, algorithm);
  }
  keep_to_the_wire(figure, c, algorithm);
  return figure.value();
}

double latency(const Call& c, NcclAlgorithm algorithm, NcclProtocol protocol, std::vector<NcclStep>* steps) {
  const double inside = hardware_latency(c.nvlink ? Hardware::nvlink : Hardware::pci, algorithm, protocol);
  // Simple also flushes. With one GPU a node every algorithm is entered with the tree's figure.
  const double across = hardware_latency(Hardware::net, c.g == 1 ? tree : algorithm, protocol) +
                        c.net_latency * (protocol == simple ? 2 : 1);
  const double peers = c.g - 1;
  const double levels = std::floor(std::log2(c.m));
  Figure figure(steps);
  if (algorithm == ring) {
    ring_latency(figure, c, protocol, inside, across);
    return figure.value();
  }
  figure.plus(1, base_latency(algorithm, protocol), "base");
  switch (algorithm) {
    case tree:
      figure.plus(2 * peers, inside, "inside");
      figure.plus(2 * levels, across, "across");
      break;
    case collnet_direct:
      figure.plus(2 * std::min(1.0, peers), inside, "inside");
      figure.plus(2 * peers, 0.4, "peers");
      figure.plus(1, across, "across");
      break;
    case collnet_chain:
      figure.plus(2 * peers, inside, "inside");
      figure.plus(1, across, "across");
      break;
    case nvls:
      figure.plus(1, inside, "inside");
      figure.plus(c.several_nodes() ? 1 : 0, across, "across");
      break;
    case nvls_tree:
      figure.plus(1, inside, "inside");
      figure.plus(2 * levels, across, "across");
      break;
    default:  // PAT
      figure.plus(levels, across / 3.5, "across");
      figure.plus(c.n, 2.8, "ranks");
  }
  return figure.value();
}

}  // namespace breakeven::nccl
