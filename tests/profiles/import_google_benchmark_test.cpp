// Which times does a Google Benchmark file hold, whoever named its benchmarks, and what is said of the rest?
#include <gmock/gmock.h>

#include "profiles/import/benchmark_names.h"
#include "profiles/import/google_benchmark.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// One row as Google Benchmark 1.7.1 writes it, with `more` members in front.
std::string row(const std::string& run, double real_us, const std::string& more = {}) {
  const bool aggregate = more.find("aggregate_name") != std::string::npos;
  return "{" + more + (more.empty() ? "" : ", ") + R"("name": ")" + run + R"(", "run_name": ")" + run +
         R"(", "run_type": ")" + (aggregate ? "aggregate" : "iteration") +
         R"(", "repetitions": 3, "threads": 1, "iterations": 100, "real_time": )" + exact(real_us) +
         R"(, "cpu_time": )" + exact(real_us * 2) + R"(, "time_unit": "us"})";
}
std::string aggregate(const std::string& run, const std::string& name, double value) {
  return row(run, value, R"("aggregate_name": ")" + name + "\"");
}
std::string file_of(const std::vector<std::string>& rows, const std::string& context = "{}") {
  std::string text = R"({"context": )" + context + R"(, "benchmarks": [)";
  for (const std::string& one : rows) {
    text += (text.ends_with('[') ? "" : ",\n") + one;
  }
  return text + "]}";
}

ImportedCodec import(const std::vector<std::string>& rows, const ImportOptions& options = {}) {
  return import_google_benchmark(file_of(rows), "b.json", options);
}
std::string refusal(const std::vector<std::string>& rows, const ImportOptions& options = {}) {
  return failure([&] { (void)import(rows, options); });
}
ImportOptions with_patterns(std::vector<std::string> patterns) {
  ImportOptions options;
  options.patterns = std::move(patterns);
  return options;
}

/// "1024: 1.5 us, 65536: 20 us"
std::string shown(const Curve& curve) {
  std::string text;
  for (const Curve::Point& point : curve.points) {
    text += (text.empty() ? "" : ", ") + exact(point.elements) + ": " + to_string(point.time);
  }
  return text;
}

TEST(ImportGoogleBenchmark, UnderstandsOurOwnNames) {
  const ImportedCodec read =
      import({row("encode/topk:ratio=5%,index=u32/65536/threads:1/kind:normal/real_time", 20),
              row("encode/topk:ratio=5%,index=u32/1024/threads:1/kind:normal/real_time", 1.5),
              row("decode/topk:ratio=5%,index=u32/1024/threads:1", 0.5),
              row("decode_next/topk:ratio=5%,index=u32/1024", 0.25), row("encode/fp16/1024", 3),
              row("decode/fp16/1024", 4)});
  ASSERT_EQ(read.codec.costs.size(), 2U);
  const CodecCosts& topk = read.codec.costs[0];
  EXPECT_EQ(topk.scheme, "topk:ratio=5%,index=u32");
  EXPECT_EQ(topk.device, "cpu");
  EXPECT_EQ(topk.origin, Origin::measured);
  EXPECT_EQ(shown(topk.encode), "1024: 1.5 us, 65536: 20 us");
  EXPECT_EQ(shown(topk.decode), "1024: 500 ns");
  EXPECT_EQ(shown(topk.decode_next), "1024: 250 ns");
  EXPECT_EQ(topk.spread, 0);
  EXPECT_EQ(read.codec.costs[1].scheme, "fp16");
  EXPECT_THAT(read.notes,
              ElementsAre("topk:ratio=5%,index=u32: encode of 1024 to 65536 elements (2 sizes), "
                          "decode of 1024 elements (1 size), decode_next of 1024 elements (1 size)",
                          "fp16: encode of 1024 elements (1 size), decode of 1024 elements (1 size)"));
}

TEST(ImportGoogleBenchmark, PatternsMapAnyNames) {
  const ImportedCodec read = import({row("BM_TopK_Encode<float>/n:1024/repeats:3/real_time", 1),
                                     row("BM_TopK_Decode/1024/1/threads:1", 2), row("memcpy/1024", 9)},
                                    with_patterns({"BM_TopK_Encode<*>/n:{n}=encode:topk:ratio=1%",
                                                   "BM_TopK_*/{n}/*=decode:topk:ratio=1%"}));
  ASSERT_EQ(read.codec.costs.size(), 1U);
  EXPECT_EQ(read.codec.costs[0].scheme, "topk:ratio=1%");
  EXPECT_EQ(shown(read.codec.costs[0].encode), "1024: 1 us");
  EXPECT_EQ(shown(read.codec.costs[0].decode), "1024: 2 us");
  EXPECT_EQ(read.notes.back(), "not understood: 1 name, such as \"memcpy/1024\"");
}

TEST(ImportGoogleBenchmark, TheLibrarysMedianCountsElseThatOfTheRepetitions) {
  const ImportedCodec read =
      import({row("encode/fp16/8", 5), row("encode/fp16/8", 1), row("encode/fp16/8", 2),
              aggregate("encode/fp16/8", "mean", 2.7), aggregate("encode/fp16/8", "median", 2.5),
              aggregate("encode/fp16/8", "stddev", 2), aggregate("encode/fp16/8", "cv", 0.0123),
              row("decode/fp16/8", 9), row("decode/fp16/8", 3), row("decode/fp16/8", 4),
              row("encode/bf16/8", 1), row("decode/bf16/8", 10), row("decode/bf16/8", 11)});
  EXPECT_EQ(shown(read.codec.costs[0].encode), "8: 2.5 us");
  EXPECT_EQ(shown(read.codec.costs[0].decode), "8: 4 us");
  // Half of 3.5 to 6.5, over 4: more than the encoder's 1.2 %.
  EXPECT_EQ(read.codec.costs[0].spread, 0.38);
  EXPECT_EQ(shown(read.codec.costs[1].decode), "8: 10.5 us");
}

TEST(ImportGoogleBenchmark, ReadsFilesThatDoNotTellAggregatesApart) {
  const std::string old = R"({"benchmarks": [
    {"name": "encode/fp16/8", "iterations": 1, "real_time": 7, "cpu_time": 7},
    {"name": "encode/fp16/8_median", "iterations": 1, "real_time": 5, "cpu_time": 5, "time_unit": "ms"},
    {"name": "encode/fp16/8_stddev", "iterations": 1, "real_time": 0, "cpu_time": 0, "time_unit": "ms"},
    {"name": "decode/fp16/8", "iterations": 1, "real_time": 3, "cpu_time": 3, "time_unit": "s"},
    {"name": "fit_BigO", "cpu_coefficient": 4, "big_o": "N", "time_unit": "ns"}]})";
  const CodecCosts costs = import_google_benchmark(old, "b.json", {}).codec.costs.front();
  EXPECT_EQ(shown(costs.encode), "8: 5 ms");
  EXPECT_EQ(shown(costs.decode), "8: 3 s");
}

TEST(ImportGoogleBenchmark, SaysWhatItLeavesOut) {
  std::string four = row("encode/fp16/64", 1);
  four.replace(four.find("\"threads\": 1"), 12, "\"threads\": 4");
  const ImportedCodec read = import(
      {row("encode/fp16/8", 1), row("decode/fp16/8", 1), row("encode/fp16/16/threads:2", 1), four,
       row("encode/fp16/32/kind:zero", 1), row("encode/fp16/0", 1),
       row("encode/fp16/7", 0, R"("error_occurred": true, "error_message": "no kernel")"),
       row("encode/fp16/9", 0, R"("skipped": "message")"),
       row("encode/fp16/10", 1, R"("error_occurred": false)"), row("read/8", 1), row("encode/fp16", 1)});
  EXPECT_EQ(shown(read.codec.costs[0].encode), "8: 1 us, 10: 1 us");
  EXPECT_THAT(read.notes,
              ElementsAre(HasSubstr("fp16: "),
                          "left out: 2 rows of another number of threads, such as "
                          "\"encode/fp16/16/threads:2\"",
                          "left out: 1 row of no elements, such as \"encode/fp16/0\"",
                          "left out: 1 row of other gradients than normal ones, such as "
                          "\"encode/fp16/32/kind:zero\"",
                          "left out: 2 rows that failed or skipped themselves, such as \"encode/fp16/7\"",
                          "not understood: 2 names, such as \"encode/fp16\""));
}

TEST(ImportGoogleBenchmark, TakesTheNumberOfThreadsAndTheClockAskedFor) {
  ImportOptions options;
  options.threads = 2;
  options.cpu_time = true;
  const ImportedCodec read = import({row("encode/fp16/8/threads:1", 1), row("encode/fp16/8/threads:2", 3),
                                     row("decode/fp16/8/threads:2", 4)},
                                    options);
  EXPECT_EQ(shown(read.codec.costs[0].encode), "8: 6 us");
  EXPECT_THAT(read.codec.conditions, ElementsAre(std::pair<std::string, std::string>("threads", "2"),
                                                 std::pair<std::string, std::string>("time", "CPU")));
}

TEST(ImportGoogleBenchmark, KeepsTheConditionsButNotWhoseMachineItWas) {
  const std::string context = R"({"date": "2026-11-30T22:00:42+00:00", "host_name": "secret",
    "executable": "./secret", "num_cpus": 2, "mhz_per_cpu": 2596, "cpu_scaling_enabled": true,
    "caches": [], "load_avg": [1], "library_version": "v1.8.3", "library_build_type": "debug",
    "machine": "a CPU", "compiler": "g++ 12", "simd": "AVX2", "user": "secret"})";
  const ImportedCodec read = import_google_benchmark(
      file_of({row("encode/fp16/8", 1), row("decode/fp16/8", 1)}, context), "b.json", {});
  std::string all;
  for (const auto& [key, text] : read.codec.conditions) {
    all += key + "=" + text + " ";
  }
  EXPECT_EQ(all,
            "machine=a CPU date=2026-11-30 cpus=2 MHz=2596 compiler=g++ 12 simd=AVX2 library=v1.8.3 "
            "threads=1 time=real ");
  EXPECT_EQ(write_codec(read.codec).find("secret"), std::string::npos);
  EXPECT_THAT(read.notes, ElementsAre(HasSubstr("fp16"), "the benchmark library is a debug build",
                                      "the CPU's frequency was not fixed"));
}

TEST(ImportGoogleBenchmark, WhatItMakesIsAProfile) {
  ImportOptions options;
  options.name = "mine";
  options.device = "v100";
  options.origin = Origin::published;
  options.source = "somebody's log";
  const CodecProfile made =
      import({row("encode/fp16/8", 1.23456789), row("decode/fp16/8", 2)}, options).codec;
  const CodecProfile read = read_codec(write_codec(made), "written");
  EXPECT_EQ(read.name, "mine");
  EXPECT_EQ(read.summary, "1 scheme, timed with Google Benchmark");
  EXPECT_EQ(read.costs[0].device, "v100");
  EXPECT_EQ(read.costs[0].origin, Origin::published);
  EXPECT_EQ(read.costs[0].source, "somebody's log");
  EXPECT_EQ(read.costs[0].encode.points[0].time, Seconds::of(1.2346 / 1e6));
}

TEST(ImportGoogleBenchmark, RefusesWhatIsNoSuchFile) {
  const auto text = [](const std::string& json) {
    return failure([&] { (void)import_google_benchmark(json, "b.json", {}); });
  };
  EXPECT_EQ(text("{\"benchmarks\": [{\"name\""),
            "file b.json:1:24: syntax error: unexpected end of input: expected ':'");
  EXPECT_EQ(text("hello").substr(0, 30), "file b.json:1:1: syntax error:");
  EXPECT_EQ(text("[1]"), "file b.json: is a list: expected an object");
  EXPECT_EQ(text("{}"),
            "file b.json: the key \"benchmarks\" is missing: expected what Google Benchmark writes with "
            "--benchmark_format=json");
  EXPECT_EQ(text("{\"benchmarks\": []}"), "file b.json: /benchmarks: is an empty list: expected at least 1");
  EXPECT_EQ(text("{\"benchmarks\": [{}]}"),
            "file b.json: /benchmarks/0: the key \"name\" is missing: expected the benchmark's name");
  EXPECT_EQ(refusal({row("read/8", 1), row("BM_x", 1)}),
            "file b.json: times no scheme: expected benchmarks named encode/SPEC/ELEMENTS, or a pattern for "
            "names such as \"BM_x\", \"read/8\"");
}

TEST(ImportGoogleBenchmark, RefusesTimesThatMakeNoSense) {
  const auto time = [](const std::string& text) {
    std::string changed = row("encode/fp16/8", 1);
    const std::string before = "\"real_time\": 1,";
    changed.replace(changed.find(before), before.size(), text);
    return refusal({changed});
  };
  const std::string place = "file b.json: /benchmarks/0/real_time: ";
  EXPECT_EQ(time("\"real_time\": 0,"),
            place + "\"0\" is no time that a benchmark takes: expected a time above 0");
  EXPECT_EQ(time("\"real_time\": -1,"),
            place + "\"-1\" is no time that a benchmark takes: expected a time above 0");
  EXPECT_EQ(time("\"real_time\": \"1\","), place + "is text: expected a number");
  EXPECT_THAT(time("\"real_time\": 1e300,"), HasSubstr(place + "\"1e300\" is out of range"));
  EXPECT_THAT(time("\"real_time\": 1e999,"), HasSubstr("1e999 is beyond what a number can hold"));
  EXPECT_THAT(time("\"real_time\": NaN,"), HasSubstr("syntax error: invalid literal"));
  EXPECT_EQ(time(""), "file b.json: /benchmarks/0: the key \"real_time\" is missing: expected a time");
  std::string unit = row("encode/fp16/8", 1);
  unit.replace(unit.find("\"us\""), 4, "\"min\"");
  EXPECT_EQ(
      refusal({unit}),
      "file b.json: /benchmarks/0/time_unit: unknown unit of time \"min\": expected one of s, ms, us, ns");
  EXPECT_EQ(refusal({aggregate("encode/fp16/8", "cv", -1)}),
            place + "\"-1\" must not be negative: expected a relative deviation");
}

TEST(ImportGoogleBenchmark, NamesTheSideThatIsMissing) {
  EXPECT_EQ(refusal({row("encode/fp16/8", 1)}),
            "file b.json: has no decode times of fp16: expected benchmarks named decode/fp16/ELEMENTS, or a "
            "pattern for them");
  EXPECT_EQ(refusal({row("decode/fp16/8", 1), row("decode_next/fp16/8", 1)}),
            "file b.json: has no encode times of fp16: expected benchmarks named encode/fp16/ELEMENTS, or a "
            "pattern for them");
  // A deviation alone is no time.
  EXPECT_EQ(refusal({row("encode/fp16/8", 1), aggregate("decode/fp16/8", "cv", 0.1)}).substr(0, 47),
            "file b.json: has no decode times of fp16: expec");
}

TEST(ImportGoogleBenchmark, RefusesTwoBenchmarksOfOneThing) {
  EXPECT_EQ(refusal({row("encode/fp16/8/a:1", 1), row("encode/fp16/8/a:2", 1)}),
            "file b.json: /benchmarks/1: \"encode/fp16/8/a:1\" and \"encode/fp16/8/a:2\" both time encode of "
            "fp16 for 8 elements: expected one of them (--benchmark_filter)");
  EXPECT_EQ(
      refusal({aggregate("encode/fp16/8", "median", 1), aggregate("encode/fp16/8", "median", 1)}),
      "file b.json: /benchmarks/1: the median of \"encode/fp16/8\" is there twice: expected each benchmark "
      "once");
}

TEST(ImportGoogleBenchmark, RefusesPatternsThatCannotBe) {
  const auto pattern = [](const std::string& text) {
    return refusal({row("BM_pack/8", 1)}, with_patterns({text}));
  };
  const std::string form =
      " is no pattern of names: expected PATTERN=encode:SPEC, PATTERN=decode:SPEC or "
      "PATTERN=decode_next:SPEC";
  EXPECT_EQ(pattern("BM_pack/{n}"), "value \"BM_pack/{n}\":" + form);
  EXPECT_EQ(pattern("BM_pack/{n}=code:fp16"), "value \"BM_pack/{n}=code:fp16\":" + form);
  EXPECT_EQ(pattern("BM_pack/{n}=encode:"), "value \"BM_pack/{n}=encode:\":" + form);
  EXPECT_EQ(pattern("=encode:fp16"), "value \"=encode:fp16\":" + form);
  EXPECT_EQ(
      pattern("BM_pack/8=encode:fp16"),
      "value \"BM_pack/8=encode:fp16\": does not say where the elements stand: expected {n} once in the "
      "pattern");
  EXPECT_EQ(pattern("BM/{n}/{n}=encode:fp16"),
            "value \"BM/{n}/{n}=encode:fp16\": says twice where the elements stand: expected {n} once in the "
            "pattern");
  EXPECT_EQ(pattern("BM_packs/{n}=encode:fp16"),
            "value \"BM_packs/{n}=encode:fp16\": matches no benchmark of b.json: expected names such as "
            "\"BM_pack/8\"");
}

TEST(ImportGoogleBenchmark, SaysThatAnEarlierPatternTookWhatALaterOneMatches) {
  EXPECT_EQ(
      refusal({row("BM_pack/8", 1), row("BM_pack_small/16", 1)},
              with_patterns({"BM_pack*/{n}=encode:fp16", "BM_pack_small/{n}=encode:bf16"})),
      "value \"BM_pack_small/{n}=encode:bf16\": gets no benchmark: \"BM_pack*/{n}=encode:fp16\" before it "
      "matches them too: expected the narrower pattern first");
}

TEST(ImportGoogleBenchmark, SaysWhatWasLeftOutWhereNothingRemains) {
  ImportOptions options;
  options.threads = 4;
  EXPECT_EQ(
      refusal({row("encode/fp16/8", 1), row("decode/fp16/8", 1)}, options),
      "file b.json: times no scheme with 4 threads (left out: 2 rows of another number of threads, such as "
      "\"encode/fp16/8\"): expected benchmarks that can be taken");
}

TEST(ImportGoogleBenchmark, AConditionThatSaysNothingIsLeftOut) {
  const ImportedCodec read = import_google_benchmark(
      file_of({row("encode/fp16/8", 1), row("decode/fp16/8", 1)}, R"({"machine": "", "simd": "AVX2"})"),
      "b.json", {});
  EXPECT_EQ(read.codec.conditions.front(), (std::pair<std::string, std::string>("simd", "AVX2")));
}

TEST(ImportGoogleBenchmark, SpecsAreCheckedAndWrittenOneWay) {
  ImportOptions options = with_patterns({"BM_unpack/{n}=decode:half"});
  options.canonical = [](const std::string& spec) -> std::string {
    if (spec != "half" && spec != "fp16") {
      throw Error(Fault::value, {}, "unknown scheme \"" + spec + "\"", "one of fp16");
    }
    return "fp16";
  };
  const ImportedCodec both = import({row("encode/fp16/8", 1), row("BM_unpack/8", 2)}, options);
  ASSERT_EQ(both.codec.costs.size(), 1U);
  EXPECT_EQ(both.codec.costs[0].scheme, "fp16");
  EXPECT_EQ(shown(both.codec.costs[0].decode), "8: 2 us");
  EXPECT_EQ(
      refusal({row("BM_unpack/8", 1), row("encode/half/8", 1), row("encode/quarter/8", 1)}, options),
      "file b.json: /benchmarks/2: \"encode/quarter/8\": unknown scheme \"quarter\": expected one of fp16");
  options.patterns = {"BM_unpack/{n}=decode:third"};
  EXPECT_EQ(refusal({row("BM_unpack/8", 1)}, options),
            "value \"BM_unpack/{n}=decode:third\": unknown scheme \"third\": expected one of fp16");
}

/// The elements that `pattern` finds in `name`, or "no".
std::string found(const std::string& pattern, const std::string& name) {
  BenchmarkNames names({pattern + "=encode:x"});
  const auto read = names.read(name);
  return read ? exact(read->elements) : "no";
}

TEST(BenchmarkNames, MatchWholeNamesPartByPart) {
  EXPECT_EQ(found("a/{n}", "a/12"), "12");
  EXPECT_EQ(found("a/{n}", "a/12/real_time"), "12");
  EXPECT_EQ(found("a/{n}", "a/12/min_time:2.000/threads:1"), "12");
  EXPECT_EQ(found("a/{n}/real_time", "a/12/real_time"), "12");
  EXPECT_EQ(found("a/{n}", "a/12/4"), "no");
  EXPECT_EQ(found("a/{n}", "a/x12"), "no");
  EXPECT_EQ(found("a/{n}", "a/12x"), "no");
  EXPECT_EQ(found("a/{n}", "a/"), "no");
  EXPECT_EQ(found("a/{n}", "b/a/12"), "no");
  EXPECT_EQ(found("*/{n}", "a/b/12"), "no");
  EXPECT_EQ(found("*/{n}/*", "a/12/b"), "12");
  EXPECT_EQ(found("*{n}", "a1b22"), "22");
  EXPECT_EQ(found("*_{n}_*", "a_1b_22_c"), "22");
  EXPECT_EQ(found("{n}*", "12ab"), "12");
  EXPECT_EQ(found("a*b*c{n}", "a_b_b_c_c7"), "7");
  EXPECT_EQ(found("a*{n}", "a1234"), "1234");
  EXPECT_EQ(found("a/{n}", "a/1000000000000000"), "no");  // more than a double counts
}

}  // namespace
}  // namespace breakeven
