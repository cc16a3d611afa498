// Does the verdict flip where the predictions do?
#include "model/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
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
  ASSERT_EQ(verdict.where.bandwidth->size(), 1U);
  EXPECT_EQ((*verdict.where.bandwidth)[0].first, BytesPerSecond{});
  EXPECT_NEAR((*verdict.where.bandwidth)[0].second.base(), 3.15e9, 1);
  EXPECT_NEAR(verdict.where.codec_below->base(), 0.9 * 0.035, 1e-9);
  // On both sides of the threshold, by the prediction itself.
  Scenario scenario = exposed();
  for (const double side : {0.999, 1.001}) {
    scenario.fabric.across.bandwidth = (*verdict.where.bandwidth)[0].second * side;
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
  ASSERT_EQ(verdict.where.workers->size(), 1U);
  EXPECT_EQ((*verdict.where.workers)[0].first, 2U);
  EXPECT_EQ((*verdict.where.workers)[0].second, 39U);
}

TEST(Verdict, WorkersComeInWholeNodes) {
  Scenario scenario = exposed();
  scenario.workers = 16;
  scenario.workers_per_node = 4;
  const Verdict verdict = judge(scenario, plain(), Fake(0.05, {}, Seconds::of(1e-9), Exchange::all_gather),
                                Placement::serial, exactly());
  ASSERT_FALSE(verdict.where.workers->empty());
  EXPECT_EQ(verdict.where.workers->back().second % 4, 0U);
}

TEST(Verdict, EveryEndOfARangeIsACountThatFillsNodes) {
  // Gains that come and go within 8 to 40 workers must be seen, whatever the size of a node.
  for (const std::size_t node : {1U, 3U, 5U, 8U, 16U, 72U}) {
    for (const double ratio : {0.02, 0.05, 0.2}) {
      Scenario scenario = exposed();
      scenario.workers_per_node = node;
      scenario.workers = 4 * node;
      const Fake gathered(ratio, {}, Seconds::of(1e-9), Exchange::all_gather);
      const WorkerIntervals ranges =
          *judge(scenario, plain(), gathered, Placement::serial, exactly()).where.workers;
      const auto pays = [&](std::size_t workers) {
        Scenario there = scenario;
        there.workers = workers;
        return judge(there, plain(), gathered, Placement::serial, exactly()).call == Call::pays;
      };
      const auto legal = [&](std::size_t workers) { return workers < node || workers % node == 0; };
      for (std::size_t workers = 2; workers <= 6 * node; ++workers) {
        if (!legal(workers)) {
          continue;
        }
        const bool inside = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
          return workers >= range.first && (range.second == 0 || workers <= range.second);
        });
        EXPECT_EQ(inside, pays(workers)) << workers << " in nodes of " << node << ", ratio " << ratio;
      }
      for (const auto& [low, high] : ranges) {
        EXPECT_TRUE(legal(low)) << low << " in nodes of " << node;
        EXPECT_TRUE(high == 0 || legal(high)) << high << " in nodes of " << node;
      }
    }
  }
}

TEST(Verdict, FewerWorkersThanANodeAreOneNode) {
  Scenario scenario = exposed();
  scenario.workers_per_node = 8;
  scenario.workers = 4;
  scenario.fabric.inside = {"link", 1_GBps, {}, 1};
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, exactly());
  for (const auto& [low, high] : *verdict.where.workers) {
    EXPECT_TRUE(low <= 8 || low % 8 == 0) << low;
  }
}

TEST(Verdict, RangesAreNotLookedForWhereAMeasuredTableGivesThePrice) {
  Scenario scenario = exposed();
  scenario.fabric.tables = {{Exchange::all_reduce, 8, 1, {{1_MB, 2_ms}, {100_MB, 200_ms}}}};
  const Fake fake(0.1, 1_ms, 1_ms);
  const Verdict measured = judge(scenario, plain(), fake, Placement::serial, exactly());
  EXPECT_FALSE(measured.where.bandwidth);
  EXPECT_FALSE(measured.where.workers);
  EXPECT_TRUE(measured.where.codec_below);
  scenario.workers = 16;  // no table: the formula, and its ranges
  EXPECT_TRUE(judge(scenario, plain(), fake, Placement::serial, exactly()).where.bandwidth);
}

TEST(Verdict, CopiesToTheHostAreNoCodec) {
  Scenario scenario = exposed();
  scenario.overlap.placement = Placement::host;
  scenario.overlap.host = scenario.device;  // 20 MB both ways at 10 GB/s: 4 ms
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 6_ms, 4_ms), Placement::serial, exactly());
  EXPECT_NEAR(verdict.where.codec_below->base(), 0.9 * 0.035 - 0.004, 1e-9);
}

TEST(Verdict, TheBoundIsTakenWhereComputeGainsMost) {
  // 1.5 % of the step waits at the nominal times, 3 % where compute takes half of them.
  JudgeOptions options;
  options.margin = 0.02;
  options.codec_uncertainty = 0;
  options.compute_uncertainty = 0.5;
  Scenario scenario = exposed();
  scenario.fabric.across.bandwidth = BytesPerSecond::of(35e-3 / (0.015 * 0.15) * 1e9);
  const Fake free(0.01, {}, Seconds::of(1e-9));
  const Verdict verdict = judge(scenario, plain(), free, Placement::serial, options);
  EXPECT_GT(verdict.speedup_high, 1.02);
  EXPECT_EQ(verdict.call, Call::too_close);
  options.compute_uncertainty = 0;
  EXPECT_EQ(judge(scenario, plain(), free, Placement::serial, options).call, Call::does_not_pay);
}

TEST(Verdict, NeverAboveOneIsNotTooClose) {
  EXPECT_EQ(decide(0.90, 0.99, 2, 0.02), Call::does_not_pay);
  EXPECT_EQ(decide(0.99, 0.995, 2, 0.02), Call::too_close);  // a tie within the margin
  EXPECT_EQ(decide(0.90, 1.01, 2, 0.02), Call::too_close);
  EXPECT_EQ(decide(1.03, 1.5, 2, 0.02), Call::pays);
}

TEST(Verdict, SaysWhichUncertaintyMovesIt) {
  JudgeOptions options;
  options.codec_uncertainty = 0.5;
  options.compute_uncertainty = 0;
  const Verdict codec = judge(exposed(), plain(), Fake(0.1, 6_ms, 4_ms), Placement::serial, options);
  EXPECT_GT(codec.codec_swing, 0.01);
  EXPECT_EQ(codec.compute_swing, 0);
  options.codec_uncertainty = 0;
  options.compute_uncertainty = 0.5;
  const Verdict compute = judge(exposed(), plain(), Fake(0.1, 6_ms, 4_ms), Placement::serial, options);
  EXPECT_EQ(compute.codec_swing, 0);
  EXPECT_GT(compute.compute_swing, 0.01);
}

TEST(Verdict, WithoutANetworkOnlyTheNodeIsAskedAbout) {
  Scenario scenario = exposed();
  scenario.workers = scenario.workers_per_node = 8;
  scenario.fabric.across = {};
  scenario.fabric.inside.bandwidth = 1_GBps;
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 1_ms, 1_ms), Placement::serial, exactly());
  EXPECT_EQ(verdict.call, Call::pays);
  EXPECT_EQ(verdict.where.workers, (WorkerIntervals{{2, 0}}));
  ASSERT_EQ(verdict.where.bandwidth->size(), 1U);
  EXPECT_LT((*verdict.where.bandwidth)[0].second, 100_GBps);
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

TEST(Verdict, WhatEqualsPlainDoesNotPay) {
  JudgeOptions options;
  options.compute_uncertainty = 0.3;
  const Verdict same = judge(exposed(), plain(), plain(), Placement::serial, options);
  EXPECT_EQ(same.speedup, 1);
  EXPECT_EQ(same.call, Call::does_not_pay);
  // By a byte in a thousand less it is a gain within the margin.
  EXPECT_EQ(judge(exposed(), plain(), Fake(0.999, {}, {}), Placement::serial, options).call, Call::too_close);
}

TEST(Verdict, NothingCanPayOnOneWorker) {
  Scenario scenario = exposed();
  scenario.workers = 1;
  const Verdict verdict = judge(scenario, plain(), Fake(0.1, 1_ms, {}));
  EXPECT_EQ(verdict.call, Call::does_not_pay);
  EXPECT_FALSE(verdict.where.bandwidth);
  EXPECT_FALSE(verdict.where.codec_below);
}

TEST(Verdict, EveryOptionChangesWhatItSays) {
  const Fake fake(0.1, 6_ms, 4_ms);
  JudgeOptions options = exactly();
  const Verdict base = judge(exposed(), plain(), fake, Placement::serial, options);
  options.where = false;
  EXPECT_FALSE(judge(exposed(), plain(), fake, Placement::serial, options).where.bandwidth.has_value());
  options = exactly();
  options.margin = 0.1;
  EXPECT_LT(judge(exposed(), plain(), fake, Placement::serial, options).where.bandwidth->front().second,
            base.where.bandwidth->front().second);
  options = exactly();
  options.compute_uncertainty = 0.5;
  const Verdict wide = judge(exposed(), plain(), fake, Placement::serial, options);
  EXPECT_LT(wide.speedup_low, wide.speedup);
  EXPECT_GT(wide.speedup_high, wide.speedup);
  options = exactly();
  options.max_workers = 16;
  EXPECT_NE(judge(exposed(), plain(), Fake(0.05, {}, Seconds::of(1e-9), Exchange::all_gather),
                  Placement::serial, options)
                .where.workers->back()
                .second,
            39U);
}

}  // namespace
}  // namespace breakeven
