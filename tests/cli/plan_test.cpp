// Is a plan of buckets the best there is, do its settings reach what it says, and does every format hold it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

Result plan(const Words& setup, const Words& more = {}) {
  return invoke(joined(joined({"plan", "-q"}, setup), more));
}
json planned(const Words& setup) {
  const Result result = plan(setup, {"--format", "json"});
  EXPECT_EQ(result.status, 0) << result.err;
  return json::parse(result.out);
}
double step(const json& row) {
  return row.at("step_s").get<double>();
}

Words resnet(const std::string& workers, const std::string& bandwidth, const std::string& gamma) {
  return {"--model",   "resnet50", "--device",    "v100",    "--batch", "64",
          "--workers", workers,    "--bandwidth", bandwidth, "--gamma", gamma};
}
/// Where buckets matter, hardly matter, and do not.
std::vector<Words> setups() {
  std::vector<Words> all;
  for (const char* gamma : {"1", "1.07", "1.5"}) {
    for (const char* bandwidth : {"1Gbps", "10Gbps", "25Gbps", "100Gbps"}) {
      all.push_back(resnet("32", bandwidth, gamma));
    }
  }
  all.push_back({"--model", "bert-base", "--device", "v100", "--batch", "8", "--workers", "16",
                 "--workers-per-node", "4", "--bandwidth", "25Gbps"});
  all.push_back({"--model", "vgg16", "--device", "v100", "--batch", "32", "--workers", "8", "--bandwidth",
                 "10Gbps", "--algorithm", "ps"});
  all.push_back(given_setup());
  return all;
}

/// Their plans, made once.
const std::vector<std::pair<Words, json>>& plans() {
  static const std::vector<std::pair<Words, json>> made = [] {
    std::vector<std::pair<Words, json>> all;
    for (const Words& setup : setups()) {
      all.emplace_back(setup, planned(setup));
    }
    return all;
  }();
  return made;
}

TEST(Plan, TheLargestGradientsHaveOne) {
  for (const char* size : {"899TB", "1000TB"}) {
    const json made =
        planned({"--gradient-bytes", size, "--backward", "1s", "--workers", "8", "--bandwidth", "100Gbps"});
    EXPECT_EQ(made.at("best").at("buckets").size(), 1U) << size;
  }
}

TEST(Plan, BestIsNeverWorseThanWhatItIsComparedWithNorThanAnySetting) {
  for (const auto& [setup, answer] : plans()) {
    const double best = step(answer.at("best"));
    EXPECT_GE(best, answer.at("step_without_network_s").get<double>());
    ASSERT_EQ(answer.at("compared").size(), 5U);
    const double most = best * (1 - 1e-9);
    for (const json& row : answer.at("compared")) {
      EXPECT_GE(step(row), most) << row;
      EXPECT_NEAR(row.at("best_speedup").get<double>(), step(row) / best, 1e-12);
    }
    for (const json& row : answer.at("settings")) {
      EXPECT_GE(step(row), most) << row;
    }
    EXPECT_LE(step(answer.at("settings").at("pytorch")), step(answer.at("compared").at(0)))
        << "a cap that is worse than none is advised";
  }
}

TEST(Plan, GainsWhereItShould) {
  // A slow backward makes many small messages costly, which no published rule weighs.
  for (const char* gamma : {"1", "1.5"}) {
    const json answer = planned(resnet("32", "25Gbps", gamma));
    for (const json& row : answer.at("compared")) {
      if (row.at("schedule") == "optimal") {
        EXPECT_NEAR(row.at("best_speedup").get<double>(), 1, 1e-12);
      } else if (row.at("schedule") == "ddp" || gamma == std::string("1.5")) {
        EXPECT_GT(row.at("best_speedup").get<double>(), 1.005) << row;
      }
    }
  }
}

TEST(Plan, PartsAddUp) {
  for (const auto& [setup, answer] : plans()) {
    json rows = answer.at("compared");
    rows.push_back(answer.at("best"));
    for (const json& row : answer.at("settings")) {
      rows.push_back(row);
    }
    for (const json& row : rows) {
      double sum = 0;
      for (const json& part : row.at("parts")) {
        sum += part.get<double>();
      }
      EXPECT_NEAR(sum / step(row), 1, 1e-12) << row;
    }
  }
}

TEST(Plan, BucketsHoldEveryTensorOnceAndFollowEachOther) {
  for (const auto& [setup, answer] : plans()) {
    const json& best = answer.at("best");
    double free = 0;
    double gradient = 0;
    std::size_t count = 0;
    for (const json& bucket : best.at("buckets")) {
      EXPECT_EQ(bucket.at("bucket").get<std::size_t>(), ++count);
      EXPECT_EQ(bucket.at("size_bytes").get<double>(), 4 * bucket.at("elements").get<double>());
      const double sent = bucket.at("sent_s").get<double>();
      EXPECT_NEAR(sent, std::max(free, bucket.at("ready_s").get<double>()), 1e-9) << bucket;
      free = bucket.at("arrived_s").get<double>();
      EXPECT_GT(free, sent);
      gradient += bucket.at("elements").get<double>();
    }
    const json& parts = best.at("parts");
    EXPECT_NEAR(step(best), parts.at("forward_s").get<double>() + free + parts.at("other_s").get<double>(),
                1e-9)
        << "the step does not end with the last bucket";
    if (setup[1] == "resnet50") {
      EXPECT_EQ(gradient, 25557032);
      EXPECT_EQ(best.at("buckets").front().at("first_tensor"), "fc.bias");
      EXPECT_EQ(best.at("buckets").back().at("last_tensor"), "conv1.weight");
    }
  }
}

TEST(Plan, SettingsReachWhatIsSaidWhenAQueryTakesThem) {
  std::size_t caps = 0;
  for (const auto& one : plans()) {
    const Words& setup = one.first;
    const json& settings = one.second.at("settings");
    const auto expect = [&](const std::string& schedule, double wanted) {
      const Result result =
          invoke(joined({"query", "-q", "--format", "json", "--schedule", schedule}, setup));
      ASSERT_EQ(result.status, 0) << result.err;
      EXPECT_NEAR(step(json::parse(result.out).at("plain")) / wanted, 1, 1e-12) << schedule;
    };
    const json& pytorch = settings.at("pytorch");
    if (pytorch.at("bucket_cap_mb").is_null()) {
      expect("ddp", step(pytorch));
    } else {
      ++caps;
      const std::string cap = pytorch.at("bucket_cap_mb").dump() + "MiB";
      expect("ddp:first=" + cap + ",cap=" + cap, step(pytorch));
      expect("ddp:cap=" + cap, pytorch.at("step_with_small_first_bucket_s").get<double>());
    }
    const json& horovod = settings.at("horovod");
    expect("horovod:bytes=" + horovod.at("HOROVOD_FUSION_THRESHOLD").dump() +
               "B,cycle=" + horovod.at("HOROVOD_CYCLE_TIME").dump() + "ms",
           step(horovod));
    const json& deepspeed = settings.at("deepspeed");
    EXPECT_EQ(deepspeed.at("reduce_bucket_size").get<double>(),
              std::round(deepspeed.at("reduce_bucket_size").get<double>()));
    EXPECT_LE(deepspeed.at("allgather_bucket_size").get<double>(), 5e8);
  }
  EXPECT_GT(caps, 3U) << "hardly any setup asked for a cap";
}

TEST(Plan, BestCapBeatsEveryWholeNumber) {
  const Words setup = resnet("32", "25Gbps", "1.07");
  const double found = step(planned(setup).at("settings").at("pytorch"));
  for (int cap = 1; cap <= 100; cap += 9) {
    const std::string size = std::to_string(cap) + "MiB";
    const Result result = invoke(joined(
        {"query", "-q", "--format", "json", "--schedule", "ddp:first=" + size + ",cap=" + size}, setup));
    // Odder numbers that gain less than a thousandth are not looked for.
    EXPECT_GE(step(json::parse(result.out).at("plain")), found * (1 - 1e-3)) << size;
  }
}

TEST(Plan, FirstLineSaysWhetherBucketsMatter) {
  EXPECT_THAT(plan(resnet("32", "25Gbps", "1.07")).out,
              StartsWith("Buckets matter here: the best 3 buckets shorten DDP's step of "));
  EXPECT_THAT(plan(resnet("16", "100Gbps", "1")).out,
              StartsWith("Buckets do not matter here: plain all-reduce is hidden already. "));
  EXPECT_THAT(plan(resnet_setup()).out, StartsWith("Buckets hardly matter here: the best "));
  EXPECT_THAT(plan(given_setup()).out, StartsWith("There is nothing to divide: "));
  EXPECT_THAT(plan({"--model", "resnet18", "--device", "v100", "--batch", "32", "--workers", "2",
                    "--bandwidth", "1Gbps"})
                  .out,
              StartsWith("DDP's buckets are the best that there are here: "));
  // What counts as a gain is the user's to say.
  EXPECT_THAT(plan(resnet_setup(), {"--margin", "0.1%"}).out, StartsWith("Buckets matter here: "));
}

TEST(Plan, RefusesWhatItDoesNotWeigh) {
  const auto refused = [](const Words& more) {
    const Result result = invoke(joined(joined({"plan"}, resnet_setup()), more));
    EXPECT_EQ(result.status, kUsage);
    return result.err;
  };
  EXPECT_EQ(refused({"-s", "topk", "--extra-steps", "10%"}),
            "breakeven: error: --extra-steps: is not weighed: plan compares the times of steps: expected "
            "query, which "
            "weighs it, or it left out\n");
  EXPECT_EQ(refused({"--placement", "stream"}),
            "breakeven: error: --placement: says nothing of plain all-reduce: expected a --scheme, or it "
            "left out\n");
}

TEST(Plan, ScreenHasTheComparisonTheBucketsAndLinesToPaste) {
  const std::string out = plan(resnet("32", "25Gbps", "1.07")).out;
  EXPECT_THAT(out, HasSubstr("\nDDP as it comes (1 MiB, then 25 MiB)"));
  EXPECT_THAT(out, HasSubstr("fc.bias"));
  EXPECT_THAT(out, HasSubstr("DistributedDataParallel(model, bucket_cap_mb="));
  EXPECT_THAT(out, HasSubstr("HOROVOD_FUSION_THRESHOLD="));
  EXPECT_THAT(out, HasSubstr("\"zero_optimization\": {\"overlap_comm\": true, \"reduce_bucket_size\": "));
  EXPECT_THAT(out, Not(HasSubstr("DDP buckets of"))) << "the title names the buckets that are asked for";
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Plan, RowsOfEveryFormatAreTheBuckets) {
  const Words setup = resnet_setup();
  const std::size_t buckets = planned(setup).at("best").at("buckets").size();
  const std::string csv = plan(setup, {"--format", "csv"}).out;
  EXPECT_THAT(csv, StartsWith("bucket,first_tensor,last_tensor,tensors,elements,size_bytes,ready_s,sent_s,"
                              "arrived_s\n1,fc.bias,"));
  EXPECT_EQ(lines(csv), buckets + 1);
  const std::string jsonl = plan(setup, {"--format", "jsonl"}).out;
  EXPECT_EQ(lines(jsonl), buckets);
  EXPECT_EQ(json::parse(jsonl.substr(0, jsonl.find('\n'))), planned(setup).at("best").at("buckets").at(0));
  EXPECT_THAT(plan(setup, {"--format", "markdown"}).out, HasSubstr("| fc.bias |"));
}

TEST(Plan, RefusesWhatChangesNothing) {
  const auto error = [](const Words& more) {
    const Result result = plan(resnet_setup(), more);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_EQ(
      error({"--schedule", "wfbp"}),
      "breakeven: error: --schedule: changes nothing in plan, which looks for buckets: expected query or "
      "trace, for buckets of your own\n");
  EXPECT_THAT(error({"--bucket", "45MiB"}),
              StartsWith("breakeven: error: --bucket: changes nothing in plan"));
  EXPECT_EQ(error({"--method", "closed-form"}),
            "breakeven: error: --method: the closed form does not know when a gradient is ready: expected "
            "timeline\n");
  EXPECT_EQ(
      error({"--scheme", "none"}),
      "breakeven: error: --scheme: plain all-reduce is always one to choose from: expected a scheme other "
      "than none, or no --scheme for buckets alone\n");
  const Result alone = plan({"--model", "resnet50", "--device", "v100", "--batch", "64", "--workers", "1"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.err, "breakeven: error: --workers: one worker exchanges nothing: expected 2 or more\n");
}

}  // namespace
}  // namespace breakeven::cli
