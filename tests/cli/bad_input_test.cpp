// Is each kind of bad input answered with one exact line, exit status 2, and nothing on standard output?
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

std::string refused(const std::vector<std::string>& changes) {
  // What a change names replaces the good value.
  std::vector<std::string> arguments = {"query"};
  const std::vector<std::string> good = {"--model",  "resnet50", "--device",    "v100",
                                         "--batch",  "32",       "--workers",   "8",
                                         "--scheme", "topk",     "--bandwidth", "10Gbps"};
  for (std::size_t i = 0; i < good.size(); i += 2) {
    if (std::find(changes.begin(), changes.end(), good[i]) == changes.end()) {
      arguments.insert(arguments.end(), {good[i], good[i + 1]});
    }
  }
  const Result result = invoke(joined(arguments, changes));
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.out, "");
  const std::string prefix = "breakeven: error: ";
  EXPECT_TRUE(result.err.starts_with(prefix)) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  return result.err.substr(prefix.size(), result.err.size() - prefix.size() - 1);
}

TEST(BadInput, BandwidthsThatAreNone) {
  const std::string example = ": expected a number and a unit, such as 10Gbit/s or 1.25GB/s";
  const std::string range = ": expected a bandwidth, such as 10Gbit/s";
  const auto bandwidth = [](const char* text) { return refused({"--bandwidth", text}); };
  EXPECT_EQ(bandwidth("10"), "--bandwidth: \"10\" has no unit" + example);
  EXPECT_EQ(bandwidth("10GB"), "--bandwidth: \"10GB\" is a size, not a bandwidth" + example);
  EXPECT_EQ(bandwidth("0"), "--bandwidth: \"0\" has no unit" + example);
  EXPECT_EQ(bandwidth("0Gbps"), "--bandwidth: \"0Gbps\" must be above 0" + range);
  EXPECT_EQ(bandwidth("-1Gbps"), "--bandwidth: \"-1Gbps\" must be above 0" + range);
  EXPECT_EQ(bandwidth("nan"), "--bandwidth: \"nan\" is not a finite number" + example);
  EXPECT_EQ(bandwidth("inf"), "--bandwidth: \"inf\" is not a finite number" + example);
  EXPECT_EQ(bandwidth("1e400"), "--bandwidth: \"1e400\" is beyond what a number can hold" + example);
}

TEST(BadInput, CountsAndSchemeParameters) {
  EXPECT_EQ(refused({"--workers", "0"}),
            "--workers: \"0\" must be at least 1: expected a whole number, such as 8");
  EXPECT_EQ(refused({"--scheme", "topk:ratio=0"}),
            "--scheme: topk: ratio: \"0\" is out of range: expected above 0 and at most 1");
  EXPECT_EQ(refused({"--scheme", "topk:ratio=1.5"}),
            "--scheme: topk: ratio: \"1.5\" is out of range: expected above 0 and at most 1");
  EXPECT_EQ(refused({"--scheme", "powersgd:rank=0"}),
            "--scheme: powersgd: rank: \"0\" is out of range: expected 1 to 65536");
}

TEST(BadInput, UnknownNamesOfferTheNearest) {
  const auto ends_with = [](const std::string& text, const std::string& begin, const std::string& meant) {
    EXPECT_TRUE(text.starts_with(begin)) << text;
    EXPECT_TRUE(text.ends_with("(did you mean " + meant + "?)")) << text;
  };
  ends_with(refused({"--model", "resnet5"}), "--model: unknown model \"resnet5\": expected one of ",
            "resnet50");
  ends_with(refused({"--device", "v10"}), "--device: unknown device \"v10\": expected one of ", "v100");
  ends_with(refused({"--fabric", "ethernet-10"}),
            "--fabric: unknown fabric \"ethernet-10\": expected one of ", "ethernet-10g");
  ends_with(refused({"--schedule", "dpp"}), "--schedule: unknown schedule \"dpp\": expected one of ", "ddp");
  ends_with(refused({"--algorithm", "rings"}), "--algorithm: unknown algorithm \"rings\": expected one of ",
            "ring");
  EXPECT_EQ(refused({"--scheme", "topkk"}),
            "--scheme: unknown scheme \"topkk\": expected one of acpsgd, bf16, dgc, fp16, gtopk, ideal, "
            "int4, int8, none, "
            "onebit, "
            "powersgd, qsgd, randomk, signsgd, terngrad, topk (did you mean topk?)");
  EXPECT_EQ(
      refused({"--scheme", "powersgd:rnk=1"}),
      "--scheme: powersgd: unknown parameter \"rnk\": expected one of rank, min_ratio, feedback, warm_start, "
      "vectors, batched, batch_shapes (did you mean rank?)");
  EXPECT_EQ(refused({"--bandwith", "1Gbps"}),
            "--bandwith: unknown option: expected an option of query (did you mean --bandwidth?), as "
            "breakeven help "
            "query lists them");
}

}  // namespace
}  // namespace breakeven::cli
