// Do the sentences of a verdict say what is true of the scheme they are about?
#include <gtest/gtest.h>

#include <sstream>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

std::string screen(const std::vector<std::string>& more) {
  const Result result = invoke(joined({"query", "-q"}, more));
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}
std::vector<std::string> llama(const std::string& scheme) {
  return {"--model",     "llama-3-8b", "--device",           "h100",
          "--batch",     "1",          "--grad-dtype",       "bf16",
          "--workers",   "64",         "--workers-per-node", "8",
          "--bandwidth", "3200Gbps",   "--scheme",           scheme};
}

TEST(VerdictText, AnAllToAllIsNotCalledAGather) {
  EXPECT_NE(screen(llama("int8")).find("all-to-all: the 8 workers of a node no longer share what crosses"),
            std::string::npos);
  EXPECT_NE(screen(llama("signsgd")).find("all-gather grows with the workers"), std::string::npos);
}

TEST(VerdictText, ATreeThatLosesOnTheNetworkSaysWhere) {
  EXPECT_NE(
      screen(llama("gtopk:ratio=20%")).find("every level of its tree sends its entries anew, up and down"),
      std::string::npos);
}

TEST(VerdictText, TheMemoryThatTheWinnerKeepsIsNamed) {
  const std::vector<std::string> office = {"--model", "bert-large", "--device", "rtx-3090", "--batch",
                                           "8",       "--workers",  "2",        "--fabric", "ethernet-10g"};
  EXPECT_NE(
      screen(joined(office, {"--scheme", "topk"})).find("It keeps 1.34 GB more on each worker (of 24 GB)."),
      std::string::npos);
  EXPECT_EQ(screen(joined(office, {"--scheme", "topk:feedback=off"})).find("It keeps"), std::string::npos);
}

TEST(VerdictText, RangesThatWereNotLookedForAreNotCalledNever) {
  const std::vector<std::string> table = {
      "query",     "--model", "gpt2-medium", "--fabric", "aws-p4de.24xlarge", "--batch", "8",
      "--workers", "16",      "--scheme",    "topk"};
  const Result measured = invoke(table);
  EXPECT_EQ(measured.out.find("never here"), std::string::npos) << measured.out;
  EXPECT_NE(measured.err.find("where schemes pay is not looked for"), std::string::npos) << measured.err;
  const Result formula = invoke(joined(table, {"--bandwidth", "400Gbps"}));
  EXPECT_EQ(formula.err.find("where schemes pay is not looked for"), std::string::npos) << formula.err;
}

TEST(VerdictText, WhatDoesNotFitInMemoryIsSaid) {
  const std::vector<std::string> setup = {
      "query", "--device",    "h100",    "--batch",  "1",   "--workers", "64", "--workers-per-node",
      "8",     "--bandwidth", "400Gbps", "--scheme", "topk"};
  EXPECT_NE(invoke(joined(setup, {"--model", "llama-3-70b"}))
                .err.find("weights and gradients alone take 564 GB of the 80 GB of h100"),
            std::string::npos);
  EXPECT_NE(invoke(joined(setup, {"--model", "llama-3-8b"}))
                .err.find("topk ratio 1%: keeps 32.1 GB more on each worker"),
            std::string::npos);
  EXPECT_EQ(invoke(joined(setup, {"--model", "resnet50"})).err.find("keeps"), std::string::npos);
}

TEST(VerdictText, ACodecProfileWithoutTheSchemeIsSaid) {
  const Result result =
      invoke({"query", "--model", "resnet50", "--device", "v100", "--batch", "32", "--workers", "8",
              "--bandwidth", "10Gbps", "--codec", "espresso-v100", "--scheme", "topk", "--scheme", "onebit"});
  EXPECT_NE(result.err.find("--codec: no curve for topk: its codec time stays estimated"), std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("no curve for onebit"), std::string::npos) << result.err;
}

TEST(VerdictText, MixedPrecisionIsAskedForWhereItWasOnlyAssumedAway) {
  const std::vector<std::string> setup = {
      "--model", "llama-3-8b",         "--device", "h100",        "--batch", "1",        "--workers",
      "64",      "--workers-per-node", "8",        "--bandwidth", "400Gbps", "--scheme", "topk"};
  EXPECT_NE(screen(setup).find("--compute-dtype bf16"), std::string::npos);
  EXPECT_EQ(screen(joined(setup, {"--compute-dtype", "fp32"})).find("--compute-dtype bf16"),
            std::string::npos);
}

TEST(VerdictText, CastsNeedNoExtraSteps) {
  const std::vector<std::string> setup = {
      "query",     "-q",  "--format",    "csv",    "--gradient-bytes", "100MB",
      "--forward", "5ms", "--backward",  "10ms",   "--device",         "v100",
      "--workers", "8",   "--bandwidth", "10Gbps", "--scheme",         "topk"};
  const auto row = [](const Result& result, const std::string& name) {
    const std::size_t at = result.out.find("\n" + name);
    return result.out.substr(at, result.out.find('\n', at + 1) - at);
  };
  const Result without = invoke(setup);
  const Result with = invoke(joined(setup, {"--extra-steps", "40%"}));
  EXPECT_EQ(row(with, "bf16"), row(without, "bf16"));
  EXPECT_NE(row(with, "topk"), row(without, "topk"));
}

TEST(VerdictText, ACastThatGivesMostOfTheGainIsSaidTo) {
  const std::string text =
      screen({"--gradient-bytes", "100MB", "--forward", "10ms", "--backward", "20ms", "--device", "v100",
              "--workers", "2", "--bandwidth", "20Gbps", "--scheme", "topk:encode=5ms,decode=5ms"});
  EXPECT_NE(text.find("A 16-bit cast alone gives"), std::string::npos) << text;
  EXPECT_NE(text.find("most of the gain"), std::string::npos) << text;
}

TEST(VerdictText, HowToMeasureACodecDependsOnWhereItRunsAndWhetherItHasCode) {
  const auto next = [](const std::vector<std::string>& more) {
    const std::string text = screen(joined({"--gradient-bytes", "100MB", "--forward", "10ms", "--backward",
                                            "20ms", "--workers", "4", "--bandwidth", "1Gbps"},
                                           more));
    return text.substr(text.find("\nnext "));
  };
  const std::string measure = "measure it: breakeven measure signsgd -o costs.json";
  EXPECT_NE(next({"--device", "cpu", "-s", "signsgd"}).find(measure), std::string::npos);
  EXPECT_NE(next({"--device", "v100", "--placement", "host", "-s", "signsgd"}).find("measure"),
            std::string::npos);
  EXPECT_NE(next({"--device", "h100", "-s", "signsgd"}).find("bench/gpu/measure.py -o costs.json"),
            std::string::npos);
  const std::string file = BREAKEVEN_SOURCE_DIR "/docs/schemes/two-bit.json";
  EXPECT_NE(next({"--device", "cpu", "--scheme-file", file, "-s", "two-bit"})
                .find("time it, then --scheme two-bit:encode=TIME,decode=TIME."),
            std::string::npos);
}

TEST(VerdictText, HowToMeasureAPluginsSchemeNamesThePlugin) {
  const std::string file = std::string(BREAKEVEN_PLUGINS) + "/every.so";
  const auto next = [&](const std::string& scheme) {
    std::istringstream words(
        screen({"--gradient-bytes", "100MB", "--forward", "10ms", "--backward", "20ms", "--workers", "4",
                "--bandwidth", "1Gbps", "--device", "cpu", "--plugin", file, "-s", scheme}));
    std::string text;  // without its line breaks
    for (std::string word; words >> word;) {
      text += word + " ";
    }
    return text;
  };
  EXPECT_NE(next("every:k=64").find("breakeven measure every:k=64 --plugin " + file + " -o costs.json"),
            std::string::npos);
  EXPECT_NE(next("signsgd").find("breakeven measure signsgd -o costs.json"), std::string::npos);
}

}  // namespace
}  // namespace breakeven::cli
