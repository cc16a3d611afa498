// Does `measure` write a profile that queries use, and say how it was taken? (No time is judged here.)
#include <gmock/gmock.h>

#include <set>

#include "compressors/simd/target.h"
#include "profiles/read.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Measure : public WithFiles {};

/// Small and quick.
std::vector<std::string> measure(const std::vector<std::string>& more) {
  return joined({"measure", "--repeats", "2"}, more);
}
CodecProfile profile_of(const Result& result) {
  EXPECT_EQ(result.status, kAnswered) << result.err;
  return read_codec(result.out, "measured");
}
std::string condition(const CodecProfile& profile, const std::string& name) {
  for (const auto& [key, value] : profile.conditions) {
    if (key == name) {
      return value;
    }
  }
  return "no " + name;
}
std::vector<double> elements_of(const Curve& curve) {
  std::vector<double> elements;
  for (const Curve::Point& point : curve.points) {
    EXPECT_GE(point.time, Seconds{});
    elements.push_back(point.elements);
  }
  return elements;
}

TEST_F(Measure, AProfileHasEverySizeOfEveryScheme) {
  const Result result = invoke(measure({"signsgd", "fp16", "--elements", "4096,100,4096"}));
  const CodecProfile profile = profile_of(result);
  ASSERT_EQ(profile.costs.size(), 2U);
  EXPECT_EQ(profile.costs[0].scheme, "signsgd");
  EXPECT_EQ(profile.costs[1].scheme, "fp16");
  for (const CodecCosts& costs : profile.costs) {
    EXPECT_EQ(costs.device, "cpu");
    EXPECT_EQ(costs.origin, Origin::measured);
    EXPECT_THAT(elements_of(costs.encode), ElementsAre(100, 4096));
    EXPECT_THAT(elements_of(costs.decode), ElementsAre(100, 4096));
    EXPECT_GT(costs.encode.points.back().time, Seconds{});
    EXPECT_THAT(costs.source, HasSubstr("medians of 2 repeats by the wall clock, normal gradients"));
  }
  EXPECT_THAT(elements_of(profile.costs[0].decode_next), ElementsAre(100, 4096)) << "payloads are gathered";
  for (const Curve::Point& point : profile.costs[0].decode_next.points) {
    EXPECT_GT(point.time, Seconds{}) << "no payload is free";
  }
  EXPECT_TRUE(profile.costs[1].decode_next.points.empty()) << "a sum is decoded once";
  EXPECT_EQ(profile.name, "measured");
  EXPECT_EQ(condition(profile, "simd"), simd_target());
  EXPECT_EQ(condition(profile, "threads"), "1");
  EXPECT_EQ(condition(profile, "caches"), "warm");
  EXPECT_EQ(condition(profile, "date").size(), std::string("2025-01-31").size());
  EXPECT_THAT(condition(profile, "compiler"), testing::AnyOf(StartsWith("g++ "), StartsWith("clang ")));
  EXPECT_THAT(condition(profile, "machine"), Not(StartsWith("no ")));
}

TEST_F(Measure, OptionsSayWhatIsMeasured) {
  const CodecProfile profile =
      profile_of(invoke(measure({"signsgd", "--elements", "512..2048*2", "--threads", "2", "--gradients",
                                 "heavy-tailed", "--cold", "--name", "mine", "--device", "my-cpu", "-q"})));
  EXPECT_EQ(profile.name, "mine");
  EXPECT_EQ(profile.costs.front().device, "my-cpu");
  EXPECT_THAT(elements_of(profile.costs.front().encode), ElementsAre(512, 1024, 2048));
  EXPECT_THAT(profile.source, HasSubstr("heavy-tailed gradients"));
  EXPECT_EQ(condition(profile, "threads"), "2");
  EXPECT_EQ(condition(profile, "caches"), "cold");
}

TEST_F(Measure, TheRepeatsAreThoseThatWereDone) {
  const std::vector<std::string> arguments = {"measure", "fp16", "--elements", "64", "--repeats", "7"};
  const Result cold = invoke(joined(arguments, {"--cold"}));
  EXPECT_THAT(profile_of(cold).source, HasSubstr("medians of 5 repeats with emptied caches by the wall"));
  EXPECT_THAT(cold.err, HasSubstr("medians of 7 repeats by the wall clock, caches warm"));
  EXPECT_THAT(cold.err, HasSubstr("cold: of 5 with emptied caches"));
  EXPECT_THAT(profile_of(invoke(arguments)).source, HasSubstr("medians of 7 repeats by the wall clock,"));
  EXPECT_THAT(profile_of(invoke({"measure", "fp16", "--elements", "64", "--repeats", "1", "--cold"})).source,
              HasSubstr("medians of 1 repeat with emptied caches"));
}

TEST_F(Measure, ADeviceThatNoProfileKnowsIsSaid) {
  const std::vector<std::string> arguments = measure({"fp16", "--elements", "64", "--device"});
  EXPECT_THAT(
      invoke(joined(arguments, {"h10"})).err,
      HasSubstr("breakeven: warning: --device: no device profile is named \"h10\" (did you mean h100?): "
                "only a query whose device has that name uses these times\n"));
  EXPECT_THAT(invoke(joined(arguments, {"h100"})).err, Not(HasSubstr("no device profile")));
  EXPECT_THAT(invoke(joined(arguments, {"h10", "-q"})).err, Not(HasSubstr("no device profile")));
}

TEST_F(Measure, NoSizeIsDroppedWithoutAWord) {
  const Result result =
      invoke(measure({"powersgd", "--elements", "1024,1025,3", "--format", "csv"}));  // 3 and 1 are vectors
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.err, HasSubstr("powersgd sends 3 elements as they are: no point there"));
  EXPECT_THAT(result.err,
              HasSubstr("powersgd codes no more of 1,025 elements than of fewer: no point there"));
}

TEST_F(Measure, APlanThatMiscountsIsRefused) {
  const Result none = invoke(measure({"plain", "--elements", "64", "--plugin", plugin("uncounted")}));
  EXPECT_EQ(none.status, kFailed);
  EXPECT_EQ(
      none.err,
      "breakeven: error: measure: the plan of plain counts 0 of 64 elements as coded: expected more than 0, "
      "and no more than there are\n");
  const Result more = invoke(measure({"plain", "--elements", "64", "--plugin", plugin("overcounted")}));
  EXPECT_EQ(more.status, kFailed) << more.err;
  EXPECT_EQ(more.out, "");
  EXPECT_THAT(more.err, HasSubstr("65"));
}

TEST_F(Measure, AFileThatCannotBeWrittenIsSaidBeforeTheTiming) {
  Environment terminal;
  terminal.err_is_terminal = true;
  const Result result = invoke(measure({"fp16", "--elements", "64", "-o", path("no/costs.json")}), terminal);
  EXPECT_EQ(result.status, kFailed);
  EXPECT_THAT(result.err, StartsWith("breakeven: error: " + path("no/costs.json") + ": cannot write: "))
      << "no progress before it";
  const std::string kept = write("kept.json", "before");
  EXPECT_EQ(invoke(measure({"none", "--elements", "64", "-o", kept})).status, kUsage);
  EXPECT_EQ(read(kept), "before");
}

TEST_F(Measure, QueriesUseWhatWasMeasured) {
  const std::string file = path("costs.json");
  const Result result = invoke(measure({"signsgd", "--elements", "1000,100000", "-o", file}));
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.out, "");
  const std::vector<std::string> setup = {
      "--gradient-bytes", "400kB", "--forward",   "5ms",   "--backward", "9ms",    "--device", "cpu",
      "--workers",        "4",     "--bandwidth", "1Gbps", "-s",         "signsgd"};
  const Result before = invoke(joined({"query"}, setup));
  EXPECT_THAT(before.out,
              HasSubstr("signsgd's codec time is an estimate: measure it: breakeven measure signsgd "
                        "-o"));
  const Result after = invoke(joined({"query", "--codec", file}, setup));
  EXPECT_EQ(after.status, kAnswered) << after.err;
  EXPECT_THAT(after.out, HasSubstr(" measured "));
  EXPECT_THAT(after.out, Not(HasSubstr("measure it")));
  EXPECT_THAT(invoke(joined({"query", "--codec", file, "--format", "json"}, setup)).out,
              HasSubstr("\"codec_origin\": \"measured\""));
  const Result shown = invoke({"list", "codecs", file});
  EXPECT_THAT(shown.out, HasSubstr(simd_target()));
  EXPECT_THAT(shown.out, HasSubstr("signsgd on cpu (measured), each further payload"));
}

TEST_F(Measure, TheTableGoesWithTheProfileOrStandsForIt) {
  const std::vector<std::string> arguments = measure({"signsgd", "--elements", "1000"});
  const Result profile = invoke(arguments);
  EXPECT_THAT(profile.out, StartsWith("{\n  \"schema\": 1,"));
  EXPECT_THAT(profile.err, HasSubstr("x read"));
  EXPECT_THAT(profile.err, HasSubstr("signsgd     1,000  each further payload"));
  EXPECT_THAT(invoke(joined(arguments, {"--format", "json"})).out, StartsWith("{\n  \"schema\": 1,"));
  EXPECT_EQ(invoke(joined(arguments, {"-q"})).err, "");
  const Result table = invoke(joined(arguments, {"--format", "table"}));
  EXPECT_THAT(table.out, HasSubstr("x read"));
  EXPECT_THAT(table.err, Not(HasSubstr("x read")));
  EXPECT_THAT(invoke(joined(arguments, {"--format", "markdown"})).out, StartsWith("| scheme |"));
  EXPECT_THAT(invoke(joined(arguments, {"--format", "jsonl"})).out, StartsWith("{\"scheme\":\"signsgd\""));
  const Result csv = invoke(joined(arguments, {"--format", "csv"}));
  EXPECT_THAT(csv.out, StartsWith("scheme,elements,side,time_s,least_s,spread,bytes_per_s,read_ratio,cold_s\n"
                                  "signsgd,1000,encode,"));
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 4);
}

TEST_F(Measure, ProgressIsForTerminals) {
  const std::vector<std::string> arguments = measure({"fp16", "--elements", "1000"});
  Environment terminal;
  terminal.err_is_terminal = true;
  EXPECT_THAT(invoke(arguments, terminal).err, HasSubstr("\rfp16, 1,000 elements (1 of 1)"));
  EXPECT_THAT(invoke(arguments).err, Not(HasSubstr("\r")));
}

TEST_F(Measure, WithoutASchemeEveryOneThatHasCodeIsMeasured) {
  const CodecProfile profile =
      profile_of(invoke({"measure", "-q", "--repeats", "1", "--elements", "256", "--plugin", plugin("every"),
                         "--scheme-file", described("two-bit")}));
  std::set<std::string> measured;
  for (const CodecCosts& costs : profile.costs) {
    measured.insert(costs.scheme);
  }
  EXPECT_TRUE(measured.contains("every"));
  EXPECT_FALSE(measured.contains("none")) << "it codes nothing";
  EXPECT_FALSE(measured.contains("two-bit")) << "it has no code";
  for (const char* name : {"fp16", "signsgd", "onebit"}) {
    EXPECT_TRUE(measured.contains(name)) << name;
  }
}

TEST_F(Measure, EveryMisuseIsOneExactLine) {
  struct Refusal {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Refusal> refusals = {
      {{"signsdg"}, "measure: unknown scheme \"signsdg\": expected one of "},
      {{"topk:ratio=2"}, "measure: topk: ratio: \"2\" is out of range: expected above 0 and at most 1"},
      {{"fp16", "bf16", "fp16"}, "measure: \"fp16\" is given twice: expected each scheme once"},
      {{"fp16:encode=1ms,decode=0s"},
       "measure: \"fp16:encode=0.001s,decode=0s\" states its times: expected \"fp16\""},
      {{"two-bit", "--scheme-file", described("two-bit")},
       "measure: \"two-bit\" is described only: there is no code to time: expected a scheme with code (list "
       "schemes); times from elsewhere go into a codec profile, or encode=TIME,decode=TIME"},
      {{"none", "--elements", "64"},
       "measure: \"none\" codes nothing of such messages: expected a scheme that does, or larger --elements"},
      {{"fp16", "--elements", "0"},
       "--elements: \"0\" must be at least 1: expected a whole number, such as 8"},
      {{"fp16", "--elements", "8,"},
       "--elements: an item of \"8,\" is empty: expected values with commas between them"},
      {{"fp16", "--elements", "64 KiB"},
       "--elements: cannot read \"64 KiB\" as a whole number: expected a whole number, such as 8"},
      {{"fp16", "--repeats", "0"}, "--repeats: \"0\" is out of range: expected 1 to 100000"},
      {{"fp16", "--threads", "1025"}, "--threads: \"1025\" is out of range: expected 1 to 1024"},
      {{"fp16", "--gradients", "uniform"},
       "--gradients: unknown value \"uniform\": expected one of normal, heavy-tailed"},
      {{"fp16", "--scheme", "topk"}, "--scheme: unknown option: expected an option of measure"},
  };
  for (const Refusal& refusal : refusals) {
    const Result result = invoke(joined({"measure"}, refusal.arguments));
    EXPECT_EQ(result.status, kUsage) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("breakeven: error: " + refusal.message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(Measure, MessagesThatMemoryCannotHoldAreRefusedBeforehand) {
  const Result result = invoke({"measure", "fp16", "--elements", "8,10000000000"});
  EXPECT_EQ(result.status, kUsage);
  EXPECT_THAT(result.err,
              StartsWith("breakeven: error: --elements: 10,000,000,000 elements of fp16 take about "));
}

TEST_F(Measure, APluginThatBreaksItsPromisesIsNamed) {
  for (const char* fault : {"encode", "other_bytes", "null_data", "decode"}) {
    const Result result = invoke(measure({"plain", "--elements", "64", "--plugin", plugin(fault)}));
    EXPECT_EQ(result.status, kFailed) << fault << ": " << result.err;
    EXPECT_EQ(result.out, "") << fault;
    EXPECT_THAT(result.err, HasSubstr(fault + std::string(".so"))) << fault;
  }
}

}  // namespace
}  // namespace breakeven::cli
