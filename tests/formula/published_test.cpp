// Do the equations give the values derived from "On the Utility of Gradient Compression" (arXiv 2103.00543)?
// V1 to V15 and V23 to V27 through the public library; alpha = 0 unless said, 10 Gbit/s.
#include <gtest/gtest.h>

#include <vector>

#include "compressors/builtin.h"
#include "model/closed_form.h"
#include "model/codec.h"
#include "model/collectives.h"
#include "model/verdict.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

constexpr double kTenGbit = 1.25e9;

Level wire(double bandwidth = kTenGbit, double alpha = 0) {
  return {"network", BytesPerSecond::of(bandwidth), Seconds::of(alpha), 1};
}
double ring_ms(double size, std::size_t workers, double alpha = 0, double steps = 2) {
  return ring_all_reduce(wire(kTenGbit, alpha), Bytes::of(size), workers, steps).base() * 1e3;
}
double gather_ms(double payload, std::size_t workers) {
  Fabric fabric;
  fabric.across = wire();
  return transfer(fabric, Exchange::all_gather, Bytes::of(payload), {workers, 1}).time.base() * 1e3;
}

void expect_ms(const std::vector<double>& printed, const std::vector<double>& got, double digits = 5e-5) {
  ASSERT_EQ(printed.size(), got.size());
  for (std::size_t i = 0; i < printed.size(); ++i) {
    EXPECT_NEAR(got[i], printed[i], digits) << "at " << i;
  }
}

const std::vector<std::size_t> kSix = {4, 8, 16, 32, 64, 96};
const std::vector<std::size_t> kSeven = {2, 4, 8, 16, 32, 64, 96};
const std::vector<std::size_t> kFive = {8, 16, 32, 64, 96};

std::vector<double> rings(double size, const std::vector<std::size_t>& workers) {
  std::vector<double> result;
  for (const std::size_t n : workers) {
    result.push_back(ring_ms(size, n));
  }
  return result;
}
std::vector<double> gathers(double payload, const std::vector<std::size_t>& workers) {
  std::vector<double> result;
  for (const std::size_t n : workers) {
    result.push_back(gather_ms(payload, n));
  }
  return result;
}

TEST(Published, V1toV6RingAllReduce) {
  expect_ms({30.0, 35.0, 37.5, 38.75, 39.375, 39.5833}, rings(25e6, kSix));
  expect_ms({31.4573, 36.7002, 39.3216, 40.6323, 41.2877, 41.5061}, rings(25 * 1048576.0, kSix));
  EXPECT_NEAR(ring_ms(25e6, 64, 50e-6), 45.675, 5e-4);
  EXPECT_NEAR(ring_ms(25e6, 64, 50e-6, 1), 42.525, 5e-4);
  expect_ms({77.6, 116.4, 135.8, 145.5, 150.35, 152.775, 153.5833}, rings(97e6, kSeven));
  expect_ms({136, 204, 238, 255, 263.5, 267.75, 269.1667}, rings(170e6, kSeven));
  expect_ms({334.4, 501.6, 585.2, 627, 647.9, 658.35, 661.8333}, rings(418e6, kSeven));
}

TEST(Published, V7toV10AllGatherOfSigns) {
  expect_ms({16.975, 36.375, 75.175, 152.775, 230.375}, gathers(97e6 / 32, kFive));
  expect_ms({29.75, 63.75, 131.75, 267.75, 403.75}, gathers(170e6 / 32, kFive));
  expect_ms({73.15, 156.75, 323.95, 658.35, 992.75}, gathers(418e6 / 32, kFive));
  for (const double size : {97e6, 170e6, 418e6}) {  // p = 2c, c = 32: no more network time saved
    EXPECT_NEAR(gather_ms(size / 32, 64), ring_ms(size, 64), 1e-9);
  }
}

/// A gradient of `size` bytes on flat 10 Gbit/s workers under the closed form.
Scenario closed_form(double size, double compute_ms, std::size_t workers, double gamma, double alpha = 0) {
  Scenario scenario;
  scenario.workload = plain_workload("gradient", static_cast<std::size_t>(size / 4));
  set_times(scenario.workload, {}, Seconds::of(compute_ms * 1e-3));
  scenario.fabric.across = wire(kTenGbit, alpha);
  scenario.fabric.offered = {Algorithm::ring};
  scenario.workers = workers;
  scenario.schedule = make_schedule("equal:cap=25MB");
  scenario.overlap.gamma = gamma;
  scenario.method = Method::closed_form;
  return scenario;
}
double sync_ms(const Scenario& scenario) {
  Registry registry;
  add_builtin(registry);
  return predict(scenario, *registry.make("none").compressor).parts.backward_and_sync().base() * 1e3;
}

TEST(Published, V11toV15SyncSgd) {
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 96, 1.04)), 161.7133, 5e-5);
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 96, 1.1)), 169.0333, 5e-5);
  for (const double gamma : {1.04, 1.1}) {
    Scenario inside = closed_form(97e6, 122, 96, gamma);
    inside.last_bucket_inside = true;
    EXPECT_NEAR(sync_ms(inside), 153.5833, 5e-5);
  }
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 64, 1.04)), 161.53, 5e-3);
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 64, 1.1)), 168.85, 5e-3);
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 64, 1.07)), 165.19, 5e-3);
  EXPECT_NEAR(sync_ms(closed_form(97e6, 122, 64, 1.07, 50e-6)), 177.975, 5e-4);
  for (const double gamma : {1.04, 1.1}) {
    EXPECT_NEAR(sync_ms(closed_form(170e6, 200, 96, gamma)), 269.1667, 5e-5);
  }
  EXPECT_NEAR(sync_ms(closed_form(418e6, 350, 96, 1.07)), 661.8333, 5e-5);
  EXPECT_NEAR(sync_ms(closed_form(97e6, 50, 64, 1.07)), 152.775, 5e-4);
}

/// ResNet-50 with its real shapes, 122 ms of backward, 64 workers; plain all-reduce in buckets of `bucket`.
Scenario resnet50(const char* bucket, double compute_ms = 122) {
  Scenario scenario = closed_form(0, compute_ms, 64, 1.07);
  scenario.workload = Catalogue().model("resnet50").workload;
  set_times(scenario.workload, {}, Seconds::of(compute_ms * 1e-3));
  scenario.schedule = make_schedule(std::string("equal:cap=") + bucket);
  return scenario;
}
std::shared_ptr<const Compressor> compressor(const std::string& spec, double codec_ms) {
  Registry registry;
  add_builtin(registry);
  const Candidate candidate = registry.make(spec);
  return with_given(candidate.compressor, Seconds::of(codec_ms * 1e-3), {}, 25557032);
}
std::shared_ptr<const Compressor> plain() {
  Registry registry;
  add_builtin(registry);
  return registry.make("none").compressor;
}
double crossover_gbit(const Scenario& scenario, const Compressor& candidate) {
  JudgeOptions options;
  options.margin = 0;
  const Verdict verdict = judge(scenario, *plain(), candidate, Placement::serial, options);
  const BandwidthIntervals intervals = verdict.where.bandwidth.value_or(BandwidthIntervals{});
  return intervals.size() == 1 ? intervals[0].second.base() * 8e-9 : -1;
}
std::string rank(int r, const char* more = "") {
  return "powersgd:rank=" + std::to_string(r) + ",min_ratio=0" + more;
}

TEST(Published, V23CrossoversWithRoundedBytes) {
  Scenario scenario = resnet50("25MB");
  scenario.dense_bytes = 97_MB;
  struct Row {
    int rank;
    double codec, exchange, printed;  // ms at 10 Gbit/s; Gbit/s
  };
  // Both sides are bound by the network there, so the root is (152.775 - exchange) / (122 + codec) of 10
  // Gbit/s. The printed values lie 0.08 to 0.13 % below it, as a scan over a grid gives them; the values at
  // 10 Gbit/s below agree to every digit.
  for (const Row& row :
       {Row{4, 45, 2.07877, 9.016}, Row{8, 64, 4.15755, 7.980}, Row{16, 130, 8.31509, 5.728}}) {
    const double found = crossover_gbit(scenario, *compressor(rank(row.rank, ",vectors=skip"), row.codec));
    EXPECT_NEAR(found, (152.775 - row.exchange) / (122 + row.codec) * 10, 5e-5) << row.rank;
    EXPECT_NEAR(found / row.printed, 1, 1.5e-3) << row.rank;
  }
  const auto at_ten = [&](int r, double codec) {
    return predict(scenario, *compressor(rank(r, ",vectors=skip"), codec)).parts.backward_and_sync().base() *
           1e3;
  };
  EXPECT_NEAR(sync_ms(scenario), 165.19, 5e-3);
  EXPECT_NEAR(at_ten(4, 45), 169.08, 5e-3);
  EXPECT_NEAR(at_ten(8, 64), 190.16, 5e-3);
  EXPECT_NEAR(at_ten(16, 130), 260.32, 5e-3);
}

TEST(Published, V24CrossoversWithExactBytes) {
  Scenario scenario = resnet50("25MiB");
  EXPECT_NEAR(crossover_gbit(scenario, *compressor(rank(4), 45)), 9.52, 5e-3);
  EXPECT_NEAR(crossover_gbit(scenario, *compressor(rank(8), 64)), 8.41, 5e-3);
  EXPECT_NEAR(crossover_gbit(scenario, *compressor(rank(16), 130)), 6.05, 5e-3);
  scenario.overlap.gamma = 1.1;
  EXPECT_NEAR(crossover_gbit(scenario, *compressor(rank(4), 45)), 10.59, 5e-3);
}

TEST(Published, V25BandwidthSweep) {
  struct Row {
    double gbit, sync, powersgd, sign;
  };
  Scenario scenario = resnet50("25MiB");
  const auto low_rank = compressor(rank(4), 45);
  const auto signs = compressor("signsgd", 16.34);
  for (const Row& row :
       {Row{1, 1610.09, 191.20, 1748.44}, Row{2, 805.05, 179.10, 943.39}, Row{4, 402.52, 173.05, 540.86},
        Row{8, 201.26, 170.03, 339.60}, Row{10, 167.69, 169.42, 299.35}, Row{20, 149.11, 168.21, 218.85},
        Row{30, 142.92, 167.81, 192.01}}) {
    scenario.fabric.across.bandwidth = BytesPerSecond::of(row.gbit * 1e9 / 8);
    const auto ms = [&](const Compressor& scheme) {
      return predict(scenario, scheme).parts.backward_and_sync().base() * 1e3;
    };
    EXPECT_NEAR(sync_ms(scenario), row.sync, 6e-3) << row.gbit;
    EXPECT_NEAR(ms(*low_rank), row.powersgd, 6e-3) << row.gbit;
    EXPECT_NEAR(ms(*signs), row.sign, 6e-3) << row.gbit;
  }
}

TEST(Published, V26ComputeSpeedUp) {
  const std::vector<double> factors = {1, 1.5, 2, 2.5, 3, 3.5, 4};
  const std::vector<double> fixed = {.990, 1.250, 1.485, 1.673, 1.828, 1.957, 2.066};
  const std::vector<double> scaled = {.990, 1.415, 1.874, 2.326, 2.772, 3.212, 3.645};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const Scenario scenario = resnet50("25MiB", 122 / factors[i]);
    const auto speedup = [&](double codec) {
      return sync_ms(scenario) /
             (predict(scenario, *compressor(rank(4), codec)).parts.backward_and_sync().base() * 1e3);
    };
    // 1.25053 was printed as 1.250; the rest agree to the printed digits.
    EXPECT_NEAR(speedup(45), fixed[i], 5.3e-4) << factors[i];
    EXPECT_NEAR(speedup(45 / factors[i]), scaled[i], 5.1e-4) << factors[i];
  }
}

TEST(Published, V27NearLinearRatio) {
  const auto ratio = [](double size, double compute_ms) {
    Scenario scenario = closed_form(size, compute_ms, 96, 1);
    Forecast forecast(scenario, *plain());
    forecast.run(scenario.fabric);
    const std::vector<Seconds> no_latency(forecast.exchanges().size());
    return near_linear_ratio(scenario.workload.backward(), forecast.exchanges(), no_latency);
  };
  expect_ms({3.958, 1.979, 1.0}, {ratio(97e6, 30), ratio(97e6, 60), ratio(97e6, 122)}, 5e-4);
  expect_ms({3.958, 1.947, 1.187}, {ratio(170e6, 60), ratio(170e6, 122), ratio(170e6, 200)}, 5.1e-4);
  expect_ms({5.191, 3.167, 2.111}, {ratio(418e6, 122), ratio(418e6, 200), ratio(418e6, 300)}, 5e-4);
}

}  // namespace
}  // namespace breakeven
