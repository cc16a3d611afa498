// Does `import` turn somebody's benchmark into a profile that queries use?
#include <gmock/gmock.h>

#include "profiles/read.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Import : public WithFiles {
 protected:
  [[nodiscard]] std::string benchmarks(const std::string& encode, const std::string& decode,
                                       const std::string& suffix = "") const {
    const auto row = [&](const std::string& name, const std::string& elements, const std::string& time) {
      return "{\"name\": \"" + name + "/" + elements + suffix +
             "\", \"run_type\": \"iteration\", \"iterations\": 10, \"real_time\": " + time +
             ", \"cpu_time\": " + time + ", \"time_unit\": \"us\"}";
    };
    return write("bench.json", "{\"context\": {\"date\": \"2025-01-02T03:04:05+00:00\"}, \"benchmarks\": [" +
                                   row(encode, "1000", "5") + ", " + row(encode, "100000", "400") + ", " +
                                   row(decode, "1000", "3") + ", " + row(decode, "100000", "200") + "]}");
  }
};

TEST_F(Import, NamesOfOursAreUnderstoodAsTheyAre) {
  const Result result = invoke({"import", "google-benchmark", benchmarks("encode/signsgd", "decode/signsgd"),
                                "--name", "mine", "--device", "my-cpu"});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  const CodecProfile profile = read_codec(result.out, "imported");
  EXPECT_EQ(profile.name, "mine");
  ASSERT_EQ(profile.costs.size(), 1U);
  EXPECT_EQ(profile.costs[0].scheme, "signsgd");
  EXPECT_EQ(profile.costs[0].device, "my-cpu");
  EXPECT_NEAR(profile.costs[0].encode.at(1000).base(), 5e-6, 1e-12);
  EXPECT_NEAR(profile.costs[0].decode.at(100000).base(), 200e-6, 1e-12);
  EXPECT_THAT(result.err, StartsWith("breakeven: "));
  EXPECT_EQ(invoke({"import", "google-benchmark", benchmarks("encode/signsgd", "decode/signsgd"), "-q"}).err,
            "");
}

TEST_F(Import, OtherNamesAreMapped) {
  const std::string file = path("costs.json");
  const Result result =
      invoke({"import", "google-benchmark", benchmarks("BM_Pack", "BM_Unpack"), "--map",
              "BM_Pack/{n}=encode:topk:ratio=5%", "--map", "BM_Unpack/{n}=decode:topk:ratio=5%", "-o", file});
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.out, "");
  const Result query =
      invoke({"query", "--gradient-bytes", "40kB", "--forward", "5ms", "--backward", "9ms", "--device", "cpu",
              "--workers", "4", "--bandwidth", "1Gbps", "-s", "topk:ratio=5%", "--codec", file});
  EXPECT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out, HasSubstr(" measured "));
}

TEST_F(Import, ThreadsPickTheBenchmarks) {
  const std::string file = benchmarks("encode/signsgd", "decode/signsgd", "/threads:2");
  EXPECT_EQ(invoke({"import", "google-benchmark", file, "--threads", "2"}).status, kAnswered);
  EXPECT_EQ(invoke({"import", "google-benchmark", file}).status, kFailed);
}

TEST_F(Import, TwoSpellingsOfASchemeAreOne) {
  const Result result =
      invoke({"import", "google-benchmark", benchmarks("BM_Pack", "BM_Unpack"), "--map",
              "BM_Pack/{n}=encode:topk:ratio=5%", "--map", "BM_Unpack/{n}=decode:topk:ratio=0.05"});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  const CodecProfile profile = read_codec(result.out, "imported");
  ASSERT_EQ(profile.costs.size(), 1U);
  EXPECT_EQ(profile.costs[0].scheme.substr(0, 11), "topk:ratio=");
}

TEST_F(Import, ASchemeOfADoorIsKnownWithItsDoorOpen) {
  const std::string file = benchmarks("encode/every", "decode/every");
  EXPECT_THAT(invoke({"import", "google-benchmark", file}).err, HasSubstr("unknown scheme \"every\""));
  EXPECT_EQ(invoke({"import", "google-benchmark", file, "--plugin", plugin("every")}).status, kAnswered);
  const std::string two = benchmarks("encode/two-bit", "decode/two-bit");
  EXPECT_EQ(invoke({"import", "google-benchmark", two, "--scheme-file", described("two-bit")}).status,
            kAnswered);
}

TEST_F(Import, ADeviceThatNoProfileKnowsIsSaid) {
  const std::string file = benchmarks("encode/signsgd", "decode/signsgd");
  EXPECT_THAT(invoke({"import", "google-benchmark", file, "--device", "v10"}).err,
              HasSubstr("no device profile is named \"v10\" (did you mean v100?)"));
  EXPECT_EQ(invoke({"import", "google-benchmark", file}).err.find("no device profile"), std::string::npos);
}

TEST_F(Import, AProfileWithASpecThatCannotBeIsNamedByAQuery) {
  const std::string file = write("costs.json", R"({"schema": 1, "name": "costs", "device": "v100",
    "origin": "measured", "costs": [{"scheme": "topk:ration=1%", "encode": [[8, "1 us"]], "decode": [[8, "1 us"]]}]})");
  const Result result = invoke(joined(joined({"query"}, given_setup()), {"-s", "topk", "--codec", file}));
  EXPECT_EQ(result.status, kFailed);
  EXPECT_THAT(result.err,
              StartsWith("breakeven: error: " + file + ": \"topk:ration=1%\": unknown parameter \"ration\""));
}

TEST_F(Import, ATableOfKernelTimesIsACodecProfile) {
  const std::string table =
      write("times.csv",
            "kernel,elements,encode_us,decode_us\ntopk:ratio=5%,1000,5,3\ntopk:ratio=0.05,100000,400,200\n");
  const std::string file = path("costs.json");
  const Result result = invoke({"import", "codec-csv", table, "--device", "v100", "-o", file});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.err, "breakeven: topk:ratio=5%: 2 sizes, 1000 to 100000 elements\n");
  const Result query =
      invoke(joined(joined({"query"}, given_setup()), {"-s", "topk:ratio=5%", "--codec", file}));
  EXPECT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out, HasSubstr(" measured "));
}

TEST_F(Import, ADashIsStandardOutput) {
  const std::string file = benchmarks("encode/signsgd", "decode/signsgd");
  const Result dash = invoke({"import", "google-benchmark", file, "-o", "-"});
  EXPECT_EQ(dash.status, kAnswered);
  EXPECT_EQ(dash.out, invoke({"import", "google-benchmark", file}).out);
  EXPECT_EQ(read_codec(dash.out, "out").costs.size(), 1U);
}

TEST_F(Import, AFileOfAnotherFormatIsNamed) {
  const auto refused = [](const std::string& format, const std::string& file) {
    const Result result = invoke({"import", format, file});
    EXPECT_EQ(result.status, kFailed);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string osu = "# OSU MPI Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n8 1.0\n";
  const std::string file = write("log.txt", osu);
  for (const char* format : {"nccl-tests", "imb", "kineto", "huggingface", "codec-csv", "onnx"}) {
    EXPECT_THAT(refused(format, file), HasSubstr("; this looks like a file for import osu\n")) << format;
  }
  EXPECT_THAT(refused("osu", write("json", "{\"traceEvents\": []}")),
              HasSubstr("this looks like a file for import kineto"));
  // What is wrong with an importer's own file is not its format.
  EXPECT_THAT(refused("osu", file), testing::Not(HasSubstr("looks like")));
  const std::string latency = write(
      "lat.txt", "RDMA_Write Latency Test\n #bytes #iterations t_min[usec] t_max[usec] t_typical[usec]\n");
  EXPECT_THAT(refused("perftest", latency), testing::Not(HasSubstr("looks like")));
  EXPECT_THAT(refused("osu", write("packed", std::string("\x1F\x8B\x08\0", 4))),
              HasSubstr("; this is packed by gzip: unpack it\n"));
  EXPECT_THAT(refused("csv", write("utf16", std::string("\xFF\xFEt\0", 4))), HasSubstr("; this is UTF-16"));
}

TEST_F(Import, WhatAnotherProgramPrintedIsNoProfileAndTheImporterIsNamed) {
  const std::string log =
      write("log.txt", "# OSU MPI Allreduce Latency Test v7.5\n# Size  Avg Latency(us)\n8 1.0\n");
  const Result result = invoke(joined(joined({"query"}, given_setup()), {"--fabric", log}));
  EXPECT_EQ(result.status, kFailed);
  EXPECT_THAT(result.err, HasSubstr("; this looks like a file for import osu\n"));
  const Result broken =
      invoke(joined(joined({"query"}, given_setup()), {"--fabric", write("broken.json", "{")}));
  EXPECT_THAT(broken.err, testing::Not(HasSubstr("looks like")));
}

TEST_F(Import, WhatCannotBeImportedIsSaidInOneLine) {
  const auto refused = [](const std::vector<std::string>& arguments, int status) {
    const Result result = invoke(joined({"import"}, arguments));
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string file = benchmarks("encode/signsgd", "decode/signsgd");
  EXPECT_THAT(refused({"google-bench", file}, kUsage),
              AllOf(StartsWith("breakeven: error: import: unknown format \"google-bench\": expected one of "),
                    HasSubstr("(did you mean google-benchmark?)")));
  EXPECT_EQ(refused({"google-benchmark"}, kUsage),
            "breakeven: error: import: argument missing: expected breakeven import [OPTIONS] "
            "FORMAT FILE\n");
  EXPECT_THAT(refused({"google-benchmark", path("missing.json")}, kFailed),
              StartsWith("breakeven: error: " + path("missing.json") + ": no such file"));
  EXPECT_THAT(refused({"google-benchmark", write("empty.json", "{}")}, kFailed),
              StartsWith("breakeven: error: " + path("empty.json") + ": "));
  EXPECT_THAT(refused({"google-benchmark", file, "--map", "nonsense"}, kUsage),
              StartsWith("breakeven: error: --map: \"nonsense\": "));
  EXPECT_THAT(
      refused({"google-benchmark", file, "--map", "encode/signsgd/{n}=encode:signsdg"}, kUsage),
      StartsWith(
          "breakeven: error: --map: \"encode/signsgd/{n}=encode:signsdg\": unknown scheme \"signsdg\""));
  EXPECT_THAT(refused({"google-benchmark", file, "--map", "*/*/{n}=encode:topk:ratio=7"}, kUsage),
              HasSubstr("ratio: \"7\" is out of range"));
  EXPECT_THAT(
      refused({"google-benchmark", file, "--map", "*/*/{n}=encode:topk:encode=1ms,decode=0s"}, kUsage),
      HasSubstr("states its times: expected \"topk\""));
  const std::string typo = benchmarks("encode/signsdg", "decode/signsdg");
  EXPECT_THAT(
      refused({"google-benchmark", typo}, kFailed),
      StartsWith("breakeven: error: " + typo +
                 ": /benchmarks/0: \"encode/signsdg/1000\": unknown scheme \"signsdg\": expected one of "));
  const std::string nowhere = path("no/costs.json");
  EXPECT_THAT(refused({"google-benchmark", path("missing.json"), "-o", nowhere}, kFailed),
              StartsWith("breakeven: error: " + nowhere + ": cannot write: "));
  EXPECT_THAT(refused({"google-benchmark", file, "--threads", "0"}, kUsage),
              StartsWith("breakeven: error: --threads: \"0\" is out of range"));
}

}  // namespace
}  // namespace breakeven::cli
