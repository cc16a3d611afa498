// Does the event loop book every moment once, and equal the theory where the theory is exact?
#include "model/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/closed_form.h"
#include "model/predict.h"
#include "tests/model/fakes.h"

namespace breakeven {
namespace {

using testing::Fake;
using testing::plain;

Stage on(Resource resource, Activity activity, double seconds) {
  return {resource, activity, Seconds::of(seconds), 0};
}
Stage wire(double seconds) {
  return on(Resource::network, Activity::exchange, seconds);
}
double total(const Breakdown& parts) {
  return parts.backward_and_sync().base();
}

TEST(Timeline, OneMessageFollowsBackward) {
  const Chain chains[] = {{2_s, {wire(3)}}};
  const Breakdown parts = run_timeline(chains, 2_s, {});
  EXPECT_DOUBLE_EQ(total(parts), 5);
  EXPECT_DOUBLE_EQ(parts.exposed_communication.base(), 3);
}

TEST(Timeline, BackwardIsSlowedOnlyWhileTheNetworkIsBusy) {
  // Ready after 1 s of 4; 1 s of network at gamma 2 lets backward do half a second; then 2.5 s are left.
  const Chain chains[] = {{1_s, {wire(1)}}};
  const Breakdown parts = run_timeline(chains, 4_s, {2, 1});
  EXPECT_DOUBLE_EQ(total(parts), 1 + 1 + 2.5);
  EXPECT_DOUBLE_EQ(parts.slowdown.base(), 0.5);
  EXPECT_DOUBLE_EQ(parts.exposed_communication.base(), 0);
}

TEST(Timeline, AHookStopsBackward) {
  const Chain chains[] = {{1_s,
                           {on(Resource::compute, Activity::encode, 0.5), wire(1),
                            on(Resource::compute, Activity::decode, 0.25)}}};
  const Breakdown parts = run_timeline(chains, 4_s, {});
  EXPECT_DOUBLE_EQ(total(parts), 4.75);
  EXPECT_DOUBLE_EQ(parts.exposed_codec.base(), 0.75);
  EXPECT_DOUBLE_EQ(parts.encode.base(), 0.5);
  EXPECT_DOUBLE_EQ(parts.decode.base(), 0.25);
}

TEST(Timeline, AStreamSlowsBackwardAndTheHostDoesNot) {
  const auto run = [](Resource resource) {
    const Chain chains[] = {{1_s, {on(resource, Activity::encode, 1), wire(0.5)}}};
    return run_timeline(chains, 4_s, {1, 2});
  };
  EXPECT_DOUBLE_EQ(total(run(Resource::codec)), 4.5);
  EXPECT_DOUBLE_EQ(run(Resource::codec).slowdown.base(), 0.5);
  EXPECT_DOUBLE_EQ(total(run(Resource::host)), 4);
}

TEST(Timeline, TheNetworkServesInOrderOfArrival) {
  // The first message encodes for 2 s, so the second reaches the network first.
  const Chain chains[] = {{0_s, {on(Resource::codec, Activity::encode, 2), wire(1)}}, {1_s, {wire(5)}}};
  std::vector<Span> spans;
  run_timeline(chains, 1_s, {}, &spans);
  std::vector<std::size_t> order;
  for (const Span& span : spans) {
    if (span.resource == Resource::network) {
      order.push_back(span.message);
    }
  }
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 0}));
}

TEST(Timeline, NothingToExchangeIsBackwardAlone) {
  EXPECT_DOUBLE_EQ(total(run_timeline({}, 3_s, {2, 2})), 3);
  EXPECT_DOUBLE_EQ(total(run_timeline({}, 0_s, {2, 2})), 0);
  const Chain empty[] = {{1_s, {}}, {2_s, {wire(0)}}};
  EXPECT_DOUBLE_EQ(total(run_timeline(empty, 3_s, {2, 2})), 3);
}

// ---- timeline = closed form where that is exact ----

double sync(Scenario scenario, const Compressor& compressor, Method method,
            Placement placement = Placement::serial) {
  scenario.method = method;
  return predict(scenario, compressor, placement).parts.backward_and_sync().base();
}
void expect_equal(const Scenario& scenario, const Compressor& compressor) {
  const double loop = sync(scenario, compressor, Method::timeline);
  const double form = sync(scenario, compressor, Method::closed_form);
  EXPECT_NEAR(loop / form, 1, 1e-12);
}

TEST(Formula, OneBucketIsExact) {
  Scenario scenario = testing::scenario(20, 1000000, 0.05);
  scenario.schedule = make_schedule("bsp");
  expect_equal(scenario, plain());
}

TEST(Formula, SerialCompressionIsExact) {
  for (const char* schedule : {"bsp", "ddp", "wfbp"}) {
    Scenario scenario = testing::scenario(20, 1000000, 0.05, 1.3);
    scenario.schedule = make_schedule(schedule);
    expect_equal(scenario, Fake(0.1, 7_ms, 5_ms));
    expect_equal(scenario, Fake(0.1, 7_ms, 5_ms, Exchange::all_gather));
  }
}

TEST(Formula, AllTensorsReadyAtOnceIsExact) {
  // No backward left to hide behind: every exchange counts, whatever the buckets.
  for (const char* schedule : {"ddp:cap=8MB", "wfbp", "equal:cap=3MB"}) {
    Scenario scenario = testing::scenario(20, 1000000, 0, 1.3);
    scenario.schedule = make_schedule(schedule);
    expect_equal(scenario, plain());
  }
}

TEST(Formula, InfiniteBandwidthOrOneWorkerIsComputeAlone) {
  Scenario scenario = testing::scenario(20, 1000000, 0.05, 1.3);
  scenario.workers = 1;
  expect_equal(scenario, plain());
  EXPECT_NEAR(sync(scenario, plain(), Method::timeline), 0.05, 1e-14);
  scenario.workers = 8;
  scenario.fabric.across = {"network", BytesPerSecond::of(1e300), {}, 1};
  EXPECT_NEAR(sync(scenario, plain(), Method::timeline), 0.05, 1e-14);
}

TEST(Formula, BoundByTheNetworkBothApproachTheSumOfExchanges) {
  // Both sides of the threshold gamma T = (k-1) T_comm: the closed form starts the first exchange at 0, the
  // loop when it is ready.
  Scenario scenario = testing::scenario(100, 1000000, 0.05);
  scenario.fabric.across.bandwidth = BytesPerSecond::of(1e8);
  const double loop = sync(scenario, plain(), Method::timeline);
  const double form = sync(scenario, plain(), Method::closed_form);
  EXPECT_NEAR(loop - form, 0.05 / 100, 1e-9);
  scenario.fabric.across.bandwidth = BytesPerSecond::of(1e12);
  EXPECT_NEAR(sync(scenario, plain(), Method::timeline), sync(scenario, plain(), Method::closed_form), 1e-5);
}

TEST(Formula, TheLastBucketCanBeMovedInsideTheMax) {
  const Seconds exchanges[] = {40_ms, 40_ms, 20_ms};
  EXPECT_DOUBLE_EQ(overlapped(100_ms, {}, 1.1, exchanges).base(), 0.130);
  EXPECT_DOUBLE_EQ(overlapped(100_ms, {}, 1.1, exchanges, true).base(), 0.110);
  EXPECT_DOUBLE_EQ(overlapped(50_ms, {}, 1.1, exchanges).base(), 0.100);
  EXPECT_DOUBLE_EQ(overlapped(100_ms, 10_ms, 1.1, exchanges).base(), 0.140);  // gamma is backward's alone
  const Seconds none[] = {{}, {}, {}};
  EXPECT_DOUBLE_EQ(near_linear_ratio(20_ms, exchanges, none), 4);
  EXPECT_DOUBLE_EQ(near_linear_ratio(200_ms, exchanges, none), 1);
  const Seconds latencies[] = {4_ms, 4_ms, 4_ms};  // no ratio shrinks them: (80 - 8) / (20 - 8)
  EXPECT_DOUBLE_EQ(near_linear_ratio(20_ms, exchanges, latencies), 6);
  EXPECT_TRUE(std::isinf(near_linear_ratio(8_ms, exchanges, latencies)));
}

// ---- properties over random scenarios ----

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  std::mt19937 engine;
};

Scenario random_scenario(Random& random) {
  Scenario scenario = testing::scenario(random.count(1, 30), random.count(1, 3000000), random.real(0, 0.2),
                                        random.real(1, 1.5));
  scenario.workers_per_node = random.count(1, 8);
  scenario.workers = scenario.workers_per_node * random.count(1, 16);
  scenario.fabric.across.bandwidth = BytesPerSecond::of(std::pow(10, random.real(7, 12)));
  scenario.fabric.offered = {Algorithm::ring, Algorithm::double_tree};
  const char* schedules[] = {"ddp", "ddp:cap=4MB", "wfbp", "bsp", "equal:cap=5MB"};
  scenario.schedule = make_schedule(schedules[random.count(0, 4)]);
  const Placement placements[] = {Placement::serial, Placement::hook, Placement::blocking, Placement::stream,
                                  Placement::host};
  scenario.overlap.placement = placements[random.count(0, 4)];
  scenario.overlap.bucket_copy =
      BytesPerSecond::of(random.count(0, 1) == 0 ? 0 : std::pow(10, random.real(9, 12)));
  scenario.overlap.gamma_codec = random.real(1, 2);
  scenario.overlap.host = scenario.device;
  return scenario;
}

TEST(Property, PartsAddUpSpansNeverOverlapAndWorkIsConserved) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Scenario scenario = random_scenario(random);
    const Fake fake(random.real(0.01, 1), Seconds::of(random.real(0, 0.01)),
                    Seconds::of(random.real(0, 0.01)));
    const Prediction prediction = predict(scenario, fake);
    std::array<std::vector<Span>, kResources> by_resource;
    Seconds end;
    Seconds exchanges;
    Seconds backward;
    for (const Span& span : prediction.spans) {
      by_resource[static_cast<std::size_t>(span.resource)].push_back(span);
      end = std::max(end, span.end);
      exchanges += span.activity == Activity::exchange ? span.end - span.begin : Seconds{};
      backward += span.activity == Activity::backward ? span.end - span.begin : Seconds{};
    }
    for (auto& spans : by_resource) {
      // By their end: a begin is an end less a time, and rounded.
      std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.end < b.end; });
      for (std::size_t i = 1; i < spans.size(); ++i) {
        ASSERT_GE(spans[i].begin.base(), spans[i - 1].end.base() - 1e-12);
      }
    }
    const Breakdown& parts = prediction.parts;
    ASSERT_NEAR(parts.backward_and_sync().base(), end.base(), 1e-11);
    ASSERT_NEAR(parts.communication.base(), exchanges.base(), 1e-11);
    ASSERT_NEAR((parts.backward + parts.slowdown).base(), backward.base(), 1e-11);
    ASSERT_GE(parts.exposed_codec, Seconds{});
    ASSERT_GE(parts.exposed_communication, Seconds{});
    // Never faster than any resource alone, never slower than everything in a row.
    ASSERT_GE(end.base(), parts.communication.base() - 1e-12);
    ASSERT_GE(end.base(), parts.backward.base() - 1e-12);
  }
}

TEST(Property, MoreBandwidthNeverHurtsAndScalingBytesWithBandwidthChangesNothing) {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Scenario scenario = random_scenario(random);
    scenario.overlap.placement = Placement::serial;
    const double ratio = random.real(0.01, 1);
    for (const Fake& scheme :
         {plain(), Fake(ratio, 4_ms, 3_ms), Fake(ratio, 4_ms, 3_ms, Exchange::all_gather)}) {
      const double before = predict(scenario, scheme).step.base();
      Scenario faster = scenario;
      faster.fabric.across.bandwidth *= 2;
      ASSERT_LE(predict(faster, scheme).step.base(), before * (1 + 1e-12));
      Scenario scaled = scenario;
      scaled.fabric.across.bandwidth *= 2;
      scaled.fabric.inside.bandwidth *= 2;
      ASSERT_NEAR(predict(scaled, Fake(2, {}, {})).step.base(), predict(scenario, plain()).step.base(),
                  1e-11);
    }
  }
}

TEST(Property, ZeroWorkIsPlainWhateverThePlacement) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Scenario scenario = random_scenario(random);
    const double step = predict(scenario, plain()).step.base();
    for (const Placement placement :
         {Placement::serial, Placement::hook, Placement::blocking, Placement::stream, Placement::host}) {
      scenario.overlap.placement = placement;
      ASSERT_EQ(predict(scenario, plain()).step.base(), step);
    }
  }
}

TEST(Placement, TheHostPaysCopiesBothWays) {
  Scenario scenario = testing::scenario(4, 1000000, 0.1);
  scenario.schedule = make_schedule("bsp");
  scenario.overlap.placement = Placement::host;
  scenario.overlap.host = scenario.device;
  const Fake fake(0.1, 1_ms, 1_ms);
  const double host = predict(scenario, fake).step.base();
  scenario.overlap.placement = Placement::hook;
  const double hook = predict(scenario, fake).step.base();
  EXPECT_NEAR(host - hook, 2 * 16e6 / 10e9, 1e-12);
}

TEST(Placement, ABlockingHookAddsEveryExchangeToTheStep) {
  Scenario scenario = testing::scenario(4, 1000000, 0.1, 1.5);
  scenario.schedule = make_schedule("wfbp");
  scenario.overlap.placement = Placement::blocking;
  const Fake fake(0.1, 1_ms, 2_ms);
  const Breakdown parts = predict(scenario, fake).parts;
  EXPECT_NEAR(parts.exposed_codec.base(), 4 * 3e-3, 1e-12);
  EXPECT_NEAR(parts.exposed_communication.base(), parts.communication.base(), 1e-12);
  EXPECT_GT(parts.communication, Seconds{});
  EXPECT_EQ(parts.slowdown, Seconds{});  // nothing runs beside an exchange
  scenario.overlap.placement = Placement::hook;
  EXPECT_LT(predict(scenario, fake).parts.exposed_communication, parts.exposed_communication);
}

TEST(Placement, TheFrameworkCopiesIntoBucketsAndWhatAHookReturnsBack) {
  Scenario scenario = testing::scenario(4, 1000000, 0.1);
  scenario.schedule = make_schedule("bsp");
  scenario.overlap.placement = Placement::hook;
  const double copy = 16e6 / 10e9;
  const auto costs = [&](const Compressor& scheme) {
    Scenario copying = scenario;
    copying.overlap.bucket_copy = BytesPerSecond::of(10e9);
    const Breakdown before = predict(scenario, scheme).parts;
    const Breakdown after = predict(copying, scheme).parts;
    EXPECT_NEAR((after.exposed_codec - before.exposed_codec).base(), (after.step() - before.step()).base(),
                1e-12);
    return (after.step() - before.step()).base();
  };
  EXPECT_NEAR(costs(plain()), copy, 1e-12);
  EXPECT_NEAR(costs(Fake(0.1, 1_ms, 1_ms)), 2 * copy, 1e-12);
  scenario.workers = scenario.workers_per_node = 1;
  EXPECT_EQ(costs(plain()), 0);
}

TEST(Placement, TheClosedFormRefusesWhatItHasNoTermFor) {
  Scenario scenario = testing::scenario(4, 1000000, 0.1);
  scenario.method = Method::closed_form;
  for (const Placement placement : {Placement::stream, Placement::host, Placement::blocking}) {
    scenario.overlap.placement = placement;
    EXPECT_ANY_THROW(predict(scenario, Fake(0.1, 1_ms, 1_ms)));
    EXPECT_NO_THROW(predict(scenario, plain()));
  }
}

}  // namespace
}  // namespace breakeven
