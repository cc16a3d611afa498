// Do lists, ranges and grids give the values that they state?
#include "profiles/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::string expanding(const std::string& option, const std::string& text) {
  return failure([&] { (void)expand_list(option, text); });
}
std::string reading(const std::string& text) {
  return failure([&] { (void)read_grid(text, "g.json"); });
}

TEST(ExpandList, SplitsAtCommas) {
  EXPECT_THAT(expand_list("workers", "8,16, 32"), ElementsAre("8", "16", "32"));
  EXPECT_THAT(expand_list("bandwidth", "10 Gbit/s"), ElementsAre("10 Gbit/s"));
  EXPECT_THAT(expand_list("model", "../a.json,b"), ElementsAre("../a.json", "b")) << "no range: not a number";
  EXPECT_THAT(expand_list("codec", "a.json,b.json"), ElementsAre("a.json,b.json"))
      << "one value that is a list";
}

TEST(ExpandList, ARangeMultipliesUpToItsEnd) {
  EXPECT_THAT(expand_list("bandwidth", "1Gbps..100Gbps*2"),
              ElementsAre("1Gbps", "2Gbps", "4Gbps", "8Gbps", "16Gbps", "32Gbps", "64Gbps"));
  EXPECT_THAT(expand_list("workers", "8..64*2"), ElementsAre("8", "16", "32", "64"));
  EXPECT_THAT(expand_list("efficiency", "1%..100%*10"), ElementsAre("1%", "10%", "100%"));
}

TEST(ExpandList, ARangeAddsUpToItsEnd) {
  EXPECT_THAT(expand_list("workers", "10..40+10"), ElementsAre("10", "20", "30", "40"));
  EXPECT_THAT(expand_list("bandwidth", "10Gbps..25Gbps+5Gbps"),
              ElementsAre("10Gbps", "15Gbps", "20Gbps", "25Gbps"));
  EXPECT_THAT(expand_list("gamma", "1..1.3+0.1"), ElementsAre("1", "1.1", "1.2", "1.3"))
      << "rounding costs no end";
  EXPECT_THAT(expand_list("latency", "0us..2e+1us+1e+1us"), ElementsAre("0us", "10us", "20us"));
}

TEST(ExpandList, TheEndsUnitMayDiffer) {
  EXPECT_THAT(expand_list("bandwidth", "500 Mbit/s..2 Gbit/s*2"),
              ElementsAre("500 Mbit/s", "1000 Mbit/s", "2000 Mbit/s"));
  EXPECT_THAT(expand_list("bucket", "1MiB..3MiB+1024KiB"), ElementsAre("1MiB", "2MiB", "3MiB"));
}

TEST(ExpandList, RangesAndValuesMix) {
  EXPECT_THAT(expand_list("workers", "1,4..16*2,100"), ElementsAre("1", "4", "8", "16", "100"));
}

TEST(ExpandList, CommasInsideASpecDoNotSplit) {
  EXPECT_THAT(expand_list("scheme", "topk:ratio=1%,index=u32,fp16,qsgd:bits=4,bucket=512"),
              ElementsAre("topk:ratio=1%,index=u32", "fp16", "qsgd:bits=4,bucket=512"));
  EXPECT_THAT(expand_list("schedule", "ddp:first=1MiB,cap=2MiB,wfbp"),
              ElementsAre("ddp:first=1MiB,cap=2MiB", "wfbp"));
}

TEST(ExpandList, SaysWhatIsWrong) {
  EXPECT_EQ(expanding("workers", "8,,16"),
            "value --workers: an item of \"8,,16\" is empty: expected values with commas between them");
  EXPECT_EQ(expanding("workers", ""),
            "value --workers: an item of \"\" is empty: expected values with commas between "
            "them");
  EXPECT_EQ(expanding("workers", "8,"),
            "value --workers: an item of \"8,\" is empty: expected values with commas "
            "between them");
  for (const auto* text : {"8..16", "8..", "..16*2", "8..*2", "8..16*"}) {
    EXPECT_EQ(expanding("workers", text),
              "value --workers: cannot read \"" + std::string(text) +
                  "\" as a range: expected FIRST..LAST*FACTOR or FIRST..LAST+STEP, such as "
                  "1Gbps..100Gbps*2");
  }
  EXPECT_EQ(
      expanding("bandwidth", "1..100Gbps*2"),
      "value --bandwidth: \"1\" has no unit: expected a number and a unit, such as 10Gbit/s or 1.25GB/s");
  EXPECT_EQ(expanding("bandwidth", "1Gbps..100GB*2"),
            "value --bandwidth: \"100GB\" is a size, not a bandwidth: expected a number and a unit, such as "
            "10Gbit/s or "
            "1.25GB/s");
  EXPECT_EQ(expanding("bandwidth", "10Gbps..1Gbps*2"),
            "value --bandwidth: \"10Gbps..1Gbps*2\" ends before it starts: expected a rising range");
  EXPECT_EQ(expanding("workers", "8..64*1.5"),
            "value --workers: \"8..64*1.5\" gives 40.5: expected whole numbers");
}

TEST(ExpandList, NoRangeIsEndless) {
  const std::string factor = " never reaches its end: expected a start above 0 and a factor above 1";
  EXPECT_EQ(expanding("workers", "8..64*1"), "value --workers: \"8..64*1\"" + factor);
  EXPECT_EQ(expanding("workers", "8..64*0.5"), "value --workers: \"8..64*0.5\"" + factor);
  EXPECT_EQ(expanding("workers", "0..64*2"), "value --workers: \"0..64*2\"" + factor);
  EXPECT_EQ(expanding("workers", "8..64+0"),
            "value --workers: \"8..64+0\" never reaches its end: expected a step above 0");
  EXPECT_EQ(expanding("gamma", "1..10+1e-20"),
            "value --gamma: \"1..10+1e-20\" never reaches its end: expected a step that a double can add");
  EXPECT_EQ(expanding("gamma", "1..10+1e-7"),
            "value --gamma: \"1..10+1e-7\" has more than a million values: expected a shorter list");
  EXPECT_THAT(expand_list("workers", "1..1000000+1"), SizeIs(1'000'000));
}

TEST(ReadGrid, ReadsAllItsParts) {
  const Grid grid = read_grid(R"({"schema": 1, "name": "g", "summary": "s", "source": "x",
    "base": {"model": "tiny", "batch": 8, "gamma": 1.10, "bandwidth": "10 Gbit/s"},
    "cases": [{"batch": 16}, {"model": "other", "schemes": ["fp16"]}],
    "axes": {"workers": [8, "16"], "bandwidth": "1Gbps..4Gbps*2"},
    "schemes": ["topk:ratio=1%,index=u32", "signsgd"]})",
                              "g.json");
  EXPECT_EQ(grid.name + grid.summary + grid.source, "gsx");
  EXPECT_EQ(grid.base.at("batch"), "8");
  EXPECT_EQ(grid.base.at("gamma"), "1.10") << "numbers keep their digits";
  ASSERT_THAT(grid.cases, SizeIs(2));
  EXPECT_EQ(grid.cases[0].values, (OptionValues{{"batch", "16"}}));
  EXPECT_THAT(grid.cases[0].schemes, IsEmpty());
  EXPECT_THAT(grid.cases[1].schemes, ElementsAre("fp16"));
  ASSERT_THAT(grid.axes, SizeIs(2));
  EXPECT_EQ(grid.axes[0].option, "workers") << "the text's order, not the alphabet's";
  EXPECT_THAT(grid.axes[0].values, ElementsAre("8", "16"));
  EXPECT_THAT(grid.axes[1].values, ElementsAre("1Gbps", "2Gbps", "4Gbps"));
  EXPECT_THAT(grid.schemes, ElementsAre("topk:ratio=1%,index=u32", "signsgd"));
  EXPECT_EQ(grid.rows(), 2U * 3U * (2U + 1U));
}

TEST(ReadGrid, WithoutCasesThereIsOne) {
  const Grid grid = read_grid(R"({"schema": 1, "schemes": ["fp16", "bf16"]})", "g.json");
  ASSERT_THAT(grid.cases, SizeIs(1));
  EXPECT_EQ(grid.rows(), 2U);
}

TEST(ReadGrid, NamesWhatIsWrong) {
  EXPECT_EQ(
      reading(R"({"schema": 1, "base": {"wokers": 8}})"),
      "file g.json: /base: unknown option \"wokers\": expected an option of query (did you mean workers?)");
  EXPECT_EQ(reading(R"({"schema": 1, "cases": [{"batch": 1}, {"scheme": "x"}]})").substr(0, 45),
            "file g.json: /cases/1: unknown option \"scheme");
  EXPECT_EQ(reading(R"({"schema": 1, "base": {"schemes": ["fp16"]}})").substr(0, 44),
            "file g.json: /base: unknown option \"schemes\"");
  EXPECT_EQ(reading(R"({"schema": 1, "axes": {"workers": []}})"),
            "file g.json: /axes/workers: is an empty list: expected at least 1");
  EXPECT_EQ(reading(R"({"schema": 1, "axes": {"workers": [true]}})"),
            "file g.json: /axes/workers/0: is a boolean: expected text");
  EXPECT_EQ(reading(R"({"schema": 1, "axes": {"workers": "8..4*2"}})"),
            "file g.json: /axes/workers: \"8..4*2\" ends before it starts: expected a rising range");
  EXPECT_EQ(reading(R"({"schema": 1, "axes": {"workers": {}}})"),
            "file g.json: /axes/workers: is an object: expected text");
  EXPECT_EQ(reading(R"({"schema": 1, "schemes": []})"),
            "file g.json: /schemes: is an empty list: expected at least 1");
  EXPECT_EQ(reading(R"({"schema": 1, "cases": []})"),
            "file g.json: /cases: is an empty list: expected at least 1");
  EXPECT_EQ(
      reading(R"({"schema": 1, "axis": {}})"),
      "file g.json: unknown key \"axis\": expected one of schema, name, summary, source, base, cases, axes, "
      "schemes (did you mean axes?)");
}

TEST(GridRows, AnOverflowIsAnErrorAndNoSmallNumber) {
  Grid grid;
  grid.cases.resize(1);
  grid.schemes = {"fp16"};
  for (int i = 0; i < 4; ++i) {
    grid.axes.push_back({"gamma", std::vector<std::string>(100'000, "1")});
  }
  EXPECT_EQ(failure([&] { (void)grid.rows(); }),
            "value grid: has more rows than can be counted: expected shorter axes");
  grid.axes.pop_back();
  EXPECT_EQ(grid.rows(), 1'000'000'000'000'000U);
  grid.cases.resize(100'000);
  EXPECT_EQ(failure([&] { (void)grid.rows(); }),
            "value grid: has more rows than can be counted: expected shorter axes");
}

}  // namespace
}  // namespace breakeven
