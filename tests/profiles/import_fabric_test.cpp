// Does a fabric made from measurements predict what was measured, and say where it only extrapolates?
#include <gmock/gmock.h>

#include "model/collectives.h"
#include "profiles/import/network.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Times of `exchange` over `fabric`, from 1 KiB to 256 MiB.
NetworkLog measured(const Fabric& fabric, Exchange exchange, const Group& group, std::size_t said_per_node) {
  NetworkLog log;
  log.program = "a benchmark";
  for (double size = 1024; size <= 256.0 * 1048576; size *= 2) {
    CollectiveTime row;
    row.exchange = exchange;
    row.workers = group.workers;
    row.per_node = said_per_node;
    row.payload = Bytes::of(size);
    row.time = transfer(fabric, exchange, row.payload, group, Algorithm::ring).time;
    log.rows.push_back(row);
  }
  return log;
}

Fabric truth() {
  Fabric fabric;
  fabric.across = {"wire", BytesPerSecond::of(12.5e9), 8_us, 1};
  fabric.inside = {"bus", BytesPerSecond::of(100e9), 3_us, 1};
  return fabric;
}

FabricProfile imported(const NetworkLog& log, const NetworkOptions& options = {}) {
  std::vector<std::string> notes;
  return fabric_from(log, options, "log", notes);
}
std::string notes_of(const NetworkLog& log, const NetworkOptions& options = {}) {
  std::vector<std::string> notes;
  (void)fabric_from(log, options, "log", notes);
  std::string all;
  for (const std::string& note : notes) {
    all += note + "\n";
  }
  return all;
}

TEST(ImportFabric, LevelsAreTheLinksThatMadeTheTimes) {
  for (const Exchange exchange :
       {Exchange::all_reduce, Exchange::reduce_scatter, Exchange::all_gather, Exchange::all_to_all}) {
    SCOPED_TRACE(name(exchange));
    const FabricProfile across = imported(measured(truth(), exchange, {8, 1}, 1));
    EXPECT_NEAR(across.fabric.across.bandwidth.base(), 12.5e9, 12.5e9 * 1e-3);
    EXPECT_NEAR(across.fabric.across.latency.base(), 8e-6, 8e-9);
    EXPECT_FALSE(across.has_inside);
    const FabricProfile inside = imported(measured(truth(), exchange, {8, 8}, 8));
    EXPECT_NEAR(inside.fabric.inside.bandwidth.base(), 100e9, 100e9 * 1e-3);
    EXPECT_NEAR(inside.fabric.inside.latency.base(), 3e-6, 3e-9);
    EXPECT_EQ(inside.fabric.across.bandwidth, BytesPerSecond{});
    EXPECT_EQ(inside.workers_per_node, 8U);
  }
}

TEST(ImportFabric, TheTablesSayWhatWasMeasured) {
  const NetworkLog log = measured(truth(), Exchange::all_reduce, {16, 4}, 4);
  const Fabric fabric = read_fabric(write_fabric(imported(log)), "written").fabric;
  for (const CollectiveTime& row : log.rows) {
    const Transfer done = transfer(fabric, row.exchange, row.payload, {16, 4});
    EXPECT_TRUE(done.from_table);
    EXPECT_NEAR(done.time / row.time, 1, 1e-5);
  }
}

TEST(ImportFabric, RanksOnAHostThatTheFileContradictsAreRefused) {
  NetworkOptions options;
  options.per_node = 2;
  NetworkLog log = measured(truth(), Exchange::all_reduce, {16, 4}, 4);
  EXPECT_EQ(failure([&] { (void)imported(log, options); }),
            "value --ranks-per-node: 2, but the file says 4 on a host: expected 4, or no such option");
}

TEST(ImportFabric, RepeatedSizesCountByTheirMedian) {
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  const NetworkLog once = log;
  for (const double factor : {1.0, 40.0}) {
    for (CollectiveTime row : once.rows) {
      row.time = row.time * factor;
      log.rows.push_back(row);
    }
  }
  const Table table = imported(log).fabric.tables.at(0);
  ASSERT_EQ(table.points.size(), once.rows.size());
  EXPECT_NEAR(table.points[5].time / once.rows[5].time, 1, 1e-5);
  NetworkLog twice = once;
  for (CollectiveTime row : once.rows) {
    row.time = row.time * 1.5;
    twice.rows.push_back(row);
  }
  EXPECT_NEAR(imported(twice).fabric.tables.at(0).points[5].time / once.rows[5].time, 1.25, 1e-5)
      << "halfway between two";
}

TEST(ImportFabric, MergedSizesAreSaidAndAWarningWhereTheyLieFarApart) {
  const NetworkLog once = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  EXPECT_THAT(notes_of(once), Not(HasSubstr("merged")));
  const auto again = [&](double factor) {
    NetworkLog log = once;
    for (CollectiveTime row : once.rows) {
      row.time = row.time * factor;
      log.rows.push_back(row);
    }
    log.rows.push_back(once.rows.front());
    return notes_of(log);
  };
  const std::string near = again(1.5);
  EXPECT_THAT(
      near, HasSubstr("all-reduce among 8: 19 sizes were measured 2 to 3 times and merged by the median: at "
                      "most 1.5x apart ("));
  EXPECT_THAT(near, Not(HasSubstr("warning")));
  const std::string far = again(2.5);
  EXPECT_THAT(far, HasSubstr("warning: all-reduce among 8: 19 sizes were measured 2 to 3 times"));
  EXPECT_THAT(far, HasSubstr("at most 2.5x apart ("));
  EXPECT_THAT(far, HasSubstr("too far for the same network measured again: import such runs one by one\n"));
}

TEST(ImportFabric, TimesThatFallAreSaidAndDoNotReachTheTable) {
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  log.rows[4].time = log.rows[4].time * 100;
  const Table table = imported(log).fabric.tables.at(0);
  for (std::size_t i = 1; i < table.points.size(); ++i) {
    EXPECT_GE(table.points[i].time, table.points[i - 1].time);
  }
  EXPECT_THAT(notes_of(log), HasSubstr("times fall as the size grows"));
  EXPECT_THAT(notes_of(log),
              HasSubstr("the farthest, of 16 KiB, moves from " + to_string(log.rows[4].time) + " to "));
  EXPECT_EQ(notes_of(measured(truth(), Exchange::all_reduce, {8, 1}, 1)).find("fall"), std::string::npos);
}

TEST(ImportFabric, ALatencyThatLargeSizesHideIsTheFitsAndSaid) {
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  log.rows.erase(log.rows.begin(), log.rows.end() - 3);
  EXPECT_NEAR(imported(log).fabric.across.latency.base(), 8e-6, 8e-9);
  EXPECT_THAT(notes_of(log), HasSubstr("a step 8 us, of which the smallest size, 64 MiB, says little\n"));
}

TEST(ImportFabric, ALatencyThatTheSizesDoNotTellIsNone) {
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  log.rows.erase(log.rows.begin(), log.rows.end() - 2);
  log.rows[1].time = log.rows[0].time * 2.1;
  const FabricProfile two = read_fabric(write_fabric(imported(log)), "written");
  EXPECT_EQ(two.fabric.across.latency, Seconds{});
  EXPECT_EQ(two.sources.at("across/latency"), "not told apart from the bandwidth");
  EXPECT_THAT(notes_of(log), HasSubstr("not told apart from the bandwidth by sizes from 128 MiB on\n"));
  log.rows.resize(1);
  EXPECT_THAT(notes_of(log),
              HasSubstr("a step 0 s: the latency is not told apart from the bandwidth by one size\n"));
  const Fabric one = read_fabric(write_fabric(imported(log)), "written").fabric;
  const Transfer again = transfer(one, Exchange::all_reduce, log.rows[0].payload, {8, 1});
  EXPECT_NEAR(again.time / log.rows[0].time, 1, 1e-3) << "what was measured comes back";
}

TEST(ImportFabric, WhatTheFileLeavesOpenIsAskedFor) {
  const auto refused = [](const NetworkLog& log, const NetworkOptions& options = {}) {
    return failure([&] { (void)imported(log, options); });
  };
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 1}, 0);
  EXPECT_THAT(
      notes_of(log),
      HasSubstr("the links are fitted as for one rank on each (--ranks-per-node G says otherwise)\n"));
  EXPECT_EQ(imported(log).workers_per_node, 0U);
  NetworkOptions nodes;
  nodes.per_node = 4;
  EXPECT_EQ(imported(log, nodes).workers_per_node, 4U);
  nodes.per_node = 3;
  EXPECT_EQ(refused(log, nodes),
            "value --ranks-per-node: 8 ranks do not fill nodes of 3: expected a divisor of 8");
  log.rows[0].per_node = 2;
  EXPECT_EQ(refused(log),
            "file log: ranks are spread in several ways: 0 and 2 on a host: expected one way a file, "
            "or --ranks-per-node G");
  log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  for (CollectiveTime& row : log.rows) {
    row.workers = 0;
  }
  EXPECT_EQ(refused(log), "file log: does not say among how many ranks: expected --ranks N");
  NetworkOptions ranks;
  ranks.workers = 8;
  EXPECT_EQ(imported(log, ranks).fabric.tables.at(0).workers, 8U);
  ranks.workers = 1;
  EXPECT_EQ(refused(log, ranks), "value --ranks: 1 rank exchanges nothing: expected 2 or more");
  log = measured(truth(), Exchange::all_reduce, {8, 1}, 1);
  log.rows.resize(3);  // latency only
  EXPECT_EQ(refused(log),
            "file log: the largest size, 4 KiB, takes hardly longer than the smallest: expected sizes "
            "that the bandwidth limits, of some MiB");
}

TEST(ImportFabric, ALinkIsAFabricWithoutTables) {
  NetworkLog log;
  log.program = "a link test";
  log.link = LinkRate{12_GBps, {}};
  const FabricProfile profile = read_fabric(write_fabric(imported(log)), "written");
  EXPECT_EQ(profile.fabric.across.bandwidth, 12_GBps);
  EXPECT_THAT(profile.fabric.tables, IsEmpty());
  EXPECT_EQ(profile.origin, Origin::measured);
}

/// resolve() over an imported fabric.
ScenarioSetup resolved(const FabricProfile& profile, const OptionValues& more) {
  const TemporaryDirectory directory;
  OptionValues values{{"gradient-bytes", "100MB"},
                      {"forward", "10ms"},
                      {"backward", "20ms"},
                      {"device", "v100"},
                      {"fabric", directory.file("f.json", write_fabric(profile))}};
  return resolve(with(values, more), Catalogue());
}

TEST(ImportFabric, AQuerySaysMeasuredAndWarnsWhereItIsNot) {
  const FabricProfile profile = imported(measured(truth(), Exchange::all_reduce, {8, 1}, 1));
  const ScenarioSetup same = resolved(profile, {{"workers", "8"}});
  EXPECT_EQ(input(same, "bandwidth").origin, Origin::measured);
  EXPECT_EQ(input(same, "latency").origin, Origin::measured);
  EXPECT_EQ(input(same, "workers_per_node").origin, Origin::measured);
  EXPECT_THAT(same.warnings, IsEmpty());
  EXPECT_THAT(
      resolved(profile, {{"workers", "16"}}).warnings,
      ElementsAre(
          "the fabric imported was measured among 8 workers, 1 a node, not among 16 workers, 1 a node: "
          "links fitted to its times by the rule of a ring stand for it"));
  EXPECT_THAT(
      resolved(profile, {{"workers", "8"}, {"algorithm", "double-tree"}}).warnings,
      ElementsAre(
          "the measured times of the fabric imported are not used: --algorithm double-tree asks for a "
          "formula; links fitted to its times by the rule of a ring stand for it"));
}

TEST(ImportFabric, ALatencyThatIsNotKnownIsAssumed) {
  NetworkLog log;
  log.program = "a link test";
  log.link = LinkRate{12_GBps, {}};
  const ScenarioSetup setup = resolved(imported(log), {{"workers", "8"}});
  EXPECT_EQ(input(setup, "bandwidth").origin, Origin::measured);
  EXPECT_EQ(input(setup, "latency").origin, Origin::published);  // of 10 Gbit/s Ethernet
  EXPECT_GT(setup.scenario.fabric.across.latency, Seconds{});
}

TEST(ImportFabric, ASmallerGroupOfTheSameNodeFindsItsTable) {
  NetworkLog log = measured(truth(), Exchange::all_reduce, {8, 8}, 8);
  for (const CollectiveTime& row : measured(truth(), Exchange::all_reduce, {4, 4}, 4).rows) {
    log.rows.push_back(row);
  }
  const Fabric fabric = read_fabric(write_fabric(imported(log)), "written").fabric;
  EXPECT_TRUE(transfer(fabric, Exchange::all_reduce, 1_MiB, {8, 8}).from_table);
  EXPECT_TRUE(transfer(fabric, Exchange::all_reduce, 1_MiB, {4, 4}).from_table);
  EXPECT_FALSE(transfer(fabric, Exchange::all_reduce, 1_MiB, {8, 4}).from_table);
}

}  // namespace
}  // namespace breakeven
