// Where do forward, backward and other come from, and in which order of trust?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OptionValues base() {
  return {{"model", "tiny"}, {"device", "gpu"}, {"workers", "2"}, {"bandwidth", "10Gbps"}};
}
ScenarioSetup with_base(const OptionValues& more) {
  return tiny(with(base(), more));
}
std::string refused(const OptionValues& more) {
  return failure([&] { (void)with_base(more); });
}

TEST(ComputeTimes, GivenTimesComeFirst) {
  const ScenarioSetup setup = with_base({{"forward", "1ms"}, {"backward", "3ms"}, {"other", "2ms"}});
  EXPECT_EQ(stated(setup, "forward"), "1 ms, given, ");
  EXPECT_EQ(stated(setup, "backward"), "3 ms, given, ");
  EXPECT_EQ(stated(setup, "other"), "2 ms, given, ");
  EXPECT_DOUBLE_EQ(setup.scenario.workload.forward().base(), 1e-3);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.backward().base(), 3e-3);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.other.base(), 2e-3);
  EXPECT_EQ(setup.compute, Origin::given);
  EXPECT_EQ(setup.judge.compute_uncertainty, 0);
  // Spread by FLOPs: 10 of 30 forward, 10 of 50 backward.
  EXPECT_DOUBLE_EQ(setup.scenario.workload.modules[0].forward.base(), 1e-3 / 3);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.modules[0].backward.base(), 3e-3 / 5);
}

TEST(ComputeTimes, OneGivenPassGivesTheOtherByFlops) {
  const ScenarioSetup backward = with_base({{"backward", "50ms"}});
  EXPECT_DOUBLE_EQ(backward.scenario.workload.forward().base(), 30e-3);
  EXPECT_EQ(stated(backward, "forward"), "30 ms, estimated, from backward by the ratio of their FLOPs");
  EXPECT_EQ(backward.compute, Origin::given);
  const ScenarioSetup forward = with_base({{"forward", "30ms"}});
  EXPECT_DOUBLE_EQ(forward.scenario.workload.backward().base(), 50e-3);
  EXPECT_EQ(forward.compute, Origin::estimated);
  const ScenarioSetup bare = tiny({{"gradient-bytes", "4MB"}, {"backward", "50ms"}, {"workers", "1"}});
  EXPECT_DOUBLE_EQ(bare.scenario.workload.forward().base(), 25e-3);
  EXPECT_EQ(stated(bare, "forward"),
            "25 ms, assumed, from backward by 1:2, as the two products of backward have it");
  EXPECT_EQ(
      refused({{"forward", "0s"}}),
      "value --backward: is missing: expected its time, which does not follow from a forward time of 0");
}

TEST(ComputeTimes, AThroughputIsTheStepOfOneWorker) {
  const ScenarioSetup setup = with_base({{"throughput", "100 /s"}, {"batch", "8"}});
  EXPECT_DOUBLE_EQ(setup.scenario.workload.forward().base(), 80e-3 * 3 / 8);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.backward().base(), 80e-3 * 5 / 8);
  EXPECT_EQ(stated(setup, "backward"), "50 ms, given, batch / throughput, split by FLOPs");
  EXPECT_EQ(stated(setup, "throughput"), "100 /s, given, ");
  const ScenarioSetup rest = with_base({{"throughput", "100 /s"}, {"batch", "8"}, {"other", "16ms"}});
  EXPECT_DOUBLE_EQ(rest.scenario.workload.backward().base(), 64e-3 * 5 / 8);
  EXPECT_DOUBLE_EQ(rest.scenario.workload.other.base(), 16e-3);
  EXPECT_EQ(refused({{"throughput", "100 /s"}, {"batch", "8"}, {"other", "80ms"}}),
            "value --other: \"80ms\" is all of the step: expected less than batch / throughput, 80 ms");
}

TEST(ComputeTimes, ATimingOfThisDeviceAndPrecisionComesNext) {
  const ScenarioSetup setup = with_base({{"batch", "64"}});
  EXPECT_EQ(stated(setup, "backward"), "150 ms, published, a paper");
  EXPECT_EQ(setup.compute, Origin::published);
  EXPECT_THAT(setup.warnings, IsEmpty());
  const ScenarioSetup half = with_base({{"batch", "8"}, {"compute-dtype", "fp16"}});
  EXPECT_DOUBLE_EQ(half.scenario.workload.backward().base(), 5e-3);
  EXPECT_EQ(stated(half, "compute_dtype"), "fp16, given, ");
}

TEST(ComputeTimes, ATimingWithoutABatchKeepsItsOwn) {
  const ScenarioSetup setup = with_base({});
  EXPECT_EQ(stated(setup, "batch"), "8, measured, a stopwatch");
  EXPECT_EQ(stated(setup, "backward"), "20 ms, measured, a stopwatch");
}

TEST(ComputeTimes, AnotherBatchScalesTheNearestTimingAloud) {
  const ScenarioSetup setup = with_base({{"batch", "16"}});
  EXPECT_DOUBLE_EQ(setup.scenario.workload.forward().base(), 20e-3);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.backward().base(), 40e-3);
  EXPECT_DOUBLE_EQ(setup.scenario.workload.other.base(), 5e-3) << "the optimizer does not see the batch";
  EXPECT_EQ(stated(setup, "backward"), "40 ms, measured, a stopwatch; scaled from batch 8 to 16");
  EXPECT_THAT(setup.warnings,
              ElementsAre("compute times of tiny on gpu are scaled from batch 8 to 16: measure them, or "
                          "give --forward and --backward"));
  EXPECT_DOUBLE_EQ(with_base({{"batch", "32"}}).scenario.workload.backward().base(), 75e-3)
      << "64 is nearer than 8";
}

TEST(ComputeTimes, OtherAloneReplacesTheTimings) {
  EXPECT_EQ(stated(with_base({{"batch", "8"}, {"other", "1ms"}}), "other"), "1 ms, given, ");
}

TEST(ComputeTimes, ElseTheyAreEstimatedFromFlops) {
  const ScenarioSetup setup = with_base({{"batch", "4"}, {"compute-dtype", "bf16"}});
  // 4 x 50 FLOP at 40 GFLOP/s x 40 %
  EXPECT_DOUBLE_EQ(setup.scenario.workload.backward().base(), 4 * 50 / (40e9 * 0.4));
  EXPECT_EQ(stated(setup, "backward"),
            "12.5 ns, estimated, FLOPs of the batch / (peak x efficiency) in bf16");
  EXPECT_EQ(stated(setup, "compute_efficiency"), "40%, assumed, no profile states it");
  EXPECT_EQ(stated(setup, "other"), "0 ns, assumed, not stated: optimizer and data loading are left out");
  EXPECT_EQ(setup.compute, Origin::estimated);
  EXPECT_EQ(setup.judge.compute_uncertainty, uncertainty(Origin::estimated));
  EXPECT_EQ(refused({{"compute-dtype", "bf16"}}),
            "value --batch: is missing: expected the samples of one worker");
  EXPECT_EQ(refused({{"compute-dtype", "tf32"}, {"batch", "4"}}),
            "value --compute-dtype: gpu has no tf32 peak: expected one of fp32, bf16");
}

}  // namespace
}  // namespace breakeven
