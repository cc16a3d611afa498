// Does `plan --scheme` never lose against one scheme alone, and does every format hold a scheme a bucket?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using Words = std::vector<std::string>;

Words setup(const std::string& bandwidth) {
  return {"--model", "resnet50",  "--device", "v100",        "--batch",
          "64",      "--workers", "32",       "--bandwidth", bandwidth};
}
const Words kSchemes = {"-s", "powersgd:rank=4", "-s", "topk:ratio=1%,encode=20ms,decode=4ms", "-s", "bf16"};

Result plan(const Words& options, const Words& more = {}) {
  return invoke(joined(joined({"plan", "-q"}, options), more));
}
json planned(const Words& options) {
  const Result result = plan(options, {"--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}
double step(const json& row) {
  return row.at("step_s").get<double>();
}

TEST(PlanSchemes, IsNeverWorseThanPlainNorThanAnySchemeAlone) {
  for (const char* bandwidth : {"1Gbps", "10Gbps", "50Gbps"}) {
    for (const char* placement : {"", "serial", "hook", "stream"}) {
      SCOPED_TRACE(std::string(bandwidth) + " " + placement);
      const Words where = *placement == '\0' ? Words{} : Words{"--placement", placement};
      const Words options = joined(setup(bandwidth), where);
      const json answer = planned(joined(options, kSchemes));
      const double best = step(answer.at("best")) * (1 - 1e-9);
      EXPECT_FALSE(answer.at("exact").get<bool>());
      ASSERT_EQ(answer.at("compared").size(), 8U);
      for (const json& row : answer.at("compared")) {
        EXPECT_GE(step(row), best) << row;
      }
      EXPECT_GE(step(answer.at("settings").at("pytorch")), best);
      // The buckets of plain all-reduce alone are found by an exact search: no scheme can make them worse.
      EXPECT_GE(step(planned(setup(bandwidth)).at("best")), best);
      // What one scheme takes in its usual buckets is what query says.
      const Result asked = invoke(joined(joined({"query", "-q", "--format", "json"}, options), kSchemes));
      const json query = json::parse(asked.out);
      EXPECT_NEAR(step(answer.at("compared").at(0)) / step(query.at("plain")), 1, 1e-12);
      for (std::size_t s = 0; s < 3; ++s) {
        EXPECT_NEAR(step(answer.at("compared").at(2 * (s + 1))) / step(query.at("schemes").at(s)), 1, 1e-12)
            << query.at("schemes").at(s);
      }
    }
  }
}

TEST(PlanSchemes, PartsAddUpAndBucketsHoldEveryTensorOnce) {
  const json answer = planned(joined(setup("10Gbps"), kSchemes));
  json rows = answer.at("compared");
  rows.push_back(answer.at("best"));
  rows.push_back(answer.at("settings").at("pytorch"));
  for (const json& row : rows) {
    double sum = 0;
    for (const json& part : row.at("parts")) {
      sum += part.get<double>();
    }
    EXPECT_NEAR(sum / step(row), 1, 1e-12) << row;
  }
  double tensors = 0;
  double gradient = 0;
  for (const json& bucket : answer.at("best").at("buckets")) {
    tensors += bucket.at("tensors").get<double>();
    gradient += bucket.at("elements").get<double>();
    EXPECT_GE(bucket.at("done_s").get<double>(), bucket.at("sent_s").get<double>());
  }
  EXPECT_EQ(tensors, 161);
  EXPECT_EQ(gradient, 25557032);
}

TEST(PlanSchemes, DdpsBucketsAreAsManyAsItsCapMakes) {
  const Words options = setup("10Gbps");
  const json pytorch = planned(joined(options, kSchemes)).at("settings").at("pytorch");
  const std::string cap = pytorch.at("bucket_cap_mb").dump() + "MiB";
  const Result asked = invoke(
      joined({"query", "-q", "--format", "json", "--schedule", "ddp:first=" + cap + ",cap=" + cap}, options));
  EXPECT_EQ(json::parse(asked.out).at("plain").at("messages"), pytorch.at("schemes").size());
}

TEST(PlanSchemes, FreeCompressionIsTakenForEveryBucketAndExactly) {
  const json answer = planned(joined(setup("1Gbps"), {"-s", "ideal:ratio=20"}));
  EXPECT_TRUE(answer.at("exact").get<bool>());
  for (const json& bucket : answer.at("best").at("buckets")) {
    EXPECT_EQ(bucket.at("scheme"), "ideal:ratio=20");
  }
  EXPECT_THAT(answer.at("answer").get<std::string>(),
              StartsWith("One scheme is enough here: ideal:ratio=20 in "));
}

TEST(PlanSchemes, MixesWhereThatPaysAndSaysSo) {
  // A codec of 60 ms costs more than it saves on what hides behind backward, less on what does not.
  const json answer =
      planned(joined(setup("10Gbps"), {"-s", "topk:ratio=1%,encode=60ms,decode=4ms", "--placement", "hook"}));
  Words used;
  for (const json& bucket : answer.at("best").at("buckets")) {
    used.push_back(bucket.at("scheme"));
  }
  EXPECT_TRUE(std::any_of(used.begin(), used.end(), [&](const auto& scheme) {
    return scheme != used.front();
  })) << answer;
}

TEST(PlanSchemes, EveryFormatNamesTheSchemeOfEachBucket) {
  const Words options = joined(setup("10Gbps"), kSchemes);
  const std::size_t buckets = planned(options).at("best").at("buckets").size();
  const std::string csv = plan(options, {"--format", "csv"}).out;
  EXPECT_THAT(csv,
              StartsWith("bucket,first_tensor,last_tensor,tensors,elements,size_bytes,scheme,sent_s,done_s\n"
                         "1,fc.bias,"));
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')), buckets + 1);
  const std::string screen = plan(options).out;
  EXPECT_THAT(screen, HasSubstr("plain fp32, DDP as it comes"));
  EXPECT_THAT(screen, HasSubstr("DistributedDataParallel(model, bucket_cap_mb="));
  EXPECT_THAT(screen, HasSubstr("by GradBucket.index(): 0"));
  EXPECT_THAT(plan(options, {"--format", "markdown"}).out, HasSubstr("| fc.bias |"));
}

TEST(PlanSchemes, RefusesASchemeThatIsNotThere) {
  const Result unknown = plan(setup("10Gbps"), {"-s", "topkk"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, HasSubstr("did you mean topk?"));
  EXPECT_EQ(plan(setup("10Gbps"), {"-s", "topk", "-s", "topk"}).status, 2);
}

}  // namespace
}  // namespace breakeven::cli
