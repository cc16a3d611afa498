// Do the sentences of a verdict say what is true of the scheme they are about?
#include <gtest/gtest.h>

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

TEST(VerdictText, TheMemoryThatTheWinnerKeepsIsNamed) {
  const std::vector<std::string> office = {"--model", "bert-large", "--device", "rtx-3090", "--batch",
                                           "8",       "--workers",  "2",        "--fabric", "ethernet-10g"};
  EXPECT_NE(
      screen(joined(office, {"--scheme", "topk"})).find("It keeps 1.34 GB more on each worker (of 24 GB)."),
      std::string::npos);
  EXPECT_EQ(screen(joined(office, {"--scheme", "topk:feedback=off"})).find("It keeps"), std::string::npos);
}

TEST(VerdictText, ACastThatGivesMostOfTheGainIsSaidTo) {
  const std::string text =
      screen({"--gradient-bytes", "100MB", "--forward", "10ms", "--backward", "20ms", "--device", "v100",
              "--workers", "2", "--bandwidth", "20Gbps", "--scheme", "topk:encode=5ms,decode=5ms"});
  EXPECT_NE(text.find("A 16-bit cast alone gives"), std::string::npos) << text;
  EXPECT_NE(text.find("most of the gain"), std::string::npos) << text;
}

}  // namespace
}  // namespace breakeven::cli
