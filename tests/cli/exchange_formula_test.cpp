// Do the formulas that --explain prints add up to the time the prediction used?
#include "cli/exchange_formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakeven::cli {
namespace {

using testing::HasSubstr;

Fabric two_levels() {
  Fabric fabric;
  fabric.inside = {"NVLink", BytesPerSecond::of(120e9), Seconds::of(3.4e-6), 0.9};
  fabric.across = {"Ethernet", BytesPerSecond::of(1.25e9), Seconds::of(45.25e-6), 0.8};
  return fabric;
}

TEST(ExchangeFormula, TermsGiveTheTimeOfEveryAlgorithmExchangeAndGroup) {
  const Fabric fabric = two_levels();
  const Bytes payload = Bytes::of(26214400);
  for (const Exchange exchange :
       {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather, Exchange::all_to_all}) {
    for (int a = 0; a <= static_cast<int>(Algorithm::byteps); ++a) {
      for (const Group group : {Group{2, 1}, Group{16, 1}, Group{8, 8}, Group{64, 8}, Group{12, 4}}) {
        const Transfer priced = transfer(fabric, exchange, payload, group, static_cast<Algorithm>(a));
        const ExchangeTerms terms = terms_of(fabric, exchange, group, priced.algorithm);
        EXPECT_NEAR(terms.time(fabric, payload) / priced.time, 1, 1e-9)
            << name(exchange) << " " << name(priced.algorithm) << " " << group.workers << "/"
            << group.per_node;
      }
    }
  }
}

TEST(ExchangeFormula, TermsGiveTheTimeOfEveryStepOfATreeAndOfABroadcast) {
  const Fabric fabric = two_levels();
  const Bytes payload = Bytes::of(209712);
  for (const Group group : {Group{2, 1}, Group{16, 1}, Group{8, 8}, Group{64, 8}, Group{12, 6}}) {
    for (const std::size_t distance : {0U, 1U, 2U, 4U, 8U, 16U, 32U}) {
      const Exchange exchange = distance == 0 ? Exchange::broadcast : Exchange::tree_step;
      const Transfer priced = transfer(fabric, exchange, payload, group, Algorithm::automatic, {}, distance);
      EXPECT_NEAR(terms_of(fabric, exchange, group, priced.algorithm, distance).time(fabric, payload).base(),
                  priced.time.base(), 1e-12)
          << group.workers << "/" << group.per_node << " " << distance;
      EXPECT_EQ(priced.time > Seconds{}, distance < group.workers);
    }
  }
}

TEST(ExchangeFormula, NcclsLatencyAndBandwidthAreDerivedAndTheOthersNamed) {
  Fabric fabric;
  fabric.inside = {"NVLink", BytesPerSecond::of(240e9), {}, 1};
  fabric.across = {"network", BytesPerSecond::of(50e9), {}, 1};
  fabric.nccl = {Architecture::ampere, PeerLink::nvlink, CpuVendor::intel, 4, {}, true, false};
  const Group nodes{64, 8};
  Round round;
  round.exchange = Exchange::all_reduce;
  round.payload = Bytes::of(8e6);
  const Transfer done = transfer(fabric, round.exchange, round.payload, nodes, Algorithm::nccl);
  EXPECT_EQ(exchange_formula(fabric, round.exchange, round.payload, nodes, done),
            "Tree/LL128: 82.5 us + 8 MB / 17.25 GB/s = 546 us");
  // 14 + (126 - 14) x 1.9 + 14 x 4 us and 8 MB / (0.92 x 50 x 64/126 GB/s) of the ring, and so on.
  EXPECT_THAT(nccl_derivation(fabric, round, nodes, "  "),
              testing::StartsWith(
                  "  latency     14 us (base) + 14 x 1.25 us (inside) + 6 x 8.5 us (across) = 82.5 us\n"
                  "  bandwidth   4 x 12.5 GB/s (channels), x 0.92 (trees), x 0.9375 (LL128), x 0.5 (up and "
                  "down), x 0.8 "
                  "(trees at this size) = 17.25 GB/s\n"
                  "  slower      Ring/LL128 625 us, "));
  // A ceiling is told where it binds.
  round.payload = Bytes::of(1e3);
  fabric.across.bandwidth = BytesPerSecond::of(400e9);
  EXPECT_THAT(nccl_derivation(fabric, round, nodes, ""),
              HasSubstr(", at most 4 x 17.8 GB/s (trees), x 0.2632 (LL), "));
}

TEST(ExchangeFormula, PutsTheNumbersIn) {
  const Fabric fabric = two_levels();
  const Bytes payload = Bytes::of(25e6);
  const Group flat{64, 1};
  const Transfer ring = transfer(fabric, Exchange::all_reduce, payload, flat, Algorithm::ring);
  EXPECT_EQ(exchange_formula(fabric, Exchange::all_reduce, payload, flat, ring),
            "126 x 45.3 us + 1.969 x 25 MB / 8 Gbit/s = " + to_string(ring.time));
  const Group nodes{64, 8};
  const Transfer both = transfer(fabric, Exchange::all_reduce, payload, nodes, Algorithm::ring);
  EXPECT_THAT(
      exchange_formula(fabric, Exchange::all_reduce, payload, nodes, both),
      HasSubstr(
          "112 x 3.4 us + 14 x 45.3 us + max(1.969 x 25 MB / 864 Gbit/s, 1.969 x 25 MB / 8 Gbit/s) = "));
}

TEST(ExchangeFormula, SaysWhenATableWasUsed) {
  Fabric fabric = two_levels();
  fabric.tables = {{Exchange::all_reduce,
                    16,
                    8,
                    {{Bytes::of(1e6), Seconds::of(1e-3)}, {Bytes::of(1e7), Seconds::of(1e-2)}}}};
  const Group group{16, 8};
  const Bytes payload = Bytes::of(1e8);
  const Transfer priced = transfer(fabric, Exchange::all_reduce, payload, group);
  EXPECT_EQ(exchange_formula(fabric, Exchange::all_reduce, payload, group, priced),
            "100 MB by the fabric's table for 16 workers, outside it = 100 ms");
}

}  // namespace
}  // namespace breakeven::cli
