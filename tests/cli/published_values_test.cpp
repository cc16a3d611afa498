// Does the program print what follows from the equations of arXiv 2103.00543, to the printed digits?
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

/// One column of every row of a `query` in CSV: plain first.
std::vector<double> column(const std::vector<std::string>& arguments, const std::string& name) {
  const Result result =
      invoke(joined({"query", "-q", "--format", "csv", "--method", "closed-form", "--forward", "0s",
                     "--other", "0s", "--algorithm", "ring", "--margin", "0"},
                    arguments));
  EXPECT_EQ(result.status, 0) << result.err;
  std::istringstream lines(result.out);
  std::vector<double> values;
  std::ptrdiff_t wanted = -1;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> row = cells(line);
    if (wanted < 0) {
      wanted = std::find(row.begin(), row.end(), name) - row.begin();
      continue;
    }
    const std::string& cell = row.at(static_cast<std::size_t>(wanted));
    const std::size_t range = cell.find("..");
    const std::string number = range == std::string::npos ? cell : cell.substr(range + 2);
    values.push_back(number.empty() ? std::nan("") : std::stod(number));
  }
  return values;
}

std::vector<double> milliseconds(const std::vector<std::string>& arguments) {
  std::vector<double> values = column(arguments, "backward_and_sync_s");
  for (double& value : values) {
    value *= 1e3;
  }
  return values;
}

std::vector<std::string> dense(const std::string& size, const std::string& backward,
                               const std::string& workers) {
  return {"--gradient-bytes", size,     "--backward", backward,        "--workers", workers,
          "--bandwidth",      "10Gbps", "--schedule", "equal:cap=25MB"};
}

TEST(PublishedValues, PlainAllReduceInEqualBuckets) {
  const std::vector<std::string> none = {"--latency", "0s"};
  const auto plain = [&](const std::vector<std::string>& setup, const std::vector<std::string>& more) {
    return milliseconds(joined(setup, more)).front();
  };
  const auto v11 = joined(dense("97MB", "122ms", "96"), none);
  EXPECT_NEAR(plain(v11, {"--gamma", "1.04"}), 161.7133, 5e-5);
  EXPECT_NEAR(plain(v11, {"--gamma", "1.1"}), 169.0333, 5e-5);
  EXPECT_NEAR(plain(v11, {"--gamma", "1.04", "--last-bucket", "inside"}), 153.5833, 5e-5);
  EXPECT_NEAR(plain(v11, {"--gamma", "1.1", "--last-bucket", "inside"}), 153.5833, 5e-5);
  const auto v12 = dense("97MB", "122ms", "64");
  EXPECT_NEAR(plain(v12, {"--latency", "0s", "--gamma", "1.04"}), 161.53, 5e-3);
  EXPECT_NEAR(plain(v12, {"--latency", "0s", "--gamma", "1.1"}), 168.85, 5e-3);
  EXPECT_NEAR(plain(v12, {"--latency", "0s"}), 165.19, 5e-3);
  EXPECT_NEAR(plain(v12, {"--latency", "50us"}), 177.975, 5e-4);
  EXPECT_NEAR(plain(dense("170MB", "200ms", "96"), {"--latency", "0s", "--gamma", "1.04"}), 269.1667, 5e-5);
  EXPECT_NEAR(plain(dense("170MB", "200ms", "96"), {"--latency", "0s", "--gamma", "1.1"}), 269.1667, 5e-5);
  EXPECT_NEAR(plain(dense("418MB", "350ms", "96"), none), 661.8333, 5e-5);
  EXPECT_NEAR(plain(dense("97MB", "50ms", "64"), none), 152.775, 5e-4);
}

/// Encode times that the paper gives for ResNet-50, decode within them.
std::string powersgd(int rank, const std::string& time, const std::string& vectors) {
  return "powersgd:rank=" + std::to_string(rank) + ",min_ratio=0,vectors=" + vectors + ",encode=" + time +
         ",decode=0s";
}

TEST(PublishedValues, PowerSgdCrossesPlainWhereThePaperSays) {
  const auto setup = joined({"--model", "resnet50", "--latency", "0s"}, dense("97MB", "122ms", "64"));
  const auto with_schemes =
      joined(setup, {"--scheme", powersgd(4, "45ms", "skip"), "--scheme", powersgd(8, "64ms", "skip"),
                     "--scheme", powersgd(16, "130ms", "skip")});
  const auto times = milliseconds(with_schemes);
  ASSERT_EQ(times.size(), 5U);  // plain, bf16, three ranks
  EXPECT_NEAR(times[0], 165.19, 5e-3);
  EXPECT_NEAR(times[2], 169.08, 5e-3);
  EXPECT_NEAR(times[3], 190.16, 5e-3);
  EXPECT_NEAR(times[4], 260.32, 5e-3);
  // The printed crossings lie about 0.1 % below the roots of the equations, as a scan over a grid gives them.
  const auto crossings = column(with_schemes, "bandwidth_bytes_per_s");
  EXPECT_NEAR(crossings[2] * 8e-9 / 9.016, 1, 1.5e-3);
  EXPECT_NEAR(crossings[3] * 8e-9 / 7.980, 1, 1.5e-3);
  EXPECT_NEAR(crossings[4] * 8e-9 / 5.728, 1, 1.5e-3);
}

std::vector<std::string> exact_resnet(const std::string& bandwidth, const std::string& backward) {
  return {"--model",   "resnet50", "--latency",   "0s",      "--backward", backward,
          "--workers", "64",       "--bandwidth", bandwidth, "--schedule", "equal:cap=25MiB"};
}

TEST(PublishedValues, ExactBytesCrossALittleHigher) {
  const auto setup = joined(exact_resnet("10Gbps", "122ms"),
                            {"--scheme", powersgd(4, "45ms", "send"), "--scheme", powersgd(8, "64ms", "send"),
                             "--scheme", powersgd(16, "130ms", "send")});
  const auto crossings = column(setup, "bandwidth_bytes_per_s");
  EXPECT_NEAR(crossings.at(2) * 8e-9, 9.52, 5e-3);
  EXPECT_NEAR(crossings.at(3) * 8e-9, 8.41, 5e-3);
  EXPECT_NEAR(crossings.at(4) * 8e-9, 6.05, 5e-3);
  EXPECT_NEAR(column(joined(setup, {"--gamma", "1.1"}), "bandwidth_bytes_per_s").at(2) * 8e-9, 10.59, 5e-3);
}

TEST(PublishedValues, BandwidthSweep) {
  struct Row {
    const char* bandwidth;
    double plain, powersgd, sign;
  };
  for (const Row& row : {Row{"1Gbps", 1610.09, 191.20, 1748.44}, Row{"2Gbps", 805.05, 179.10, 943.39},
                         Row{"4Gbps", 402.52, 173.05, 540.86}, Row{"8Gbps", 201.26, 170.03, 339.60},
                         Row{"10Gbps", 167.69, 169.42, 299.35}, Row{"20Gbps", 149.11, 168.21, 218.85},
                         Row{"30Gbps", 142.92, 167.81, 192.01}}) {
    const auto times = milliseconds(
        joined(exact_resnet(row.bandwidth, "122ms"),
               {"--scheme", powersgd(4, "45ms", "send"), "--scheme", "signsgd:encode=16.34ms,decode=0s"}));
    ASSERT_EQ(times.size(), 4U);
    EXPECT_NEAR(times[0], row.plain, 6e-3) << row.bandwidth;
    EXPECT_NEAR(times[2], row.powersgd, 6e-3) << row.bandwidth;
    EXPECT_NEAR(times[3], row.sign, 6e-3) << row.bandwidth;
  }
}

TEST(PublishedValues, FasterComputeHelpsCompression) {
  const double factors[] = {1, 1.5, 2, 2.5, 3, 3.5, 4};
  const double fixed[] = {.990, 1.250, 1.485, 1.673, 1.828, 1.957, 2.066};
  const double scaled[] = {.990, 1.415, 1.874, 2.326, 2.772, 3.212, 3.645};
  for (std::size_t i = 0; i < std::size(factors); ++i) {
    const auto time = [&](double ms) { return std::to_string(ms / factors[i]) + "ms"; };
    const auto gains =
        column(joined(exact_resnet("10Gbps", time(122)), {"--scheme", powersgd(4, "45ms", "send"), "--scheme",
                                                          powersgd(4, time(45), "send") + ",feedback=off"}),
               "speedup");
    EXPECT_NEAR(gains.at(2), fixed[i], 5.3e-4) << factors[i];  // 1.25053 was printed as 1.250
    EXPECT_NEAR(gains.at(3), scaled[i], 5.1e-4) << factors[i];
  }
}

TEST(PublishedValues, RatioThatHidesAllButTheLastBucket) {
  struct Row {
    const char *size, *backward;
    double ratio;
  };
  for (const Row& row :
       {Row{"97MB", "30ms", 3.958}, Row{"97MB", "60ms", 1.979}, Row{"97MB", "122ms", 1.0},
        Row{"170MB", "60ms", 3.958}, Row{"170MB", "122ms", 1.947}, Row{"170MB", "200ms", 1.187},
        Row{"418MB", "122ms", 5.191}, Row{"418MB", "200ms", 3.167}, Row{"418MB", "300ms", 2.111}}) {
    const Result result =
        invoke(joined({"query", "-q", "--format", "json", "--method", "closed-form", "--forward", "0s",
                       "--other", "0s", "--algorithm", "ring", "--latency", "0s"},
                      dense(row.size, row.backward, "96")));
    const std::string key = "\"near_linear_ratio\": ";
    const std::size_t at = result.out.find(key);
    ASSERT_NE(at, std::string::npos) << result.err;
    EXPECT_NEAR(std::stod(result.out.substr(at + key.size())), row.ratio, 5.1e-4)
        << row.size << " " << row.backward;
  }
}

}  // namespace
}  // namespace breakeven::cli
