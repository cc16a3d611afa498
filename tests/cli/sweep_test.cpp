// Does a grid become the rows it says, in its order, in every format, and equal to what query says of each
// setup?
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

std::vector<std::string> small() {
  return {"sweep",          "--model",  "resnet50",        "--device", "v100",
          "--batch",        "32",       "--workers",       "8,16",     "--bandwidth",
          "1Gbps..4Gbps*2", "--scheme", "powersgd:rank=4", "--scheme", "signsgd"};
}
std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    result.push_back(line);
  }
  return result;
}

TEST(Sweep, RowsAreEveryCombinationInOrder) {
  const Result result = invoke(joined(small(), {"--format", "csv"}));
  EXPECT_EQ(result.status, 0) << result.err;
  const auto rows = lines(result.out);
  ASSERT_EQ(rows.size(), 13U);
  EXPECT_EQ(rows[0],
            "workers,bandwidth_bytes_per_s,scheme,step_s,plain_step_s,speedup,scaling,verdict,winner");
  EXPECT_TRUE(rows[1].starts_with("8,125000000,powersgd:rank=4,")) << rows[1];
  EXPECT_TRUE(rows[2].starts_with("8,125000000,signsgd,")) << rows[2];
  EXPECT_TRUE(rows[3].starts_with("8,250000000,powersgd:rank=4,")) << rows[3];
  EXPECT_TRUE(rows[12].starts_with("16,500000000,signsgd,")) << rows[12];
  EXPECT_NE(result.err.find("compression pays in "), std::string::npos);
  EXPECT_NE(result.err.find(" of 12 setups ("), std::string::npos);
}

TEST(Sweep, EachRowIsWhatQueryAnswers) {
  const auto rows = lines(invoke(joined(small(), {"--format", "csv"})).out);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto row = cells(rows[i]);
    const Result answer =
        invoke({"query", "-q", "--format", "csv", "--model", "resnet50", "--device", "v100", "--batch", "32",
                "--workers", row[0], "--bandwidth", row[1] + "B/s", "--scheme", row[2]});
    const auto table = lines(answer.out);
    const auto head = cells(table.front());
    const auto found = cells(table.back());
    const auto column = [&](const char* name) {
      return found.at(static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin()));
    };
    EXPECT_EQ(column("step_s"), row[3]) << rows[i];
    EXPECT_EQ(column("speedup"), row[5]) << rows[i];
    EXPECT_EQ(column("scaling"), row[6]) << rows[i];
    EXPECT_EQ(column("verdict"), row[7]) << rows[i];
  }
}

TEST(Sweep, OutputDoesNotDependOnThreads) {
  const auto grid = joined({"sweep", "--model", "resnet50", "--device", "v100", "--batch", "32", "--workers",
                            "8,16,32", "--bandwidth", "1Gbps..100Gbps+0.05Gbps", "--scheme",
                            "powersgd:rank=4", "--scheme", "signsgd", "--format", "csv"},
                           {});
  const std::string one = invoke(joined(grid, {"--threads", "1"})).out;
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 3 * 1981 * 2 + 1);
  EXPECT_EQ(invoke(joined(grid, {"--threads", "2"})).out, one);
  EXPECT_EQ(invoke(joined(grid, {"--threads", "7"})).out, one);
}

TEST(Sweep, NumbersOfTheNetworkGiveTheSameAnswerAsAPreparationOfEach) {
  // The fast path changes numbers in place; a list of cases prepares every setup anew.
  const auto fast =
      lines(invoke(joined(small(), {"--latency", "1us,1ms", "--gamma", "1,1.2", "--format", "csv"})).out);
  std::size_t checked = 0;
  for (const char* latency : {"1us", "1ms"}) {
    for (const char* gamma : {"1", "1.2"}) {
      for (const std::string& row :
           lines(invoke(joined(small(), {"--latency", latency, "--gamma", gamma, "--format", "csv"})).out)) {
        const auto slow = cells(row);
        for (const std::string& other : fast) {
          const auto wide = cells(other);
          if (wide[0] == slow[0] && wide[1] == slow[1] &&
              wide[2] == (latency == std::string("1us") ? "1e-06" : "0.001") && wide[3] == gamma &&
              wide[4] == slow[2]) {
            EXPECT_EQ(wide[5], slow[3]);
            EXPECT_EQ(wide[8], slow[6]);
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 48U);
}

TEST(Sweep, ThePapersGrid) {
  const Result result = invoke({"sweep", "agarwal2022", "--format", "csv"});
  EXPECT_EQ(result.status, 0) << result.err;
  const auto rows = lines(result.out);
  EXPECT_EQ(rows.size(), 245U);  // 61 configurations on 8, 16, 32 and 64 workers
  EXPECT_NE(result.err.find(" of 244 setups"), std::string::npos) << result.err;
  EXPECT_TRUE(rows[0].starts_with("model,batch,")) << rows[0];
  EXPECT_EQ(invoke({"sweep", "agarwal2022", "--dry-run"}).out, "244\n");
}

TEST(Sweep, TheCommandLineReplacesWhatTheGridSays) {
  EXPECT_EQ(invoke({"sweep", "agarwal2022", "--dry-run", "--workers", "8"}).out, "61\n");
  EXPECT_EQ(invoke({"sweep", "agarwal2022", "--dry-run", "--scheme", "signsgd"}).out, "244\n");
  EXPECT_EQ(invoke({"sweep", "agarwal2022", "--dry-run", "--bandwidth", "1Gbps,2Gbps"}).out, "488\n");
  const Result fast = invoke({"sweep", "agarwal2022", "--format", "csv", "--bandwidth", "1000Gbps"});
  EXPECT_NE(fast.out, invoke({"sweep", "agarwal2022", "--format", "csv"}).out);
  EXPECT_NE(fast.err.find("compression pays in 0 of 244"), std::string::npos) << fast.err;
}

TEST(Sweep, CasesThatTheCommandLineMakesEqualAreOne) {
  const std::string path = ::testing::TempDir() + "breakeven_cases.json";
  std::ofstream(path)
      << R"({"schema": 1, "base": {"device": "v100", "bandwidth": "10Gbps", "workers": 8, "batch": 32},
      "cases": [{"model": "resnet50"}, {"model": "vgg16"}, {"model": "vgg16", "batch": 8}], "schemes": ["topk"]})";
  const auto rows = [&](const std::vector<std::string>& more) {
    return invoke(joined({"sweep", path, "--dry-run"}, more)).out;
  };
  EXPECT_EQ(rows({}), "3\n");
  EXPECT_EQ(rows({"--model", "resnet101"}), "2\n");
  EXPECT_EQ(rows({"--model", "resnet101", "--batch", "32"}), "1\n");
  EXPECT_EQ(rows({"--model", "resnet101,resnet50"}), "4\n");
  const Result result = invoke({"sweep", path, "--format", "csv", "--model", "resnet50", "--batch", "32"});
  const auto alone = invoke({"sweep", "--format", "csv", "--model", "resnet50", "--batch", "32", "--device",
                             "v100", "--bandwidth", "10Gbps", "--workers", "8", "--scheme", "topk"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines(result.out), lines(alone.out));
  std::remove(path.c_str());
}

TEST(Sweep, EveryFormatHoldsEveryRow) {
  const auto as = [](const char* format) { return invoke(joined(small(), {"--format", format})).out; };
  EXPECT_EQ(lines(as("table")).size(), 13U);
  EXPECT_EQ(lines(as("markdown")).size(), 14U);
  EXPECT_EQ(lines(as("jsonl")).size(), 12U);
  const std::string json = as("json");
  EXPECT_TRUE(json.starts_with("{\"schema\": \"breakeven.sweep\", \"schema_version\": 1, \"rows\": [\n"))
      << json;
  EXPECT_NE(json.find("], \"summary\": {\"setups\": 12, \"pays\": "), std::string::npos) << json;
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), 14);
  EXPECT_EQ(std::count(json.begin(), json.end(), '}'), 14);
  EXPECT_TRUE(lines(as("jsonl"))
                  .front()
                  .starts_with("{\"workers\": 8, \"bandwidth_bytes_per_s\": 125000000, \"scheme\": "
                               "\"powersgd:rank=4\", \"step_s\": "));
}

TEST(Sweep, ProgressIsForTerminalsOnly) {
  Environment terminal;
  terminal.err_is_terminal = true;
  EXPECT_NE(invoke(small(), terminal).err.find("\r12 of 12 setups"), std::string::npos);
  EXPECT_EQ(invoke(small()).err.find("\r12 of 12 setups"), std::string::npos);
  EXPECT_NE(invoke(joined(small(), {"--progress", "always"})).err.find("\r12 of 12 setups"),
            std::string::npos);
  EXPECT_EQ(invoke(joined(small(), {"--progress", "never"}), terminal).err.find("\r12 of 12 setups"),
            std::string::npos);
  EXPECT_EQ(invoke(joined(small(), {"-q"}), terminal).err, "");
}

TEST(Sweep, WhatIsWrongIsSaidBeforeTheFirstRow) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Result result = invoke(arguments);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(
      error({"sweep", "--model", "resnet50", "--device", "v100", "--workers", "8", "--bandwidth", "1Gbps"}),
      "breakeven: error: --scheme: missing: expected at least one scheme to judge (list schemes)\n");
  EXPECT_EQ(error(joined(small(), {"--threads", "0"})),
            "breakeven: error: --threads: \"0\" is out of range: expected 1 to 1024\n");
  EXPECT_EQ(error(joined(small(), {"--threads", "two"})),
            "breakeven: error: --threads: cannot read \"two\" as a whole number: expected a whole number, "
            "such as 8\n");
  EXPECT_NE(error({"sweep", "agarwal2021"}).find("did you mean agarwal2022?"), std::string::npos);
  EXPECT_NE(error({"sweep", "--model", "resnet50,resnet5", "--device", "v100", "--batch", "32", "--workers",
                   "8", "--bandwidth", "1Gbps", "--scheme", "signsgd"})
                .find("did you mean resnet50?"),
            std::string::npos);
  EXPECT_NE(error({"sweep", "--model", "resnet50", "--device", "v100", "--batch", "32", "--workers", "8",
                   "--bandwidth", "1Gbps,2", "--scheme", "signsgd"})
                .find("\"2\" has no unit"),
            std::string::npos);
}

TEST(Sweep, WhatIsWrongInCombinationIsSaidBeforeTheFirstRowToo) {
  const auto error = [](const std::vector<std::string>& more) {
    const Result result = invoke(joined({"sweep", "--gradient-bytes", "1MB", "--backward", "9ms",
                                         "--intra-bandwidth", "1GB/s", "--bandwidth", "1Gbps"},
                                        more));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_EQ(
      error({"--workers", "8,12", "--workers-per-node", "4,8", "-s", "fp16"}),
      "breakeven: error: --workers: 12 workers do not fill nodes of 8 (with --workers-per-node 8): expected "
      "a multiple of 8, or fewer than 8\n");
  EXPECT_EQ(error({"--workers", "8", "--method", "timeline,closed-form", "--placement", "serial,stream", "-s",
                   "fp16"}),
            "breakeven: error: --placement: the closed form has no term for \"stream\" (with --method "
            "closed-form): expected serial or hook, or --method timeline\n");
  EXPECT_EQ(
      error({"--workers", "8", "-s", "fp16", "-s", "topk:encode=1ms"}),
      "breakeven: error: --scheme: topk: decode is missing beside encode: expected both (decode=0s where one "
      "time stands for both)\n");
}

TEST(Sweep, TheFabricThatCannotAnswerIsNamed) {
  const auto with = [](const std::string& option, const std::string& values,
                       const std::vector<std::string>& more) {
    return invoke(joined(
        {"sweep", "--gradient-bytes", "1MB", "--backward", "9ms", option, values, "-s", "onebit"}, more));
  };
  EXPECT_EQ(
      with("--fabric", "aws-p4d.24xlarge,gcp-a3-high", {"--workers", "8,16", "--algorithm", "nccl"}).err,
      "breakeven: error: --algorithm: NCCL's model lacks the channels across nodes, which the fabric "
      "gcp-a3-high does not state (with --workers 16 --fabric gcp-a3-high): expected \"nccl\": "
      "{\"channels\": "
      "N} in the profile of gcp-a3-high, or a fabric that `list fabrics` marks for NCCL across nodes\n");
  EXPECT_EQ(with("--fabric", "aws-p4d.24xlarge,aws-p3.8xlarge", {"--workers", "12"}).err,
            "breakeven: error: --workers: 12 workers do not fill nodes of 8 (with --fabric "
            "aws-p4d.24xlarge): expected "
            "a multiple of 8, or fewer than 8\n");
  EXPECT_THAT(
      with("--algorithm", "ring,nccl", {"--fabric", "aws-p4d.24xlarge", "--workers", "16"}).err,
      testing::HasSubstr("breakeven: warning: onebit: NCCL's model prices no all_to_all: textbook formulas "
                         "over the fabric's links do\n"));
}

TEST(Sweep, AGridFromAFileAndItsErrors) {
  const std::string path = ::testing::TempDir() + "breakeven_grid.json";
  const auto with = [&](const std::string& json) {
    std::ofstream(path) << json;
    return invoke({"sweep", path, "--format", "csv"});
  };
  const Result good =
      with(R"({"schema": 1, "base": {"model": "resnet50", "device": "v100", "bandwidth": "10Gbps"},
      "cases": [{"batch": 32, "schemes": ["signsgd"]}, {"batch": 64}], "axes": {"workers": [8, 16]}, "schemes": ["topk", "int8"]})");
  EXPECT_EQ(good.status, 0) << good.err;
  const auto rows = lines(good.out);
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_TRUE(rows[1].starts_with("32,8,signsgd,"));
  EXPECT_TRUE(rows[3].starts_with("64,8,topk,"));
  const Result bad = with(R"({"schema": 1, "axes": {"wokers": [8]}, "schemes": ["topk"]})");
  EXPECT_EQ(bad.status, 1);
  EXPECT_EQ(bad.out, "");
  EXPECT_NE(bad.err.find("did you mean workers?"), std::string::npos) << bad.err;
  std::remove(path.c_str());
}

}  // namespace
}  // namespace breakeven::cli
