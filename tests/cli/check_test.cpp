// Does `check` say what is wrong with a scheme of any door, and nothing else?
#include <gmock/gmock.h>
#include <unistd.h>

#include "cli/apart.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class Check : public WithFiles {};

TEST_F(Check, SchemesThatKeepToTheirPlansPass) {
  const Result result = invoke({"check", "fp16", plugin("every"), described("two-bit")});
  EXPECT_EQ(result.status, kAnswered) << result.out;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("\nfp16 "));
  EXPECT_THAT(result.out, HasSubstr(" cases  passed\nevery "));
  EXPECT_THAT(result.out, HasSubstr(" plans  described only: plans checked\n"));
}

TEST_F(Check, ParametersAndDoorsByName) {
  const Result result = invoke({"check", "every:k=7", "--plugin", plugin("every"), "--format", "csv"});
  EXPECT_EQ(result.status, kAnswered) << result.err;
  const std::vector<std::string> row = cells(result.out.substr(result.out.find('\n') + 1));
  ASSERT_EQ(row.size(), 8U) << result.out;
  EXPECT_EQ(row[0], "every:k=7");
  EXPECT_EQ(row[1], "true");
  EXPECT_GT(std::stod(row[3]), 100);
  EXPECT_EQ(row[4], "true");
}

TEST_F(Check, FindingsAreDataOneALineAndFail) {
  const Result result = invoke({"check", plugin("other_bytes"), "fp16"});
  EXPECT_EQ(result.status, kFailed);
  EXPECT_THAT(result.out, HasSubstr("  failed\n"));
  EXPECT_THAT(result.out, HasSubstr(" elements in all, 1 worker, normal, step 1, round 1 of 1: "));
  EXPECT_THAT(result.out, HasSubstr(" more like it)\n"));
  EXPECT_THAT(result.out, HasSubstr("passed"));
  EXPECT_EQ(result.err, "breakeven: 1 of 2 schemes failed\n");
  const Result rows = invoke({"check", plugin("other_bytes"), "--format", "csv"});
  const auto lines = std::count(rows.out.begin(), rows.out.end(), '\n');
  EXPECT_THAT(rows.out, StartsWith("scheme,kernel,plans,cases,passed,where,wrong,times\nplain,true,"));
  const Result json = invoke({"check", plugin("other_bytes"), "--format", "json"});
  EXPECT_THAT(json.out, HasSubstr("\"passed\": false"));
  std::size_t findings = 0;
  for (std::size_t at = json.out.find("{\"where\""); at != std::string::npos;
       at = json.out.find("{\"where\"", at + 1)) {
    ++findings;
  }
  EXPECT_GT(findings, 0U) << json.out;
  EXPECT_EQ(findings + 1, static_cast<std::size_t>(lines)) << "a header, and a row a finding";
}

TEST_F(Check, APluginThatReturnsNonsenseIsAFindingNotACrash) {
  for (const char* fault :
       {"plan", "overflowing_plan", "encode", "null_data", "overflowing_bytes", "decode"}) {
    const Result result = invoke({"check", plugin(fault)});
    EXPECT_EQ(result.status, kFailed) << fault;
    EXPECT_THAT(result.out, HasSubstr("failed")) << fault << result.err;
    EXPECT_EQ(result.err, "breakeven: 1 of 1 schemes failed\n") << fault;
  }
}

TEST_F(Check, WhatEndsAPluginIsAFindingThatNamesTheCase) {
  const auto finding = [](const char* fault) {
    const Result result = invoke({"check", plugin(fault), "fp16"});
    EXPECT_EQ(result.status, kFailed) << fault;
    EXPECT_EQ(result.err, "breakeven: 1 of 2 schemes failed\n") << fault;
    return result.out;
  };
  EXPECT_THAT(finding("crash"), HasSubstr(" elements in all, 1 worker, normal: crashes: Aborted"));
  EXPECT_THAT(finding("leave"),
              HasSubstr(" elements in all, 1 worker, normal: ends the program with status "));
  EXPECT_THAT(finding("make_crash"), HasSubstr("made with these values: crashes: Aborted"));
  EXPECT_THAT(finding("no_kernel"), HasSubstr("kernel_create gives NULL for every message"));
}

TEST_F(Check, WhatTakesTooLongIsEnded) {
  const Examined examined = examined_apart("slow", std::chrono::milliseconds(1), [](const auto& before) {
    before("a place");
    while (true) {
      ::pause();
    }
    return Examined{};
  });
  EXPECT_EQ(examined.scheme, "slow");
  ASSERT_EQ(examined.result.findings.size(), 1U);
  EXPECT_THAT(examined.result.findings[0].wrong, StartsWith("takes longer than "));
}

TEST_F(Check, WritesWhereItIsTold) {
  const Result result =
      invoke({"check", described("two-bit"), "--format", "jsonl", "-o", path("report.jsonl")});
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read(path("report.jsonl")), StartsWith("{\"scheme\":\"two-bit\""));
  EXPECT_THAT(invoke({"check", described("two-bit"), "--format", "markdown"}).out, StartsWith("| scheme |"));
}

TEST_F(Check, WhatIsNoSchemeIsSaid) {
  const auto refused = [](const std::string& argument, int status) {
    const Result result = invoke({"check", argument});
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused("tpok", kUsage),
              MatchesRegex("breakeven: error: check: unknown scheme \"tpok\": .*did you mean topk.*\n"));
  EXPECT_THAT(refused("topk:ratio=7", kUsage), StartsWith("breakeven: error: check: topk: ratio: "));
  EXPECT_EQ(refused("topk:encode=1ms,decode=1ms", kUsage),
            "breakeven: error: check: \"topk:encode=0.001s,decode=0.001s\" states its times: expected "
            "\"topk\"\n");
  EXPECT_THAT(refused(path("missing.so"), kFailed),
              StartsWith("breakeven: error: " + path("missing.so") + ": cannot be loaded"));
  EXPECT_THAT(refused(path("missing.json"), kFailed),
              StartsWith("breakeven: error: " + path("missing.json") + ": no such file"));
  EXPECT_THAT(refused(plugin("make"), kFailed),
              testing::HasSubstr("make.so: it does not like you: expected other values\n"));
  EXPECT_EQ(invoke({"check"}).err,
            "breakeven: error: check: argument missing: expected breakeven check [OPTIONS] "
            "SCHEME|FILE.json|FILE.so...\n");
}

}  // namespace
}  // namespace breakeven::cli
