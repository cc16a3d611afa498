// Does DeAR follow its recurrence, both halves of its all-reduces told?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::Layer;
using testing::on_10gbe;
using testing::plainly;
using testing::Random;
using testing::workload_of;

/// Iteration period by DeAR's recurrence: groups in forward order; reduce-scatters as gradients come; the
/// all-gather of a group is issued when forward reaches the group before it.
double dear_period(const std::vector<Layer>& layers, double forward, double group_bytes, double startup,
                   double per_byte) {
  struct Run {
    double size = 0, forward = 0, ready = 0;
  };
  std::vector<Run> groups;
  double exists = 0;
  for (const Layer& layer : layers) {
    exists += layer.backward;
  }
  const double backward = exists;
  bool open = false;
  for (const Layer& layer : layers) {
    if (!open) {
      groups.push_back({0, 0, exists});  // complete with its first layer's gradient, the last to appear
      open = true;
    }
    groups.back().size += 4 * static_cast<double>(layer.elements);
    groups.back().forward += layer.backward * forward;
    exists -= layer.backward;
    open = groups.back().size < group_bytes;
  }
  const auto half = [&](const Run& group) { return startup + per_byte * group.size; };
  double scattered = 0;
  for (std::size_t g = groups.size(); g-- > 0;) {
    scattered = std::max(scattered, groups[g].ready) + half(groups[g]);
  }
  double reached = std::max(scattered, backward) + half(groups.front());
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    reached += std::max(groups[g].forward, half(groups[g + 1]));
  }
  return reached + groups.back().forward;
}

TEST(DeAR, FollowsItsRecurrence) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const std::vector<Layer> layers = random.layers(1, 24);
    const double forward = random.real(0.1, 1);
    const std::size_t workers = random.count(2, 32);
    const double group = std::floor(std::pow(10, random.real(2, 7)));
    Scenario scenario = on_10gbe(workload_of(layers, forward), workers,
                                 "dear:group=" + std::to_string(static_cast<std::size_t>(group)) + "B");
    scenario.fabric.across.bandwidth = BytesPerSecond::of(std::pow(10, random.real(7, 10)));
    const auto n = static_cast<double>(workers);
    const double expected = dear_period(layers, forward, group, (n - 1) * 45.25e-6,
                                        (n - 1) / n / scenario.fabric.across.bandwidth.base());
    ASSERT_NEAR(plainly(scenario).step.base() / expected, 1, 1e-10) << seed;
  }
}

TEST(DeAR, TellsBothHalvesOfAnAllReduce) {
  const Prediction prediction =
      plainly(on_10gbe(workload_of({{1000, 1e-3}, {3000, 1e-3}}), 4, "dear:group=4000B"));
  ASSERT_EQ(prediction.plans.size(), 2U);
  Seconds told;
  Bytes wire;
  for (std::size_t m = 0; m < 2; ++m) {
    ASSERT_EQ(prediction.plans[m].size(), 2U);
    ASSERT_EQ(prediction.transfers[m].size(), 2U);
    EXPECT_EQ(prediction.plans[m][0].exchange, Exchange::reduce_scatter);
    EXPECT_EQ(prediction.plans[m][1].exchange, Exchange::all_gather);
    EXPECT_EQ(prediction.plans[m][0].payload, prediction.plans[m][1].payload * 4);
    for (const Transfer& transfer : prediction.transfers[m]) {
      told += transfer.time;
      wire += transfer.wire;
    }
  }
  EXPECT_DOUBLE_EQ(told.base(), prediction.parts.communication.base());
  EXPECT_EQ(prediction.payload, 16000_B);
  EXPECT_DOUBLE_EQ(wire.base(), 2 * 3.0 / 4 * 16000);
  EXPECT_EQ(prediction.wire, wire);
  Seconds scattered, gathering = Seconds::of(1);
  for (const Span& span : prediction.spans) {
    if (span.activity == Activity::exchange && span.round == 0) {
      scattered = std::max(scattered, span.end);
    } else if (span.activity == Activity::exchange) {
      gathering = std::min(gathering, span.begin);
    }
  }
  EXPECT_GT(scattered, Seconds{});
  EXPECT_EQ(gathering, scattered) << "all-gathers come after backward and every reduce-scatter";
}

}  // namespace
}  // namespace breakeven
