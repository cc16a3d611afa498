// Does a traced run become a model that a query answers from, and does the query say what bounds it?
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "profiles/read.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Kernels of 10 us with much idle time between them, and two buckets of 4 MB.
const std::string kTrace =
    R"({"deviceProperties": [{"name": "NVIDIA A100-SXM4-40GB", "totalGlobalMem": 42297524224}],
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 1000, "dur": 100000},
  {"ph": "X", "cat": "user_annotation", "name": "## forward ##", "ts": 2000, "dur": 40000},
  {"ph": "X", "cat": "user_annotation", "name": "## backward ##", "ts": 42000, "dur": 50000},
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 3000, "dur": 10000},
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 43000, "dur": 6000},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": 50000, "dur": 2000, "args":
    {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, "Group size": 2}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ts": 60000, "dur": 1000, "args":
    {"Collective name": "allreduce", "dtype": "Float", "In msg nelems": 1000000, "Group size": 2}},
  {"ph": "X", "cat": "kernel", "name": "gemm", "ts": 70000, "dur": 4000}]})";

void replace(std::string& text, const std::string& old, const std::string& now) {
  text.replace(text.find(old), old.size(), now);
}

/// The arguments of the command that an import prints.
std::vector<std::string> asked(const Result& result) {
  const std::string start = "ask: breakeven ";
  std::vector<std::string> words{""};
  char quote = 0;
  for (std::size_t at = result.err.find(start) + start.size(); result.err[at] != '\n'; ++at) {
    const char c = result.err[at];
    if (c == quote || (quote == 0 && (c == '"' || c == '\''))) {
      quote = quote == 0 ? c : '\0';
    } else if (c == ' ' && quote == 0) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

class ImportRun : public WithFiles {};

TEST_F(ImportRun, AStepThatIsBoundByItsLaunchesGainsNothing) {
  const std::string model = path("traced.json");
  const Result result = invoke(
      {"import", "kineto", write("trace.json", kTrace), "--name", "traced", "--batch", "8", "-o", model});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("1 step on NVIDIA A100-SXM4-40GB, 2 workers"),
                    HasSubstr("the device idles 77 ms of it; compute kernels run 20 ms"),
                    HasSubstr("overlap: 0 % of 3 ms"), HasSubstr("exposed on the critical path: 0 ns"),
                    HasSubstr("gamma: not known"),
                    HasSubstr("--device a100-40gb --batch 8 --schedule wfbp --workers 2 --bandwidth "
                              "\"32 Gbit/s\" --efficiency 100% --latency 0s")));
  const std::vector<std::string> ask = {"query",   "--model",     model,        "--device",     "a100-40gb",
                                        "--batch", "8",           "--schedule", "wfbp",         "--workers",
                                        "2",       "--bandwidth", "32 Gbit/s",  "--efficiency", "100%",
                                        "-s",      "topk",        "-s",         "signsgd"};
  const Result query = invoke(ask);
  ASSERT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out,
              AllOf(HasSubstr("no: 0 % of the step waits for it"),
                    HasSubstr("The device idles 77 ms of 100 ms: launch-bound; a faster network or "
                              "compression cannot help."),
                    HasSubstr("give the device more work a launch")));
  EXPECT_EQ(invoke(joined(ask, {"--exit-verdict"})).status, kDoesNotPay);
  const Result json = invoke(joined(ask, {"--format", "json"}));
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"busy\": {\"value\": 0.023"), Not(HasSubstr("\"pays\","))));
  // Over a network that is slow enough the step does wait, and idling is no reason any more.
  std::vector<std::string> slow = ask;
  slow[12] = "100 Mbit/s";
  EXPECT_THAT(invoke(slow).out, Not(HasSubstr("launch-bound")));
}

TEST_F(ImportRun, TheQuestionGivesTheTracedStepBack) {
  // Two all-reduces of 8 ms, of which 12 run beside backward: it takes 50 ms, and 42 without them.
  std::string trace = kTrace, alone = kTrace;
  replace(trace, "\"ts\": 50000, \"dur\": 2000", "\"ts\": 50000, \"dur\": 8000");
  replace(trace, "\"ts\": 60000, \"dur\": 1000", "\"ts\": 88000, \"dur\": 8000");
  replace(alone, "\"dur\": 50000", "\"dur\": 42000");
  replace(alone, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "gemm");
  replace(alone, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "gemm");
  const std::vector<std::string> import = {"import", "kineto", write("trace.json", trace), "--batch",
                                           "8",      "-o",     path("model.json")};
  const Result with = invoke(joined(import, {"--no-sync", write("no-sync.json", alone)}));
  EXPECT_THAT(with.err, AllOf(HasSubstr("gamma: 3, backward takes 8 ms longer"), Not(HasSubstr("--gamma"))));
  EXPECT_EQ(read_model(read(path("model.json")), "model").timings.at(0).gamma, 3.0);
  EXPECT_THAT(invoke(joined(asked(with), {"-s", "fp16"})).out, HasSubstr("plain fp32   100 ms"));
  const Result traced = invoke(import);
  EXPECT_EQ(read_model(read(path("model.json")), "model").timings.at(0).gamma, 1.0) << "its time holds that";
  EXPECT_THAT(invoke(joined(asked(traced), {"-s", "fp16"})).out, HasSubstr("plain fp32   100 ms"));
  EXPECT_EQ(invoke(joined(import, {"--no-sync", path("none.json")})).err,
            "breakeven: error: " + path("none.json") + ": no such file: expected a trace\n");
}

// What is printed for a shell is a command and nothing else.
TEST_F(ImportRun, TheQuestionCanBePasted) {
  const auto question = [](const Result& result) {
    const std::size_t at = result.err.find("ask: ");
    return result.err.substr(at, result.err.find('\n', at) - at);
  };
  const std::string trace = write("trace.json", kTrace);
  const std::string model = path("a model.json");
  EXPECT_EQ(question(invoke({"import", "kineto", trace, "--batch", "8", "-o", model})),
            "ask: breakeven query --model '" + model +
                "' --device a100-40gb --batch 8 --schedule wfbp --workers 2 --bandwidth \"32 Gbit/s\" "
                "--efficiency 100% --latency 0s");
  const Result unknown = invoke({"import", "kineto", trace, "--device", "a100", "--batch", "8"});
  EXPECT_THAT(unknown.err, HasSubstr("--device: "));
  EXPECT_THAT(question(unknown), AllOf(HasSubstr("--device NAME "), Not(HasSubstr("a100"))));
}

TEST_F(ImportRun, WhatIsRefusedIsSaidInOneLine) {
  const auto refused = [](const std::vector<std::string>& arguments) {
    const Result result = invoke(joined({"import"}, arguments));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string trace = write("trace.json", kTrace);
  std::string silent = kTrace;
  for (std::size_t at = 0; (at = silent.find("In msg nelems", at)) != std::string::npos;) {
    silent.replace(at, 13, "Nothing");
  }
  EXPECT_THAT(refused({"kineto", write("silent.json", silent)}), HasSubstr("does not say how large"));
  EXPECT_THAT(refused({"kineto", path("none.json"), "--batch", "0"}), HasSubstr("--batch"));
  EXPECT_THAT(refused({"horovod", write("h.json", "[")}), HasSubstr("has no ALLREDUCE"));
  EXPECT_THAT(refused({"backward-log", write("empty", "")}), HasSubstr("is empty: expected a text file"));
}

TEST_F(ImportRun, ADeviceWithoutAProfileIsSaid) {
  std::string trace = kTrace;
  trace.replace(trace.find("A100-SXM4-40GB"), 14, "Z9");
  const Result result = invoke({"import", "kineto", write("trace.json", trace)});
  EXPECT_THAT(result.err, AllOf(HasSubstr("no profile of NVIDIA Z9: say --device"), HasSubstr("no --batch")));
  EXPECT_EQ(read_model(result.out, "out").timings.at(0).device, "unknown");
  EXPECT_EQ(invoke({"import", "kineto", path("trace.json"), "-q"}).err, "");
}

TEST_F(ImportRun, TheOtherFormatsBecomeModelsToo) {
  const std::string log = write("b.log", "gap_us,bytes\n100,4000\n300,8000\n");
  const std::string model = path("b.json");
  ASSERT_EQ(invoke({"import", "backward-log", log, "--device", "v100", "--batch", "4", "-o", model}).status,
            kAnswered);
  EXPECT_EQ(invoke({"query", "--model", model, "--device", "v100", "--workers", "4", "--bandwidth", "1Gbps"})
                .status,
            kAnswered);
  const Result chakra =
      invoke({"import", "chakra", write("c.json", R"({"workload_graph": [{"Id": 2, "Name": "r",
    "NodeType": 7, "comm_type": 0, "comm_size": 8000}]})")});
  EXPECT_EQ(read_model(chakra.out, "out").workload.elements(), 2000U) << chakra.err;
  EXPECT_THAT(chakra.err, HasSubstr("--forward T --backward T"));
  EXPECT_EQ(invoke({"import", "pytorch-et", write("p.json", R"({"nodes": []})")}).status, kFailed);
  EXPECT_EQ(invoke({"import", "horovod", write("h.json", "[")}).status, kFailed);
}

// A step of ResNet-50 on two A100, from HolisticTraceAnalysis' tests.
TEST_F(ImportRun, NoSchemePaysInARealStepThatIsBoundByItsLaunches) {
  const std::string trace = std::string(BREAKEVEN_SOURCE_DIR) +
                            "/../shared/samples/kineto/ddp_resnet50_2xA100_rank0_step5_trimmed.json.gz";
  if (!std::filesystem::exists(trace)) {
    GTEST_SKIP() << "the sample is not here";
  }
  const std::string model = path("traced.json");
  const Result result = invoke({"import", "kineto", trace, "--batch", "32", "-o", model});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.err, HasSubstr("as many elements as resnet50"));
  std::vector<std::string> ask = {"query",      "--model",      model,       "--device", "a100-40gb",
                                  "--schedule", "wfbp",         "--workers", "2",        "--bandwidth",
                                  "80 Gbit/s",  "--efficiency", "100%",      "--format", "jsonl"};
  for (const char* scheme : {"fp16", "topk", "powersgd", "signsgd", "qsgd", "int8", "dgc", "terngrad"}) {
    ask.insert(ask.end(), {"-s", scheme});
  }
  const Result query = invoke(ask);
  ASSERT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out, AllOf(HasSubstr("\"does_not_pay\""), Not(HasSubstr("\"verdict\":\"pays\"")),
                               Not(HasSubstr("too_close"))));
}

}  // namespace
}  // namespace breakeven::cli
