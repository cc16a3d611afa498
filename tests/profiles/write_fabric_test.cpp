// Does a fabric profile that we write read back as it was?
#include <gtest/gtest.h>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

void expect_equal(const Level& a, const Level& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.bandwidth, b.bandwidth);
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.efficiency, b.efficiency);
}

void expect_equal(const FabricProfile& a, const FabricProfile& b) {
  EXPECT_EQ(a.summary, b.summary);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.origin, b.origin);
  EXPECT_EQ(a.workers_per_node, b.workers_per_node);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.has_inside, b.has_inside);
  EXPECT_EQ(a.sources, b.sources);
  EXPECT_EQ(a.fabric.name, b.fabric.name);
  expect_equal(a.fabric.inside, b.fabric.inside);
  expect_equal(a.fabric.across, b.fabric.across);
  EXPECT_EQ(a.flow, b.flow);
  EXPECT_EQ(a.flows, b.flows);
  EXPECT_EQ(a.fabric.nccl, b.fabric.nccl);
  EXPECT_EQ(a.fabric.servers, b.fabric.servers);
  EXPECT_EQ(a.fabric.full_duplex, b.fabric.full_duplex);
  EXPECT_EQ(a.fabric.offered, b.fabric.offered);
  ASSERT_EQ(a.fabric.tables.size(), b.fabric.tables.size());
  for (std::size_t i = 0; i < a.fabric.tables.size(); ++i) {
    const Table& one = a.fabric.tables[i];
    const Table& other = b.fabric.tables[i];
    EXPECT_EQ(one.exchange, other.exchange);
    EXPECT_EQ(one.workers, other.workers);
    EXPECT_EQ(one.per_node, other.per_node);
    ASSERT_EQ(one.points.size(), other.points.size());
    for (std::size_t j = 0; j < one.points.size(); ++j) {
      EXPECT_EQ(one.points[j].payload, other.points[j].payload);
      EXPECT_EQ(one.points[j].time, other.points[j].time);
    }
  }
  EXPECT_EQ(a.fabric.additions.source, b.fabric.additions.source);
  ASSERT_EQ(a.fabric.additions.points.size(), b.fabric.additions.points.size());
  for (std::size_t i = 0; i < a.fabric.additions.points.size(); ++i) {
    EXPECT_EQ(a.fabric.additions.points[i].size, b.fabric.additions.points[i].size);
    EXPECT_EQ(a.fabric.additions.points[i].time, b.fabric.additions.points[i].time);
  }
}

TEST(WriteFabric, EveryFabricThatComesWithTheProgramReadsBack) {
  const Catalogue catalogue;
  for (const std::string& name : catalogue.names("fabrics")) {
    SCOPED_TRACE(name);
    const FabricProfile profile = catalogue.fabric(name);
    expect_equal(read_fabric(write_fabric(profile), "written"), profile);
  }
}

TEST(WriteFabric, ServersADuplexAndSourcesReadBack) {
  const FabricProfile profile = read_fabric(kTinyFabric, "tiny");
  expect_equal(read_fabric(write_fabric(profile), "written"), profile);
}

TEST(WriteFabric, IsReadable) {
  FabricProfile profile;
  profile.fabric.name = "mine";
  profile.source = "a benchmark";
  profile.origin = Origin::measured;
  profile.fabric.across = {"NIC", BytesPerSecond::of(2.955e9), Seconds{}, 1};
  profile.sources = {{"across/bandwidth", "a benchmark"}};
  profile.workers_per_node = 1;
  profile.fabric.offered = {Algorithm::ring};
  profile.fabric.tables = {{Exchange::all_gather, 2, 1, {{1_MiB, 500_us}, {Bytes::of(1500000), 700_us}}}};
  EXPECT_EQ(write_fabric(profile), R"({
  "schema": 1,
  "name": "mine",
  "source": "a benchmark",
  "origin": "measured",
  "across": {
    "name": "NIC",
    "bandwidth": "2.955 GB/s"
  },
  "workers_per_node": 1,
  "algorithms": ["ring"],
  "tables": [
    {"exchange": "all_gather", "workers": 2, "points": [["1 MiB", "500 us"], ["1500000 B", "700 us"]]}
  ]
}
)");
  expect_equal(read_fabric(write_fabric(profile), "written"), profile);
}

TEST(WriteFabric, WithoutLinksIsRefused) {
  EXPECT_EQ(failure([] { (void)write_fabric({}); }),
            "value fabric profile: has no links: expected links across nodes, inside them, or both");
}

}  // namespace
}  // namespace breakeven
