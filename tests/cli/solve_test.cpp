// Does `solve` give values at which a query says what was wanted, agree with what a paper found, and say
// plainly where there is nothing to find?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/units.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// The setups of arXiv 2006.10103: one worker a link, at full utilisation.
std::vector<std::string> whatif(const std::string& model, const std::string& bandwidth) {
  return {"--model",     model,
          "--device",    "v100",
          "--batch",     "32",
          "--workers",   "64",
          "--fabric",    "whatif-v100",
          "--algorithm", "ring",
          "--schedule",  "fusion:bytes=64MiB,timeout=5ms",
          "--gamma",     "1",
          "--bandwidth", bandwidth};
}

std::vector<std::string> without(std::vector<std::string> arguments, const std::string& option) {
  const auto found = std::find(arguments.begin(), arguments.end(), option);
  arguments.erase(found, found + 2);
  return arguments;
}

std::vector<json> solve(const std::string& what, const std::vector<std::string>& arguments) {
  const Result result = invoke(joined({"solve", what, "-q", "--format", "json"}, arguments));
  EXPECT_EQ(result.status, kAnswered) << result.err;
  return json::parse(result.out).at("answers").get<std::vector<json>>();
}
json query(const std::vector<std::string>& arguments) {
  const Result result = invoke(joined({"query", "-q", "--format", "json"}, arguments));
  EXPECT_EQ(result.status, kAnswered) << result.err;
  return json::parse(result.out);
}
double plain_scaling(const std::vector<std::string>& arguments) {
  return query(arguments).at("plain").at("scaling").get<double>();
}
/// The row of the scheme that was named.
json named(const std::vector<std::string>& arguments) {
  return query(arguments).at("schemes").back();
}
std::string bytes_per_second(double value) {
  return exact(value) + " B/s";
}

TEST(SolveRatio, ComesOutAsTheWhatIfPaperFound) {
  // Its simulator: ResNet-50 at 10 Gbit/s among 64 workers gives 82 % at a ratio of 2 and 98.5 % at 3.
  const auto setup = whatif("resnet50", "10Gbit/s");
  EXPECT_NEAR(named(joined(setup, {"-s", "ideal:ratio=3"})).at("scaling").get<double>(), 0.9855, 1e-4);
  EXPECT_NEAR(named(joined(setup, {"-s", "ideal:ratio=4"})).at("scaling").get<double>(), 0.9943, 1e-4);
  const auto resnet = solve("ratio", setup);
  ASSERT_EQ(resnet.size(), 2U) << "95 % and 99 % unless asked otherwise";
  EXPECT_GT(resnet[0].at("value").get<double>(), 2);
  EXPECT_LT(resnet[0].at("value").get<double>(), 3);
  EXPECT_GT(resnet[1].at("value").get<double>(), 3);
  EXPECT_LT(resnet[1].at("value").get<double>(), 4);
  const auto vgg = solve("ratio", joined(whatif("vgg16_bn", "10Gbit/s"), {"--target-scaling", "95%"}));
  ASSERT_EQ(vgg.size(), 1U);
  EXPECT_NEAR(vgg[0].at("value").get<double>(), 8, 0.5) << "twofold to fivefold is not enough for VGG";
}

TEST(SolveRatio, GivesTheTargetAndALittleLessDoesNot) {
  for (const char* model : {"resnet50", "resnet101", "vgg16_bn"}) {
    const auto setup = whatif(model, "10Gbit/s");
    for (const char* target : {"0.5", "0.7", "0.95", "0.99"}) {
      const json row = solve("ratio", joined(setup, {"--target-scaling", target})).at(0);
      const double ratio = row.at("value").get<double>();
      if (row.at("measured_now").get<double>() >= std::stod(target)) {
        EXPECT_EQ(ratio, 1);
        continue;
      }
      const auto scaling = [&](double c) {
        return named(joined(setup, {"-s", "ideal:ratio=" + exact(c)})).at("scaling").get<double>();
      };
      EXPECT_NEAR(scaling(ratio), std::stod(target), 1e-6) << model;
      EXPECT_LT(scaling(1 + (ratio - 1) * 0.999), std::stod(target)) << model;
    }
  }
}

TEST(SolveRatio, SaysWhenNoneIsNeededAndWhenNoneIsEnough) {
  const auto setup = whatif("vgg16_bn", "100Gbit/s");
  const Result enough = invoke(joined({"solve", "ratio", "--target-scaling", "99%"}, setup));
  EXPECT_THAT(enough.out, StartsWith("99 % of linear scaling needs no compression: it is 99.3 % without.\n"));
  const Result never = invoke(joined({"solve", "ratio", "--target-scaling", "99.5%"}, setup));
  EXPECT_EQ(never.status, kAnswered);
  EXPECT_THAT(never.out,
              StartsWith("99.5 % of linear scaling is out of reach of compression: 99.3 % without, 99.4 % "
                         "even with an infinite ratio.\n"));
  const json row = solve("ratio", joined(setup, {"--target-scaling", "99.5%"})).at(0);
  EXPECT_TRUE(row.at("value").is_null());
  EXPECT_TRUE(row.at("ranges").empty());
}

TEST(SolveBandwidth, OfAMeasuredScalingIsTheEfficiencyThatGivesIt) {
  // Figure 1 of the paper, 64 GPUs at 100 Gbit/s: measured runs use part of the network.
  for (const auto& [model, measured] : std::vector<std::pair<std::string, std::string>>{
           {"resnet50", "71.4%"}, {"resnet101", "66.7%"}, {"vgg16_bn", "60.1%"}}) {
    const auto setup = whatif(model, "100Gbit/s");
    const json row = solve("bandwidth", joined(setup, {"--scaling", measured})).at(0);
    EXPECT_EQ(row.at("question"), "explain");
    const double share = row.at("share_of_given").get<double>();
    EXPECT_LT(share, 0.5) << model;
    EXPECT_NEAR(row.at("value").get<double>() / 12.5e9, share, 1e-12);
    EXPECT_NEAR(plain_scaling(joined(setup, {"--efficiency", exact(share)})), parse_fraction(measured), 1e-6);
    // An efficiency that was assumed does not change what is effective.
    const json again =
        solve("bandwidth", joined(setup, {"--scaling", measured, "--efficiency", "0.8"})).at(0);
    EXPECT_EQ(again.at("value"), row.at("value"));
  }
}

TEST(SolveBandwidth, NeededForATargetGivesIt) {
  const auto setup = without(whatif("resnet50", "10Gbit/s"), "--bandwidth");
  for (const char* efficiency : {"1", "0.7"}) {
    const auto asked = joined(setup, {"--efficiency", efficiency});
    const auto rows =
        solve("bandwidth", joined(asked, {"--target-scaling", "0.9", "--target-scaling", "95%"}));
    ASSERT_EQ(rows.size(), 2U);
    for (const json& row : rows) {
      const std::string bandwidth = bytes_per_second(row.at("value").get<double>());
      EXPECT_NEAR(plain_scaling(joined(asked, {"--bandwidth", bandwidth})), row.at("target").get<double>(),
                  1e-6);
    }
  }
}

TEST(SolveBandwidth, AtTheEdgeASchemeGainsTheMargin) {
  for (const char* scheme : {"powersgd:rank=4", "topk:ratio=0.1%", "bf16"}) {
    for (const char* margin : {"0", "2%", "5%"}) {
      const auto setup = joined(without(resnet_setup(), "--bandwidth"), {"-s", scheme, "--margin", margin});
      const json row = solve("bandwidth", setup).at(0);
      EXPECT_EQ(row.at("question"), "pay");
      ASSERT_FALSE(row.at("ranges").empty()) << scheme;
      for (const json& range : row.at("ranges")) {
        for (const json& end : range) {
          if (!end.is_null()) {
            const json at = named(joined(setup, {"--bandwidth", bytes_per_second(end.get<double>())}));
            EXPECT_NEAR(at.at("speedup").get<double>(), 1 + parse_fraction(margin), 1e-6) << scheme;
          }
        }
      }
    }
  }
}

TEST(SolveBandwidth, NeedNotBeGiven) {
  const auto setup = without(given_setup(), "--bandwidth");
  const Result result = invoke(joined({"solve", "bandwidth"}, setup));
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.out, StartsWith("plain fp32 reaches 95 % of linear scaling at "));
  EXPECT_THAT(result.out, testing::Not(HasSubstr("10 Gbit/s a node"))) << "what nobody said is not shown";
  const Result data = invoke(joined({"solve", "bandwidth", "--format", "json"}, setup));
  const json inputs = json::parse(data.out).at("scenario").at("inputs");
  EXPECT_FALSE(inputs.contains("bandwidth"));
  EXPECT_TRUE(inputs.contains("latency"));
  EXPECT_TRUE(json::parse(data.out).at("answers").at(0).at("now").is_null());
}

TEST(SolveBandwidth, InsideASingleNodeIsThatOfItsLinks) {
  const std::vector<std::string> setup = {"--model", "vgg16_bn", "--device",           "v100",
                                          "--batch", "32",       "--workers",          "8",
                                          "--gamma", "1",        "--workers-per-node", "8"};
  const json row = solve("bandwidth", joined(setup, {"--target-scaling", "0.9"})).at(0);
  EXPECT_THAT(row.at("answer").get<std::string>(), HasSubstr(" inside the node"));
  const std::string bandwidth = bytes_per_second(row.at("value").get<double>());
  EXPECT_NEAR(plain_scaling(joined(setup, {"--intra-bandwidth", bandwidth})), 0.9, 1e-6);
}

TEST(SolveBandwidth, SaysWhatNoNetworkExplains) {
  const auto setup = whatif("resnet50", "100Gbit/s");
  const Result never = invoke(joined({"solve", "bandwidth", "--scaling", "99.99%"}, setup));
  EXPECT_EQ(never.status, kAnswered);
  EXPECT_THAT(never.out, StartsWith("no bandwidth explains a scaling of 99.99 %: "));
  const Result slow = invoke(joined({"solve", "bandwidth", "--scaling", "1e-9"}, setup));
  EXPECT_EQ(slow.status, kAnswered);
  EXPECT_THAT(slow.out, HasSubstr("is below what the slowest network gives"));
  const Result more =
      invoke(joined({"solve", "bandwidth", "--scaling", "98%"}, whatif("resnet50", "10Gbit/s")));
  EXPECT_THAT(more.out, HasSubstr("more than the 10 Gbit/s given: what ran was not this setup."));
}

TEST(SolveCodecTime, AtTheEdgeASchemeGainsTheMargin) {
  const auto setup = without(resnet_setup(), "--bandwidth");
  const std::vector<std::string> slow = joined(setup, {"--bandwidth", "1Gbps", "--margin", "3%"});
  const json row =
      solve("codec-time", joined(slow, {"-s", "powersgd:rank=4,encode=300ms,decode=100ms"})).at(0);
  EXPECT_NEAR(row.at("now").get<double>(), 0.4, 1e-12);
  const double limit = row.at("value").get<double>();
  const std::string spec =
      "powersgd:rank=4,encode=" + exact(limit * 0.75) + "s,decode=" + exact(limit * 0.25) + "s";
  EXPECT_NEAR(named(joined(slow, {"-s", spec})).at("speedup").get<double>(), 1.03, 1e-6);
}

TEST(SolveCodecTime, SaysWhenNotEvenAFreeOneWouldDoAndWhenThereIsNone) {
  const auto setup =
      joined({"solve", "codec-time", "-q", "-s", "signsgd", "-s", "ideal:ratio=4"}, resnet_setup());
  const Result result = invoke(setup);
  EXPECT_EQ(result.status, kAnswered);
  EXPECT_THAT(result.out, StartsWith("signsgd does not pay however fast its codec: 0."));
  EXPECT_THAT(result.out, HasSubstr("\nideal:ratio=4 has no codec time to save: its gain is 1."));
}

TEST(SolveWorkers, TheLastCountReachesTheTargetAndTheNextDoesNot) {
  const auto setup = without(whatif("resnet50", "25Gbit/s"), "--workers");
  const json row = solve("workers", joined(setup, {"--target-scaling", "0.92"})).at(0);
  const json range = row.at("ranges").at(0);
  EXPECT_TRUE(range.at(0).is_null());
  const int last = range.at(1).get<int>();
  EXPECT_GE(plain_scaling(joined(setup, {"--workers", std::to_string(last)})), 0.92);
  EXPECT_LT(plain_scaling(joined(setup, {"--workers", std::to_string(last + 1)})), 0.92);
  EXPECT_EQ(row.at("value").get<int>(), last);
}

TEST(SolveWorkers, WhereASchemePaysAreWholeNodesAsAQuerySays) {
  const auto setup = joined(resnet_setup(), {"-s", "topk:ratio=0.1%"});
  const json solved = solve("workers", setup).at(0).at("ranges");
  json expected = named(setup).at("pays").at("workers");
  for (json& range : expected) {  // a query names the first count that there is too
    range[0] = range[0] == 2 ? json() : range[0];
  }
  ASSERT_FALSE(solved.empty());
  EXPECT_EQ(solved, expected);
}

TEST(SolveBatch, TheFirstBatchReachesTheTargetAndTheOneBeforeDoesNot) {
  for (const auto& setup :
       {without(whatif("resnet50", "10Gbit/s"), "--batch"),
        std::vector<std::string>{"--model", "resnet50", "--throughput", "253/s", "--other", "200ms",
                                 "--workers", "16", "--bandwidth", "10Gbps"}}) {
    const json row = solve("batch", joined(setup, {"--target-scaling", "95%"})).at(0);
    const int first = row.at("value").get<int>();
    EXPECT_GE(plain_scaling(joined(setup, {"--batch", std::to_string(first)})), 0.95);
    EXPECT_LT(plain_scaling(joined(setup, {"--batch", std::to_string(first - 1)})), 0.95);
  }
}

TEST(SolveBatch, NeedNotBeGiven) {
  const auto setup = without(resnet_setup(), "--batch");
  const Result result = invoke(joined({"solve", "batch", "--target-scaling", "0.9"}, setup));
  EXPECT_EQ(result.status, kAnswered);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("\nresnet50 \u00b7 64 x v100 in 16 nodes of 4"));
  const Result given = invoke(joined({"solve", "batch", "-q", "--target-scaling", "0.9"}, resnet_setup()));
  EXPECT_THAT(given.out, HasSubstr("\nresnet50 \u00b7 batch 64 \u00b7 64 x v100"));
  EXPECT_THAT(given.out, HasSubstr(" at batch 64"));
}

TEST(SolveExtraSteps, AfterThemTheGainIsGone) {
  const auto slow =
      joined(without(resnet_setup(), "--bandwidth"), {"--bandwidth", "1Gbps", "-s", "powersgd:rank=4"});
  const json row = solve("extra-steps", slow).at(0);
  const double limit = row.at("value").get<double>();
  EXPECT_GT(limit, 0);
  EXPECT_NEAR(named(joined(slow, {"--extra-steps", exact(limit)})).at("speedup").get<double>(), 1, 1e-6);
  EXPECT_EQ(limit, named(slow).at("pays").at("extra_steps_below").get<double>());
  EXPECT_EQ(solve("extra-steps", joined(slow, {"--extra-steps", "10%"})).at(0).at("value").get<double>(),
            limit);
  const Result none = invoke(joined({"solve", "extra-steps", "-q", "-s", "signsgd"}, resnet_setup()));
  EXPECT_EQ(none.status, kAnswered);
  EXPECT_THAT(none.out, StartsWith("signsgd gains nothing that more steps could use up: 0."));
}

TEST(Solve, EveryFormatSaysTheSame) {
  const auto asked = joined(
      {"solve", "bandwidth", "-q", "--scaling", "60%", "--target-scaling", "95%", "-s", "topk:ratio=1%"},
      whatif("vgg16_bn", "100Gbit/s"));
  const auto in = [&](const char* format) { return invoke(joined(asked, {"--format", format})).out; };
  const std::string table = in("table");
  EXPECT_THAT(table,
              StartsWith("a scaling of 60 % is that of an effective 38 Gbit/s: 38 % of the 100 Gbit/s "
                         "given (--efficiency 38%).\nplain fp32 reaches 95 % of linear scaling at 79.3 "
                         "Gbit/s or more; 99.3 % at 100 Gbit/s.\n"));
  EXPECT_THAT(table,
              HasSubstr("\nplain fp32  95 % of linear scaling  79.3 Gbit/s or more  99.3 % at 100 Gbit/s\n"));
  EXPECT_THAT(in("markdown"),
              HasSubstr("| plain fp32 | measured scaling 60 % | 38 Gbit/s | 99.3 % at 100 Gbit/s |\n"));
  const json all = json::parse(in("json"));
  EXPECT_EQ(all.at("schema"), "breakeven.solve");
  EXPECT_EQ(all.at("schema_version"), 1);
  EXPECT_EQ(all.at("scenario").at("inputs").at("workers").at("value"), 64);
  const json& answers = all.at("answers");
  ASSERT_EQ(answers.size(), 4U);
  std::istringstream rows(in("jsonl"));
  std::istringstream lines(in("csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(
      line,
      "what,scheme,question,measure,target,value,unit,ranges,best,now,measured_now,share_of_given,answer");
  for (const json& answer : answers) {
    std::getline(rows, line);
    json row = json::parse(line);
    row.erase("ranges");
    json same = answer;
    same.erase("ranges");
    EXPECT_EQ(row, same);
    std::getline(lines, line);
    EXPECT_EQ(cells(line).at(0), "bandwidth");
    EXPECT_EQ(cells(line).at(1), answer.at("scheme").get<std::string>());
    EXPECT_EQ(std::stod(cells(line).at(4)), answer.at("target").get<double>());
    EXPECT_EQ(cells(line).at(12), answer.at("answer").get<std::string>());
  }
  EXPECT_EQ(answers[3].at("question"), "pay");
  EXPECT_EQ(cells(line).at(7), ".." + exact(answers[3].at("ranges").at(0).at(1).get<double>()));
}

TEST(Solve, WhatIsWrongIsOneLine) {
  struct Case {
    std::vector<std::string> arguments;
    std::string error;
  };
  const auto setup = given_setup();
  for (
      const Case& one : std::vector<Case>{
          {{"solve"},
           "solve: argument missing: expected breakeven solve [OPTIONS] "
           "bandwidth|ratio|codec-time|workers|batch|extra-steps"},
          {joined({"solve", "bandwith"}, setup),
           "solve: unknown input \"bandwith\": expected one of bandwidth, ratio, codec-time, workers, batch, "
           "extra-steps (did you mean bandwidth?)"},
          {joined({"solve", "ratio", "--scaling", "60%"}, setup),
           "--scaling: changes nothing in solve ratio: expected solve bandwidth"},
          {joined({"solve", "ratio", "-s", "signsgd"}, setup),
           "--scheme: changes nothing in solve ratio: expected no scheme: the ratio is that of one that "
           "costs "
           "nothing"},
          {joined({"solve", "codec-time", "-s", "signsgd", "--target-scaling", "95%"}, setup),
           "--target-scaling: changes nothing in solve codec-time: expected solve bandwidth, ratio, workers "
           "or "
           "batch"},
          {joined({"solve", "codec-time"}, setup),
           "--scheme: is missing: expected the scheme that solve codec-time is about, such as "
           "powersgd:rank=4"},
          {joined({"solve", "extra-steps"}, setup),
           "--scheme: is missing: expected the scheme that solve extra-steps is about, such as "
           "powersgd:rank=4"},
          {joined({"solve", "bandwidth", "-s", "none"}, setup),
           "--scheme: names nothing but plain all-reduce: expected the scheme that solve bandwidth is about, "
           "such as powersgd:rank=4"},
          {joined({"solve", "bandwidth", "--scaling", "0"}, setup),
           "--scaling: \"0\" is out of range: expected above 0 and at most 1, such as 0.95 or 95%"},
          {joined({"solve", "bandwidth", "--scaling", "60"}, setup),
           "--scaling: \"60\" is out of range: expected above 0 and at most 1, such as 0.95 or 95%"},
          {joined({"solve", "ratio", "--target-scaling", "101%"}, setup),
           "--target-scaling: \"101%\" is out of range: expected above 0 and at most 1, such as 0.95 or 95%"},
          {joined({"solve", "ratio", "--target-scaling", "95%", "--target-scaling", "0.95"}, setup),
           "--target-scaling: \"0.95\" is given twice: expected each target once"},
          {{"solve", "bandwidth", "--model", "resnet50", "--device", "v100", "--batch", "32", "--workers",
            "16", "--fabric", "aws-p4de.24xlarge"},
           "--fabric: a measured table prices this exchange, at this bandwidth and these workers alone: "
           "expected --bandwidth too, which asks the formula instead"},
          {joined({"solve", "batch"}, setup),
           "solve: the compute times are given and do not follow the batch: expected --throughput, or a "
           "model "
           "and a device"},
          {joined(without(joined({"solve", "ratio"}, setup), "--workers"), {"--workers", "1"}),
           "--workers: one worker exchanges nothing: expected 2 or more"},
          {without(joined({"solve", "ratio"}, setup), "--workers"),
           "--workers: is missing: expected the number of workers"},
          {without(without(joined({"solve", "workers"}, setup), "--workers"), "--bandwidth"),
           "--workers: is missing: expected the number of workers"}}) {
    const Result result = invoke(one.arguments);
    EXPECT_EQ(result.status, kUsage) << one.error;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "breakeven: error: " + one.error + "\n");
  }
  const Result text = invoke(joined({"solve", "bandwidth", "--scaling", "most"}, setup));
  EXPECT_EQ(text.status, kUsage);
  EXPECT_THAT(text.err, StartsWith("breakeven: error: --scaling: "));
}

}  // namespace
}  // namespace breakeven::cli
