// Do pushes, pulls and priorities take the times that one gets by hand?
#include <gtest/gtest.h>

#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::on_10gbe;
using testing::plainly;
using testing::Sizes;
using testing::workload_of;

TEST(ParameterServers, V2BytePsBalancesBothKindsOfServers) {
  Fabric fabric;
  fabric.across = {"network", 1_GBps, {}, 1};
  for (std::size_t n = 2; n <= 16; ++n) {
    for (std::size_t k = 0; k <= n; ++k) {
      fabric.servers = k;
      const double time =
          transfer(fabric, Exchange::all_reduce, 1000_MB, {n, 1}, Algorithm::byteps).time.base();
      const auto workers = static_cast<double>(n), extra = static_cast<double>(k);
      // The share of the keys on the extra servers (BytePS, global.cc).
      const double share = 2 * extra * (workers - 1) / (workers * (workers + extra) - 2 * extra);
      if (n == 4 && k == 2) {
        EXPECT_DOUBLE_EQ(share, 0.6);
        EXPECT_DOUBLE_EQ(time, 1.2);
      }
      if (k > 0) {
        EXPECT_NEAR(time, workers * share / extra, 1e-12) << n << " " << k;
      } else {
        EXPECT_NEAR(time, 2 * (workers - 1) / workers, 1e-12) << n;
      }
      // A worker's own link: its keys to the extra servers, the rest out as a worker and back as a server.
      EXPECT_NEAR(time, share + 2 * (1 - share) * (workers - 1) / workers, 1e-12) << n << " " << k;
      if (k == n) {
        EXPECT_NEAR(time, 1, 1e-12) << n;
      }
    }
  }
}

/// Two layers of 1 s each way and 4 elements; a half of a layer takes 1 s to one server from two workers.
Prediction two_layers(const std::string& schedule, std::size_t servers) {
  Scenario scenario = on_10gbe(workload_of({{4, 1}, {4, 1}}, 1), 2, schedule);
  scenario.fabric.across = {"network", BytesPerSecond::of(16), {}, 1};
  scenario.fabric.servers = servers;
  scenario.algorithm = Algorithm::parameter_server;
  return plainly(scenario);
}

TEST(ParameterServers, P3WithOneServerByHand) {
  // Pushes: half of layer 1 from 1, layer 0 from 2 to 4, the other half until 5; pulls one second later.
  // Layer 0 computes from 5, layer 1 from 6, when its second half has come, until 7.
  const Prediction one = two_layers("p3:slice=2", 1);
  EXPECT_DOUBLE_EQ(one.step.base(), 7);
  std::vector<std::size_t> pushed;
  for (const Span& span : one.spans) {
    if (span.resource == Resource::network) {
      pushed.push_back(one.messages[span.message].module);
    }
  }
  EXPECT_EQ(pushed, (Sizes{1, 0, 0, 1}));
  // Two servers take half the time; more do not help, since a worker's own link is full.
  EXPECT_DOUBLE_EQ(two_layers("p3:slice=2", 2).step.base(), 5.5);
  EXPECT_DOUBLE_EQ(two_layers("p3:slice=2", 4).step.base(), 5.5);
}

TEST(ParameterServers, ACreditIsSpentBeforeTheLastPieceFits) {
  // Pieces are handed down while less than the credit is out there: a credit of one piece is one piece, a
  // little more is two.
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=1", 1).step.base(), 7);
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=2", 1).step.base(), 7);
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=3", 1).step.base(), 8);
}

TEST(ParameterServers, PushAndPullPayALatencyEachAndSoftwareOnce) {
  Scenario scenario = on_10gbe(workload_of({{2, 1}}, 1), 2, "p3");
  scenario.fabric.across = {"network", BytesPerSecond::of(16), Seconds::of(0.25), 1};
  scenario.fabric.servers = 1;
  scenario.algorithm = Algorithm::parameter_server;
  scenario.overlap.message = Seconds::of(0.125);
  EXPECT_DOUBLE_EQ(plainly(scenario).step.base(), 1 + (0.125 + 0.25 + 1) + (0.25 + 1) + 1);
  scenario.schedule =
      make_schedule("bsp");  // as one exchange whose push and pull overlap but for the latency
  EXPECT_DOUBLE_EQ(plainly(scenario).step.base(), 1 + 0.125 + 2 * 0.25 + 1 + 1);
}

TEST(ParameterServers, BytePsWaitsForEverythingAndABarrierCostsWhatOverlapsForward) {
  // Pushes 1 to 5, pulls 2 to 6, then both layers.
  EXPECT_DOUBLE_EQ(two_layers("byteps:partition=8B", 1).step.base(), 8);
  // A credit for all of it is first come, first served, but layer 0 need not wait for layer 1.
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=1000", 1).step.base(), 8);
  // One message, not split into push and pull: 4 s after backward.
  EXPECT_DOUBLE_EQ(two_layers("bsp", 1).step.base(), 2 + 4 + 2);
}

TEST(ParameterServers, BytePsReducesInsideTheNodeBeforeThePushAndGathersAfterThePull) {
  // Two nodes of two workers, two extra servers: inside, half of 16 bytes at 8 B/s each way; a node sends its
  // share 2m(m-1)/(m^2+km-2k) = 1 of 16 bytes at 16 B/s.
  Scenario scenario = on_10gbe(workload_of({{4, 1}}, 1), 4, "byteps");
  scenario.workers_per_node = 2;
  scenario.fabric.inside = {"inside", BytesPerSecond::of(8), Seconds::of(0.25), 1};
  scenario.fabric.across = {"network", BytesPerSecond::of(16), Seconds::of(0.125), 1};
  scenario.fabric.servers = 2;
  scenario.algorithm = Algorithm::byteps;
  const double half = 0.25 + 0.5 * 16 / 8, network = 0.125 + 1;
  const Prediction prediction = plainly(scenario);
  std::vector<double> stages;
  for (const Span& span : prediction.spans) {
    if (span.activity == Activity::exchange) {
      stages.push_back((span.end - span.begin).base());
    }
  }
  EXPECT_EQ(stages, (std::vector<double>{half + network, network + half}));
  EXPECT_DOUBLE_EQ(prediction.step.base(), 1 + 1 + 2 * (half + network));
}

}  // namespace
}  // namespace breakeven
