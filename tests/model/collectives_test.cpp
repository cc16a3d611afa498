// Does each collective cost what its table says? Hand sums at 1, 2, 3, 8 and 17 workers, flat and in nodes.
#include "model/collectives.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/error.h"

namespace breakeven {
namespace {

constexpr double kAlpha = 50e-6;
constexpr double kSize = 1e8;
constexpr double kWire = 1.25e9;

Fabric flat() {
  Fabric fabric;
  fabric.across = {"network", BytesPerSecond::of(kWire), Seconds::of(kAlpha), 1};
  fabric.inside = {"link", BytesPerSecond::of(kWire * 80), Seconds::of(kAlpha / 10), 1};
  return fabric;
}

double seconds(const Fabric& fabric, Exchange exchange, Algorithm algorithm, Group group,
               double size = kSize) {
  return transfer(fabric, exchange, Bytes::of(size), group, algorithm).time.base();
}

TEST(Collectives, FlatFormsEqualTheirTextbookSums) {
  const Fabric fabric = flat();
  const double pass = kSize / kWire;
  for (const std::size_t workers : {2U, 3U, 8U, 17U}) {
    const Group group{workers, 1};
    const auto n = static_cast<double>(workers);
    const double lg = std::ceil(std::log2(n));
    EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::ring, group),
                2 * (n - 1) * kAlpha + 2 * (n - 1) / n * pass, 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::tree, group), 2 * lg * (kAlpha + pass),
                1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::recursive_doubling, group),
                lg * (kAlpha + pass), 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::halving_doubling, group),
                2 * lg * kAlpha + 2 * (n - 1) / n * pass, 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::double_tree, group),
                2 * std::floor(std::log2(n)) * kAlpha + (workers > 2 ? 2 : 1) * pass, 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::ring, group), (n - 1) * (kAlpha + pass),
                1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::recursive_doubling, group),
                lg * kAlpha + (n - 1) * pass, 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::reduce_scatter, Algorithm::ring, group),
                (n - 1) * kAlpha + (n - 1) / n * pass, 1e-12);
    EXPECT_NEAR(seconds(fabric, Exchange::all_to_all, Algorithm::direct, group),
                (n - 1) * kAlpha + (n - 1) / n * pass, 1e-12);
  }
}

TEST(Collectives, NcclPricesEveryMessageAtItsOwnSize) {
  Fabric fabric = flat();
  fabric.nccl = {Architecture::ampere, PeerLink::nvlink, CpuVendor::intel, 1, {}, true, false};
  const Group group{64, 8};
  const auto choice = [&](Exchange exchange, double size) {
    return transfer(fabric, exchange, Bytes::of(size), group, Algorithm::nccl).nccl;
  };
  ASSERT_TRUE(choice(Exchange::all_reduce, 1e9));
  EXPECT_EQ(choice(Exchange::all_reduce, 1e9)->algorithm, NcclAlgorithm::ring);
  EXPECT_EQ(choice(Exchange::all_reduce, 1e3)->algorithm, NcclAlgorithm::tree);
  EXPECT_EQ(choice(Exchange::all_gather, 1e6)->bytes, Bytes::of(64e6)) << "the parts of all";
  EXPECT_EQ(choice(Exchange::reduce_scatter, 1e6)->bytes, Bytes::of(1e6));
  for (const Exchange exchange : {Exchange::all_to_all, Exchange::push_pull}) {
    const Transfer other = transfer(fabric, exchange, Bytes::of(1e6), group, Algorithm::nccl);
    EXPECT_FALSE(other.nccl);
    EXPECT_EQ(other.time, transfer(fabric, exchange, Bytes::of(1e6), group).time);
  }
  fabric.nccl.channels = 0;
  EXPECT_THROW(choice(Exchange::all_reduce, 1e3), Error);
}

TEST(Collectives, WhatSwitchesAddIsSentOnceAndIntegersAreNotAdded) {
  Fabric fabric = flat();
  fabric.inside.bandwidth = BytesPerSecond::of(360e9);
  fabric.nccl = {Architecture::hopper, PeerLink::nvswitch, CpuVendor::intel, 16, {}, true, false};
  const auto priced = [&](Element element) {
    return transfer(fabric, Exchange::all_reduce, Bytes::of(1e9), {8, 8}, Algorithm::nccl, {}, 0, element);
  };
  for (const Element element : {Element::f32, Element::f16, Element::bf16}) {
    EXPECT_EQ(priced(element).nccl->algorithm, NcclAlgorithm::nvls);
    EXPECT_EQ(priced(element).wire, Bytes::of(1e9));
  }
  for (const Element element : {Element::i32, Element::bytes}) {
    EXPECT_EQ(priced(element).nccl->algorithm, NcclAlgorithm::ring);
    EXPECT_NEAR(priced(element).wire.base(), 2 * 7 / 8.0 * 1e9, 1);
  }
}

TEST(Collectives, ABroadcastIsABinomialTreeAcrossNodesThenInside) {
  const double pass = kSize / kWire;
  for (const std::size_t workers : {2U, 3U, 8U, 17U}) {
    const double lg = std::ceil(std::log2(workers));
    EXPECT_NEAR(seconds(flat(), Exchange::broadcast, Algorithm::automatic, {workers, 1}),
                lg * (kAlpha + pass), 1e-12);
  }
  EXPECT_NEAR(seconds(flat(), Exchange::broadcast, Algorithm::automatic, {24, 8}),
              2 * (kAlpha + pass) + 3 * (kAlpha / 10 + pass / 80), 1e-12);
  const Transfer done = transfer(flat(), Exchange::broadcast, Bytes::of(kSize), {24, 8}, Algorithm::ring);
  EXPECT_EQ(done.algorithm, Algorithm::tree);
  EXPECT_NEAR(done.wire.base(), kSize * 23 / 24, 1e-6);
}

TEST(Collectives, ATreeStepIsOneMessageOverTheLevelItCrosses) {
  const double inside = kAlpha / 10 + kSize / kWire / 80, across = kAlpha + kSize / kWire;
  const auto step = [](Group group, std::size_t distance) {
    return transfer(flat(), Exchange::tree_step, Bytes::of(kSize), group, Algorithm::automatic, {}, distance);
  };
  for (const std::size_t distance : {1U, 2U, 4U}) {
    EXPECT_NEAR(step({32, 8}, distance).time.base(), inside, 1e-12) << distance;
    EXPECT_NEAR(step({32, 1}, distance).time.base(), across, 1e-12) << distance;
    EXPECT_NEAR(step({8, 8}, distance).time.base(), inside, 1e-12) << distance;
  }
  EXPECT_NEAR(step({32, 8}, 8).time.base(), across, 1e-12);
  EXPECT_NEAR(step({32, 8}, 16).time.base(), across, 1e-12);
  EXPECT_EQ(step({32, 8}, 32).time, Seconds{});  // nobody is so far away
  // Of nodes of 6: workers 2, 6, 10 send to 0, 4, 8, and 4 is on another node than 6. Of nodes of 3, 1 sends
  // to 0 and 3 to 2.
  EXPECT_NEAR(step({12, 6}, 1).time.base(), inside, 1e-12);
  EXPECT_NEAR(step({12, 6}, 2).time.base(), across, 1e-12);
  EXPECT_NEAR(step({6, 3}, 1).time.base(), across, 1e-12);
  EXPECT_NEAR(step({6, 6}, 2).time.base(), inside, 1e-12);
}

TEST(Collectives, AWholeTreeUpAndDownSendsAndContributesThePayloadOnce) {
  for (const std::size_t workers : {2U, 5U, 8U, 13U}) {
    Bytes up, contribution;
    for (std::size_t distance = 1; distance < workers; distance *= 2) {
      up += transfer(flat(), Exchange::tree_step, Bytes::of(kSize), {workers, 1}, Algorithm::automatic, {},
                     distance)
                .wire;
      contribution += contributed({.encode = {},
                                   .exchange = Exchange::tree_step,
                                   .payload = Bytes::of(kSize),
                                   .decode = {},
                                   .distance = distance},
                                  workers);
    }
    contribution += contributed(
        {.encode = {}, .exchange = Exchange::broadcast, .payload = Bytes::of(kSize), .decode = {}}, workers);
    const auto n = static_cast<double>(workers);
    EXPECT_NEAR(up.base(), kSize * (n - 1) / n, 1e-6);
    EXPECT_NEAR(contribution.base(), kSize, 1e-6);
  }
}

TEST(Collectives, OneWorkerExchangesNothing) {
  for (const Exchange exchange : {Exchange::all_reduce, Exchange::all_gather, Exchange::all_to_all,
                                  Exchange::push_pull, Exchange::broadcast}) {
    EXPECT_EQ(seconds(flat(), exchange, Algorithm::automatic, {1, 1}), 0);
    EXPECT_EQ(transfer(flat(), exchange, Bytes::of(kSize), {1, 1}).wire, Bytes{});
  }
}

TEST(Collectives, OneNicCarriesWhatEntersTheNode) {
  // 32 workers in 4 nodes of 8: ring all-reduce 2(N-1)/N S, ring all-gather (N-1) c (so that reduce-scatter
  // and all-gather make an all-reduce), hierarchical (N-g) c, direct g(N-g) c, all-to-all g(N-g)/N c,
  // hierarchical all-reduce 2(m-1)/m S.
  Fabric fabric = flat();
  fabric.across.latency = fabric.inside.latency = {};
  fabric.inside.bandwidth = BytesPerSecond::of(1e18);
  const Group group{32, 8};
  const double pass = kSize / kWire;
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::ring, group), 2.0 * 31 / 32 * pass, 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::hierarchical, group), 2.0 * 3 / 4 * pass,
              1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::leader, group), 2.0 * 3 / 4 * pass, 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::ring, group), 31 * pass, 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::hierarchical, group), 24 * pass, 1e-8);
  EXPECT_NEAR(seconds(fabric, Exchange::reduce_scatter, Algorithm::ring, group) +
                  seconds(fabric, Exchange::all_gather, Algorithm::ring, group, kSize / 32),
              seconds(fabric, Exchange::all_reduce, Algorithm::ring, group), 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::direct, group), 8 * 24 * pass, 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_to_all, Algorithm::direct, group), 8.0 * 24 / 32 * pass, 1e-9);
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::recursive_doubling, group), 2 * 8 * pass,
              1e-9);
}

TEST(Collectives, LatencySplitsBetweenTheLevelsAsInNccl) {
  Fabric fabric = flat();
  const Group group{32, 8};
  const double size = 1e-9;
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::ring, group, size),
              2 * (3 * kAlpha + 28 * kAlpha / 10), 1e-12);
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::double_tree, group, size),
              2 * (7 * kAlpha / 10 + 2 * kAlpha), 1e-12);
}

TEST(Collectives, ASingleNodeUsesOnlyItsInnerLinks) {
  const Fabric fabric = flat();
  const double pass = kSize / (kWire * 80);
  EXPECT_NEAR(seconds(fabric, Exchange::all_reduce, Algorithm::ring, {8, 8}),
              14 * kAlpha / 10 + 2.0 * 7 / 8 * pass, 1e-12);
  EXPECT_NEAR(seconds(fabric, Exchange::all_gather, Algorithm::ring, {8, 8}), 7 * kAlpha / 10 + 7 * pass,
              1e-12);
}

TEST(Collectives, ParameterServersAndBytePsFollowTheirShares) {
  Fabric fabric = flat();
  fabric.across.latency = {};
  const double pass = kSize / kWire;
  const auto ps = [&](std::size_t servers, bool duplex, Group group) {
    fabric.servers = servers;
    fabric.full_duplex = duplex;
    return seconds(fabric, Exchange::all_reduce, Algorithm::parameter_server, group) / pass;
  };
  EXPECT_NEAR(ps(4, true, {8, 1}), 2, 1e-12);  // max(M, nM/k)
  EXPECT_NEAR(ps(16, true, {8, 1}), 1, 1e-12);
  EXPECT_NEAR(ps(4, false, {8, 1}), 4, 1e-12);           // half duplex: twice
  EXPECT_NEAR(ps(0, true, {8, 1}), 2.0 * 7 / 8, 1e-12);  // one on every node: as a ring
  EXPECT_NEAR(ps(4, true, {32, 8}), 8, 1e-12);           // eight gradients leave each node
  // BytePS: 2n(n-1)/(n^2+kn-2k) M beta; n=4, k=2 -> 1.2, k=0 -> ring, k=n -> 1.
  const auto byteps = [&](std::size_t servers, Group group) {
    fabric.servers = servers;
    return seconds(fabric, Exchange::push_pull, Algorithm::byteps, group) / pass;
  };
  EXPECT_NEAR(byteps(2, {4, 1}), 1.2, 1e-12);
  EXPECT_NEAR(byteps(0, {4, 1}), 2.0 * 3 / 4, 1e-12);
  EXPECT_NEAR(byteps(4, {4, 1}), 1, 1e-12);
}

TEST(Collectives, PushAndPullInsideOneNodeIsARing) {
  const Fabric fabric = flat();
  EXPECT_EQ(seconds(fabric, Exchange::push_pull, Algorithm::automatic, {8, 8}),
            seconds(fabric, Exchange::all_reduce, Algorithm::ring, {8, 8}));
  EXPECT_GT(seconds(fabric, Exchange::push_pull, Algorithm::automatic, {16, 8}), 0);
}

TEST(Collectives, HalfDuplexServersMoveTwiceTheBytesButNotTheSteps) {
  Fabric fabric = flat();
  fabric.servers = 8;
  const auto at = [&](bool duplex) {
    fabric.full_duplex = duplex;
    return seconds(fabric, Exchange::all_reduce, Algorithm::parameter_server, {8, 1});
  };
  EXPECT_NEAR(at(true), 2 * kAlpha + kSize / kWire, 1e-12);
  EXPECT_NEAR(at(false), 2 * kAlpha + 2 * kSize / kWire, 1e-12);
}

TEST(Collectives, WhatAWorkerSendsDependsOnTheAlgorithm) {
  const Fabric fabric = flat();
  const auto sent = [&](Exchange exchange, Algorithm algorithm) {
    return transfer(fabric, exchange, Bytes::of(kSize), {32, 8}, algorithm).wire.base() / kSize;
  };
  EXPECT_NEAR(sent(Exchange::all_reduce, Algorithm::ring), 2.0 * 31 / 32, 1e-12);
  EXPECT_NEAR(sent(Exchange::all_reduce, Algorithm::parameter_server), 1, 1e-12);
  EXPECT_NEAR(sent(Exchange::all_reduce, Algorithm::recursive_doubling), 5, 1e-12);
  EXPECT_NEAR(sent(Exchange::all_reduce, Algorithm::hierarchical), 2.0 * 7 / 8 + 2.0 * 3 / 4 / 8, 1e-12);
  EXPECT_NEAR(sent(Exchange::all_gather, Algorithm::ring), 31, 1e-12);
  EXPECT_NEAR(sent(Exchange::all_to_all, Algorithm::direct), 31.0 / 32, 1e-12);
}

TEST(Collectives, AutomaticTakesTheCheapestThatIsOffered) {
  Fabric fabric = flat();
  const Group group{64, 1};
  const auto pick = [&](double size) {
    return transfer(fabric, Exchange::all_reduce, Bytes::of(size), group).algorithm;
  };
  EXPECT_EQ(pick(1e3), Algorithm::double_tree);  // 63 steps cost more than the bytes
  EXPECT_EQ(pick(1e10), Algorithm::ring);
  fabric.offered = {Algorithm::ring};
  EXPECT_EQ(pick(1e3), Algorithm::ring);
  // What has no form of its own falls back, and says so.
  EXPECT_EQ(transfer(fabric, Exchange::all_to_all, Bytes::of(1e3), group).algorithm, Algorithm::direct);
  EXPECT_EQ(transfer(fabric, Exchange::all_gather, Bytes::of(1e3), group, Algorithm::tree).algorithm,
            Algorithm::ring);
  for (const double size : {1.0, 1e3, 1e6, 1e9}) {
    fabric.offered = {Algorithm::ring, Algorithm::double_tree, Algorithm::hierarchical,
                      Algorithm::halving_doubling};
    const double best = seconds(fabric, Exchange::all_reduce, Algorithm::automatic, group, size);
    for (const Algorithm algorithm : fabric.offered) {
      EXPECT_LE(best, seconds(fabric, Exchange::all_reduce, algorithm, group, size));
    }
  }
}

TEST(Collectives, TwoNodesOfATreeBeatTheRing) {
  Fabric fabric = flat();
  const Group group{16, 8};
  EXPECT_EQ(transfer(fabric, Exchange::all_reduce, Bytes::of(1e9), group).algorithm, Algorithm::double_tree);
  EXPECT_NEAR(transfer(fabric, Exchange::all_reduce, Bytes::of(1e12), group).time / Seconds::of(1e12 / kWire),
              1, 1e-3);
}

TEST(Collectives, MeasuredTablesAreInterpolatedAndExtrapolatedAloud) {
  Fabric fabric = flat();
  fabric.tables = {
      {Exchange::all_reduce, 16, 8, {{1_MB, 1_ms}, {Bytes::of(4e6), 2_ms}, {Bytes::of(16e6), 8_ms}}}};
  const Group group{16, 8};
  const auto at = [&](double size) { return transfer(fabric, Exchange::all_reduce, Bytes::of(size), group); };
  EXPECT_NEAR(at(2e6).time.base(), 4e-3 / 3, 1e-12);  // alpha and beta through both neighbours
  EXPECT_NEAR(at(4e6).time.base(), 2e-3, 1e-12);
  EXPECT_FALSE(at(4e6).extrapolated);
  EXPECT_NEAR(at(32e6).time.base(), 16e-3, 1e-12);  // the line of the last two
  EXPECT_TRUE(at(32e6).extrapolated);
  EXPECT_TRUE(at(1e3).extrapolated);
  EXPECT_NEAR(at(1e3).time.base(), 2e-3 / 3 + 1e3 * 1e-9 / 3, 1e-12);
  EXPECT_TRUE(at(4e6).from_table);
  EXPECT_FALSE(transfer(fabric, Exchange::all_gather, 1_MB, group).from_table);
  EXPECT_FALSE(transfer(fabric, Exchange::all_reduce, 1_MB, {32, 8}).from_table);
  EXPECT_FALSE(
      transfer(fabric, Exchange::all_reduce, 1_MB, {16, 1}).from_table);  // other nodes than were measured
}

TEST(Collectives, BelowATableNoTimeIsNegative) {
  const Table steep{Exchange::all_reduce, 16, 8, {{1_MB, 1_ms}, {Bytes::of(2e6), 9_ms}}};
  EXPECT_NEAR(steep.at(Bytes::of(5e5)).base(), 5e-4, 1e-15) << "in proportion";
}

TEST(Collectives, AlgorithmNamesReadBack) {
  for (const char* text : {"auto", "ring", "tree", "double-tree", "recursive-doubling", "halving-doubling",
                           "hierarchical", "leader", "direct", "ps", "byteps"}) {
    EXPECT_EQ(name(parse_algorithm(text)), text);
  }
  try {
    (void)parse_algorithm("rings");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean ring?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace breakeven
