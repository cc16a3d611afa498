// Does the verdict flip where the predictions do?
#include "model/verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/fakes.h"

namespace breakeven {
namespace {

using testing::Fake;
using testing::plain;

/// 20 MB over 8 workers at 1 GB/s, no latency, nothing hidden: plain 35 ms, a tenth of the bytes 3.5 ms.
Scenario exposed() {
  Scenario scenario = testing::scenario(5, 1000000, 0.1);
  scenario.schedule = make_schedule("bsp");
  scenario.fabric.across.latency = {};
  return scenario;
}
JudgeOptions exactly() {
  JudgeOptions options;
  options.margin = 0;
  options.codec_uncertainty = 0;
  return options;
}

TEST(Verdict, BreakEvenBandwidthIsWhereBothStepsAreEqual) {
  // (1 - 0.1) * 35 ms * (1 GB/s / B) = 10 ms of codec: B = 3.15 GB/s.
  const Verdict verdict = judge(exposed(), plain(), Fake(0.1, 6_ms, 4_ms), Placement::serial, exactly());
  EXPECT_EQ(verdict.call, Call::pays);
  ASSERT_EQ(verdict.bandwidth.size(), 1U);
  EXPECT_EQ(verdict.bandwidth[0].first, BytesPerSecond{});
  EXPECT_NEAR(verdict.bandwidth[0].second.base(), 3.15e9, 1);
  EXPECT_NEAR(verdict.codec_below->base(), 0.9 * 0.035, 1e-9);
  // On both sides of the threshold, by the prediction itself.
  Scenario scenario = exposed();
  for (const double side : {0.999, 1.001}) {
    scenario.fabric.across.bandwidth = verdict.bandwidth[0].second * side;
    const Verdict there = judge(scenario, plain(), Fake(0.1, 6_ms, 4_ms), Placement::serial, exactly());
    EXPECT_EQ(there.call == Call::pays, side < 1);
  }
}

TEST(Verdict, ExtraStepsEatTheGain) {
  JudgeOptions options = exactly();
  const Verdict verdict = judge(exposed(), plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, options);
  const double limit = verdict.extra_steps_below;
  EXPECT_NEAR(limit, verdict.plain / verdict.candidate - 1, 1e-12);
  options.extra_steps = limit * 1.01;
  EXPECT_LT(judge(exposed(), plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, options).speedup, 1);
  options.extra_steps = limit * 0.99;
  EXPECT_GT(judge(exposed(), plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, options).speedup, 1);
}

TEST(Verdict, GatheredPayloadsPayOnlyForFewWorkers) {
  // A 1/20 payload gathered: (n-1)/20 against 2(n-1)/n: pays below n = 40 with a free codec.
  const Verdict verdict = judge(exposed(), plain(), Fake(0.05, {}, Seconds::of(1e-9), Exchange::all_gather),
                                Placement::serial, exactly());
  ASSERT_EQ(verdict.workers.size(), 1U);
  EXPECT_EQ(verdict.workers[0].first, 2U);
  EXPECT_EQ(verdict.workers[0].second, 39U);
}

TEST(Verdict, WorkersComeInWholeNodes) {
  Scenario scenario = exposed();
  scenario.workers = 16;
  scenario.workers_per_node = 4;
  const Verdict verdict = judge(scenario, plain(), Fake(0.05, {}, Seconds::of(1e-9), Exchange::all_gather),
                                Placement::serial, exactly());
  ASSERT_FALSE(verdict.workers.empty());
  EXPECT_EQ(verdict.workers.back().second % 4, 0U);
}

TEST(Verdict, WithoutANetworkOnlyTheNodeIsAskedAbout) {
  Scenario scenario = exposed();
  scenario.workers = scenario.workers_per_node = 8;
  scenario.fabric.across = {};
  scenario.fabric.inside.bandwidth = 1_GBps;
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, exactly());
  EXPECT_EQ(verdict.call, Call::pays);
  EXPECT_EQ(verdict.workers, (WorkerIntervals{{2, 0}}));
  ASSERT_EQ(verdict.bandwidth.size(), 1U);
  EXPECT_LT(verdict.bandwidth[0].second, 100_GBps);
}

TEST(Verdict, TooCloseIsWithinTheMarginOrTheUncertainty) {
  const auto call = [](double codec_ms, double margin, double uncertainty) {
    JudgeOptions options;
    options.margin = margin;
    options.codec_uncertainty = uncertainty;
    const Fake fake(0.1, Seconds::of(codec_ms * 1e-3), {});
    return judge(exposed(), plain(), fake, Placement::serial, options).call;
  };
  // Plain is 135 ms; the scheme saves 31.5 ms of network.
  EXPECT_EQ(call(10, 0.02, 0), Call::pays);
  EXPECT_EQ(call(31, 0.02, 0), Call::too_close);
  EXPECT_EQ(call(33, 0.02, 0), Call::too_close);
  EXPECT_EQ(call(60, 0.02, 0), Call::does_not_pay);
  EXPECT_EQ(call(25, 0.02, 0), Call::pays);
  EXPECT_EQ(call(25, 0.02, 0.5), Call::too_close);
  EXPECT_EQ(call(10, 0.02, 0.5), Call::pays);
  EXPECT_EQ(decide(0.99, 1.005, 1.005, 0.02), Call::does_not_pay);  // the bound leaves nothing to gain
}

TEST(Verdict, NothingCanPayOnOneWorker) {
  Scenario scenario = exposed();
  scenario.workers = 1;
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 1_ms, {}));
  EXPECT_EQ(verdict.call, Call::does_not_pay);
  EXPECT_TRUE(verdict.bandwidth.empty());
  EXPECT_FALSE(verdict.codec_below);
}

TEST(Verdict, EveryOptionChangesWhatItSays) {
  const Fake fake(0.1, 6_ms, 4_ms);
  JudgeOptions options = exactly();
  const Verdict base = judge(exposed(), plain(), fake, Placement::serial, options);
  options.where = false;
  EXPECT_TRUE(judge(exposed(), plain(), fake, Placement::serial, options).bandwidth.empty());
  options = exactly();
  options.margin = 0.1;
  EXPECT_LT(judge(exposed(), plain(), fake, Placement::serial, options).bandwidth[0].second,
            base.bandwidth[0].second);
  options = exactly();
  options.compute_uncertainty = 0.5;
  const Verdict wide = judge(exposed(), plain(), fake, Placement::serial, options);
  EXPECT_LT(wide.speedup_low, wide.speedup);
  EXPECT_GT(wide.speedup_high, wide.speedup);
  options = exactly();
  options.max_workers = 16;
  EXPECT_NE(judge(exposed(), plain(), Fake(0.05, {}, Seconds::of(1e-9), Exchange::all_gather),
                  Placement::serial, options)
                .workers.back()
                .second,
            39U);
}

}  // namespace
}  // namespace breakeven
