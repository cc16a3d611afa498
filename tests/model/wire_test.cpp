// Does any price beat the wire: fewer seconds than what must pass an adapter or a link takes at full speed?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "model/collectives.h"

namespace breakeven {
namespace {

constexpr double kRounding = 1e-9;

/// What must pass, in payloads: a worker's link in its node, and a node's network.
struct Passes {
  double inside = 0, across = 0;
};

/// Whatever the algorithm. Without switches that add, all others' additions to an element travel once and its
/// sum once more.
Passes least(Exchange exchange, const Group& group, std::size_t distance = 0) {
  const auto n = static_cast<double>(group.workers);
  const auto g = static_cast<double>(group.per_node);
  const double m = n / g;
  switch (exchange) {
    case Exchange::all_reduce:
      return {2 * (g - 1) / g, 2 * (m - 1) / m};
    case Exchange::reduce_scatter:
      return {(g - 1) / g, (m - 1) / m};
    case Exchange::all_gather:
      return {g - 1, n - g};
    case Exchange::all_to_all:
      return {(g - 1) / n, g * (n - g) / n};
    case Exchange::tree_step:
      return distance >= group.workers ? Passes{} : distance >= group.per_node ? Passes{0, 1} : Passes{1, 0};
    case Exchange::broadcast:
      return {g > 1 ? 1.0 : 0.0, m > 1 ? 1.0 : 0.0};
    default:
      return {};
  }
}

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const std::size_t nodes : {1U, 2U, 3U, 4U, 7U, 8U, 16U, 64U}) {
    for (const std::size_t per_node : {1U, 2U, 4U, 8U}) {
      if (nodes * per_node > 1) {
        all.push_back({nodes * per_node, per_node});
      }
    }
  }
  return all;
}

/// One that never waits.
Fabric links(double inside, double across) {
  Fabric fabric;
  fabric.inside = {"link", BytesPerSecond::of(inside), {}, 1};
  fabric.across = {"network", BytesPerSecond::of(across), {}, 1};
  return fabric;
}

TEST(Wire, NoAlgorithmBeatsIt) {
  const Bytes payload = 100_MB;
  for (const double inside : {12e9, 240e9}) {
    for (const Group& group : groups()) {
      for (int i = 0; i <= static_cast<int>(Algorithm::byteps); ++i) {
        const auto algorithm = static_cast<Algorithm>(i);
        for (const std::size_t servers : {std::size_t{0}, std::size_t{1}, group.nodes()}) {
          for (const Exchange exchange :
               {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather, Exchange::all_to_all,
                Exchange::tree_step, Exchange::broadcast}) {
            for (const std::size_t distance : {1U, 4U, 8U}) {
              Fabric fabric = links(inside, 25e9);
              fabric.servers = servers;
              Passes passes = least(exchange, group, distance);
              const Transfer done =
                  transfer(fabric, exchange, payload, group, algorithm, std::nullopt, distance);
              if (done.algorithm == Algorithm::parameter_server || done.algorithm == Algorithm::byteps) {
                // Servers add for the workers: these send once, past their neighbours.
                passes = {0, servers > 0 ? 1 : passes.across};
              }
              const double wire = std::max(passes.inside * (payload / fabric.inside.bandwidth).base(),
                                           passes.across * (payload / fabric.across.bandwidth).base());
              EXPECT_GE(done.time.base(), wire * (1 - kRounding))
                  << name(exchange) << " by " << name(algorithm) << " among " << group.workers
                  << " on nodes of " << group.per_node << ", " << servers << " servers";
            }
          }
        }
      }
    }
  }
}

/// NCCL counts the whole tensor of an all-gather.
Passes least_of_nccl(const NcclCost& cost, Exchange exchange, const Group& group) {
  Passes passes = least(exchange, group);
  if (exchange == Exchange::all_gather) {
    const auto n = static_cast<double>(group.workers);
    return {passes.inside / n, passes.across / n};
  }
  if (exchange == Exchange::all_reduce && cost.algorithm >= NcclAlgorithm::collnet_direct) {
    // Switches that add: each worker (node) sends what it has once and is sent the sum.
    const bool nvls = cost.algorithm == NcclAlgorithm::nvls || cost.algorithm == NcclAlgorithm::nvls_tree;
    passes.inside /= nvls ? 2 : 1;
    passes.across = cost.algorithm == NcclAlgorithm::nvls_tree || group.nodes() == 1 ? passes.across : 1;
  }
  return passes;
}

TEST(Wire, NoAlgorithmAndProtocolOfNcclBeatsIt) {
  std::array<int, 7> seen{};
  for (const Architecture architecture :
       {Architecture::volta, Architecture::ampere, Architecture::hopper, Architecture::blackwell}) {
    for (const PeerLink peers : {PeerLink::pcie, PeerLink::nvlink, PeerLink::nvswitch}) {
      for (const std::size_t channels : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
        const NcclTopology topology{architecture, peers, CpuVendor::amd, channels, {}, true, true};
        for (const Group& group : groups()) {
          for (const double network : {1.25e9, 50e9, 400e9}) {
            const NcclGroup ranks{group.workers, group.nodes(), BytesPerSecond::of(240e9),
                                  BytesPerSecond::of(network)};
            for (const Exchange exchange :
                 {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather}) {
              for (const double bytes : {1e3, 1e6, 1e9}) {
                for (const NcclCost& cost : nccl_costs(topology, ranks, exchange, Bytes::of(bytes), true)) {
                  ++seen[static_cast<std::size_t>(cost.algorithm)];
                  const Passes passes = least_of_nccl(cost, exchange, group);
                  const double wire = bytes * std::max(passes.inside / 240e9, passes.across / network);
                  // Without the latency, which would hide it.
                  ASSERT_GE((cost.time - cost.latency).base(), wire * (1 - kRounding))
                      << name(exchange) << " by " << name(cost.algorithm) << "/" << name(cost.protocol)
                      << " among " << group.workers << " on nodes of " << group.per_node << ", " << channels
                      << " channels, " << name(architecture);
                }
              }
            }
          }
        }
      }
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_GT(seen[i], 0) << name(static_cast<NcclAlgorithm>(i)) << " was never asked about";
  }
}

TEST(Wire, ATableThatEndsOnEqualTimesDoesNotBeatItBeyond) {
  Fabric fabric = links(240e9, 12.5e9);
  const Group group{16, 8};
  for (const Exchange exchange :
       {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather, Exchange::all_to_all}) {
    fabric.tables = {{exchange, 16, 8, {{1_MiB, 1_ms}, {2_MiB, 1_ms}}}};
    const Bytes large = Bytes::of(1e12);
    const Transfer beyond = transfer(fabric, exchange, large, group);
    EXPECT_TRUE(beyond.extrapolated);
    const double passes = least(exchange, group).across / (exchange == Exchange::all_reduce ? 2 : 1);
    EXPECT_GE(beyond.time.base(), passes * (large / fabric.across.bandwidth).base() * (1 - kRounding))
        << name(exchange);
    EXPECT_EQ(transfer(fabric, exchange, 2_MiB, group).time, 1_ms) << "what was measured stands";
    Fabric table_alone;
    table_alone.tables = fabric.tables;
    EXPECT_EQ(transfer(table_alone, exchange, large, group).time, 1_ms) << "no link is stated";
  }
}

}  // namespace
}  // namespace breakeven
