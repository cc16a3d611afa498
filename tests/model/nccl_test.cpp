// Does NCCL's cost model come out as in a re-implementation of NVIDIA/nccl 2.30.7's tuning.cc?
#include "model/nccl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace breakeven {
namespace {

constexpr std::array<double, 6> kSizes = {128.0 * 1024,       1024.0 * 1024,       4.0 * 1024 * 1024,
                                          25.0 * 1024 * 1024, 256.0 * 1024 * 1024, 1024.0 * 1024 * 1024};

struct Cell {
  double microseconds;
  std::string choice;
  double bus;  // GB/s
};
struct Config {
  std::string name;
  NcclTopology topology;
  NcclGroup group;
  std::vector<Cell> cells;
};

NcclTopology nvlink(Architecture architecture, std::size_t channels = 0) {
  return {architecture, PeerLink::nvlink, CpuVendor::intel, channels, {}, true, false};
}

NcclGroup group(std::size_t ranks, std::size_t nodes, double link, double network = 0) {
  return {ranks, nodes, BytesPerSecond::of(link * 1e9), BytesPerSecond::of(network * 1e9)};
}

/// Rings and trees: PeerLink::nvlink leaves NVLS out. The times as printed, one digit behind the point.
std::vector<Config> configs() {
  const std::string ring = "Ring/", tree = "Tree/";
  const std::string ring_ll = ring + "LL", ring_128 = ring + "LL128", ring_s = ring + "Simple";
  const std::string tree_ll = tree + "LL", tree_128 = tree + "LL128", tree_s = tree + "Simple";
  return {
      {"8 V100, 6 channels of 20",
       nvlink(Architecture::volta),
       group(8, 1, 120),
       {{20.9, ring_ll, 11.0},
        {57.2, ring_128, 32.1},
        {107.1, ring_128, 68.5},
        {438.3, ring_s, 104.7},
        {3970.7, ring_s, 118.3},
        {15714.7, ring_s, 119.6}}},
      {"8 A100, 12 channels of 20",
       nvlink(Architecture::ampere),
       group(8, 1, 240),
       {{17.6, ring_ll, 13.0},
        {35.9, ring_ll, 51.1},
        {73.8, ring_128, 99.4},
        {247.1, ring_s, 185.6},
        {2013.3, ring_s, 233.3},
        {7885.4, ring_s, 238.3}}},
      {"8 H100, 12 channels of 30",
       nvlink(Architecture::hopper),
       group(8, 1, 360),
       {{16.6, ring_ll, 13.8},
        {28.0, ring_ll, 65.5},
        {62.8, ring_128, 117.0},
        {179.1, ring_128, 256.1},
        {1360.9, ring_s, 345.2},
        {5275.6, ring_s, 356.2}}},
      {"64 V100 on 8 nodes of 12 GB/s, one channel",
       nvlink(Architecture::volta, 1),
       group(64, 8, 120, 12),
       {{129.1, tree_128, 2.0},
        {455.3, tree_128, 4.5},
        {1030.8, ring_128, 8.0},
        {4957.6, ring_128, 10.4},
        {45152, ring_s, 11.7},
        {177273, ring_s, 11.9}}},
      {"64 H100 on 8 nodes, 16 channels of 24",
       nvlink(Architecture::hopper, 16),
       group(64, 8, 400, 16 * 24),
       {{70.9, tree_ll, 3.6},
        {93.1, tree_128, 22.2},
        {114.2, tree_128, 72.3},
        {258.4, tree_128, 199.7},
        {1703.5, tree_128, 310.2},
        {6227.1, tree_s, 339.5}}},
      {"512 H100 on 64 nodes, 16 channels of 24",
       nvlink(Architecture::hopper, 16),
       group(512, 64, 400, 16 * 24),
       {{100.9, tree_ll, 2.6},
        {144.1, tree_128, 14.5},
        {165.2, tree_128, 50.7},
        {309.4, tree_128, 169.1},
        {1754.5, tree_128, 305.4},
        {6311.1, tree_s, 339.6}}},
  };
}

TEST(Nccl, EveryCellOfTheReferenceComesOut) {
  for (const Config& config : configs()) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      const Cell& cell = config.cells[i];
      const Bytes bytes = Bytes::of(kSizes[i]);
      const auto cost = nccl_cost(config.topology, config.group, Exchange::all_reduce, bytes, true);
      ASSERT_TRUE(cost) << config.name;
      const double printed = cell.microseconds >= 40000 ? 0.5 : 0.05;
      EXPECT_NEAR(cost->time.base() * 1e6, cell.microseconds, printed) << config.name << ", size " << i;
      EXPECT_EQ(std::string(name(cost->algorithm)) + "/" + std::string(name(cost->protocol)), cell.choice)
          << config.name << ", size " << i;
      const BytesPerSecond bus = bus_bandwidth(Exchange::all_reduce, bytes, config.group.ranks, cost->time);
      EXPECT_NEAR(bus.base() * 1e-9, cell.bus, 0.05) << config.name << ", size " << i;
      EXPECT_NEAR((cost->latency + bytes / cost->bandwidth) / cost->time, 1, 1e-12);
    }
  }
}

constexpr double kLarge = 1e9;

NcclTopology switched(Architecture architecture, std::size_t channels = 0) {
  NcclTopology topology = nvlink(architecture, channels);
  topology.peers = PeerLink::nvswitch;
  return topology;
}

NcclCost cost(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, double bytes,
              bool switch_adds = true) {
  return nccl_cost(topology, group, exchange, Bytes::of(bytes), switch_adds).value();
}

TEST(Nccl, SwitchesAddFromHopperOnAndOnlyWhatTheyCanAdd) {
  const NcclGroup node = group(8, 1, 360);
  const NcclCost added = cost(switched(Architecture::hopper), node, Exchange::all_reduce, kLarge);
  EXPECT_EQ(added.algorithm, NcclAlgorithm::nvls);
  // 8 channels of 40 at 85 %, twice 7/8 of that; a ring's 8/14 of it is the tensor's own pace.
  EXPECT_NEAR(added.bandwidth.base(), 8 * 40e9 * 0.85 * 2 * 7 / 8 * 8 / 14, 1);
  EXPECT_NEAR(added.latency.base(), 25e-6, 1e-15);
  EXPECT_EQ(cost(switched(Architecture::hopper), node, Exchange::all_reduce, kLarge, false).algorithm,
            NcclAlgorithm::ring);
  EXPECT_EQ(cost(nvlink(Architecture::hopper), node, Exchange::all_reduce, kLarge).algorithm,
            NcclAlgorithm::ring);
  EXPECT_EQ(cost(switched(Architecture::ampere), node, Exchange::all_reduce, kLarge).algorithm,
            NcclAlgorithm::ring);
}

TEST(Nccl, AcrossNodesNvlsIsATreeUnlessTheNetworkAddsToo) {
  NcclTopology topology = switched(Architecture::hopper, 16);
  const NcclGroup two = group(16, 2, 360, 400);
  const NcclCost tree = cost(topology, two, Exchange::all_reduce, kLarge);
  EXPECT_EQ(tree.algorithm, NcclAlgorithm::nvls_tree);
  EXPECT_NEAR(tree.bandwidth.base(), 8 * 57.7e9 * 16 / 30, 1);  // the ceiling of a channel at two nodes
  EXPECT_NEAR(tree.latency.base(), (25 + 2 * 20.9) * 1e-6, 1e-15);
  EXPECT_NE(cost(topology, two, Exchange::all_reduce, kLarge, false).algorithm, NcclAlgorithm::nvls_tree);
  topology.collnet = true;
  const NcclCost net = cost(topology, group(32, 4, 360, 400), Exchange::all_reduce, 1e6);
  EXPECT_TRUE(net.algorithm == NcclAlgorithm::collnet_direct || net.algorithm == NcclAlgorithm::nvls);
  const NcclAlgorithm custom =
      cost(topology, group(32, 4, 360, 400), Exchange::all_reduce, 1e6, false).algorithm;
  EXPECT_TRUE(custom == NcclAlgorithm::ring || custom == NcclAlgorithm::tree);
}

/// Whether the algorithm is among those that may run.
bool runs(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, NcclAlgorithm algorithm) {
  const std::vector<NcclCost> all = nccl_costs(topology, group, exchange, Bytes::of(kLarge), true);
  return std::any_of(all.begin(), all.end(),
                     [algorithm](const NcclCost& cost) { return cost.algorithm == algorithm; });
}

TEST(Nccl, TheNetworkGathersAndScattersOnlyWithAnAdapterForEachGpu) {
  const NcclGroup nodes = group(32, 4, 360, 400);
  NcclTopology topology = switched(Architecture::hopper);
  topology.collnet = true;
  for (const auto& [channels, enough] : {std::pair{1U, false}, {4U, false}, {8U, true}, {16U, true}}) {
    topology.channels = channels;
    for (const NcclAlgorithm algorithm : {NcclAlgorithm::collnet_direct, NcclAlgorithm::nvls}) {
      EXPECT_EQ(runs(topology, nodes, Exchange::all_gather, algorithm), enough) << channels;
      EXPECT_EQ(runs(topology, nodes, Exchange::reduce_scatter, algorithm), enough) << channels;
      EXPECT_TRUE(runs(topology, nodes, Exchange::all_reduce, algorithm)) << channels;
    }
    // Nine tenths of the network, however many channels there are.
    for (const NcclCost& one : nccl_costs(topology, nodes, Exchange::all_gather, Bytes::of(kLarge), true)) {
      if (one.algorithm == NcclAlgorithm::collnet_direct) {
        EXPECT_NEAR(one.bandwidth.base(), 360e9, 1);
      }
    }
  }
}

TEST(Nccl, TwoNodesSendTheWholeTensorEachWhateverNcclHopesOfNvlsTree) {
  const NcclCost tree =
      cost(switched(Architecture::hopper, 16), group(4, 2, 360, 50), Exchange::all_reduce, kLarge);
  EXPECT_EQ(tree.algorithm, NcclAlgorithm::nvls_tree);
  EXPECT_NEAR(tree.bandwidth.base(), 50e9, 1) << "not 4/3 of it";
}

/// From left to right.
double worked_out(const std::vector<NcclStep>& steps) {
  double value = 0;
  for (const NcclStep& step : steps) {
    switch (step.kind) {
      case NcclStep::Kind::plus:
        value += step.count * step.value;
        break;
      case NcclStep::Kind::times:
        value *= step.value;
        break;
      case NcclStep::Kind::at_most:
        value = std::min(value, step.count * step.value);
    }
  }
  return value;
}

TEST(Nccl, EveryDerivationWorksOutToWhatItExplains) {
  std::size_t told = 0;
  for (const Architecture architecture :
       {Architecture::volta, Architecture::hopper, Architecture::blackwell}) {
    NcclTopology topology = switched(architecture, 8);
    topology.collnet = true;
    topology.latency = Seconds::of(75e-6);
    for (const NcclGroup& ranks :
         {group(8, 1, 360), group(16, 2, 360, 400), group(64, 8, 120, 12), group(6, 6, 0, 12)}) {
      for (const Exchange exchange : {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather}) {
        for (const double bytes : {1e3, 1e6, 1e9}) {
          const auto all = nccl_costs(topology, ranks, exchange, Bytes::of(bytes), true);
          EXPECT_EQ(all.front().time, cost(topology, ranks, exchange, bytes).time);
          for (const NcclCost& one : all) {
            const NcclDerivation how = derivation(topology, ranks, exchange, one);
            EXPECT_NEAR(worked_out(how.latency) * 1e-6 / one.latency.base(), 1, 1e-12) << name(one.algorithm);
            EXPECT_NEAR(worked_out(how.bandwidth) * 1e9 / one.bandwidth.base(), 1, 1e-12)
                << name(one.algorithm);
            EXPECT_GE(one.time, all.front().time);
            ++told;
          }
        }
      }
    }
  }
  EXPECT_GT(told, 300U);
}

TEST(Nccl, PatIsForOneGpuANode) {
  const NcclGroup flat = group(64, 64, 0, 12);
  const NcclCost pat = cost(nvlink(Architecture::ampere, 1), flat, Exchange::all_gather, 1e5);
  EXPECT_EQ(pat.algorithm, NcclAlgorithm::pat);
  EXPECT_NEAR(pat.latency.base(), (8 + 6 * 14 / 3.5 + 2.8 * 64) * 1e-6, 1e-12);
  EXPECT_NEAR(pat.bandwidth.base(), 0.75 * 12e9, 1);
  EXPECT_NE(cost(nvlink(Architecture::ampere, 1), group(64, 8, 240, 12), Exchange::all_gather, 1e5).algorithm,
            NcclAlgorithm::pat);
}

TEST(Nccl, Ll128NeedsNvlinkAndAdaptersBesideTheGpu) {
  const double middle = 4e6;  // where LL128 wins on NVLink
  const NcclGroup node = group(8, 1, 240);
  NcclTopology topology = nvlink(Architecture::ampere, 1);
  EXPECT_EQ(cost(topology, node, Exchange::all_reduce, middle).protocol, NcclProtocol::ll128);
  topology.peers = PeerLink::pcie;
  EXPECT_NE(cost(topology, node, Exchange::all_reduce, middle).protocol, NcclProtocol::ll128);
  topology = nvlink(Architecture::ampere, 1);
  const NcclGroup nodes = group(64, 8, 240, 12);
  EXPECT_EQ(cost(topology, nodes, Exchange::all_reduce, middle).protocol, NcclProtocol::ll128);
  topology.gpudirect = false;
  EXPECT_NE(cost(topology, nodes, Exchange::all_reduce, middle).protocol, NcclProtocol::ll128);
}

TEST(Nccl, AnAmdHostPaysMoreForEverySend) {
  NcclTopology topology = nvlink(Architecture::ampere, 4);
  const NcclGroup nodes = group(64, 8, 240, 50);
  const NcclCost intel = cost(topology, nodes, Exchange::all_gather, 1e9);
  topology.cpu = CpuVendor::amd;
  const NcclCost amd = cost(topology, nodes, Exchange::all_gather, 1e9);
  ASSERT_EQ(intel.algorithm, NcclAlgorithm::ring);
  ASSERT_EQ(amd.protocol, NcclProtocol::simple);
  // 56 of 63 steps stay in the node: 3 x 2 us instead of the link's 3.4.
  EXPECT_NEAR(amd.latency.base() - intel.latency.base(), 56 * (6 - 3.4) * 1e-6, 1e-12);
}

TEST(Nccl, TheDriversLatencyCountsOnceOnEveryCrossingAndTwiceWithAFlush) {
  NcclTopology topology = nvlink(Architecture::ampere, 4);
  const NcclGroup nodes = group(16, 2, 240, 50);
  const NcclCost without = cost(topology, nodes, Exchange::all_reduce, 8);
  topology.latency = Seconds::of(75e-6);
  const NcclCost with = cost(topology, nodes, Exchange::all_reduce, 8);
  EXPECT_EQ(with.algorithm, NcclAlgorithm::tree);
  EXPECT_EQ(with.protocol, NcclProtocol::ll);
  EXPECT_NEAR((with.time - without.time).base(), 2 * 75e-6, 1e-12);
}

TEST(Nccl, SaysNothingWithoutArchitectureOrChannelsOrForAnotherExchange) {
  const Bytes bytes = Bytes::of(1e6);
  const NcclGroup nodes = group(16, 2, 240, 50);
  EXPECT_FALSE(nccl_cost({}, nodes, Exchange::all_reduce, bytes, true));
  EXPECT_FALSE(nccl_cost(nvlink(Architecture::volta), nodes, Exchange::all_reduce, bytes, true));
  EXPECT_FALSE(nccl_cost(nvlink(Architecture::volta, 1), nodes, Exchange::all_to_all, bytes, true));
  EXPECT_FALSE(nccl_cost(nvlink(Architecture::volta, 1), {1, 1, {}, {}}, Exchange::all_reduce, bytes, true));
}

}  // namespace
}  // namespace breakeven
