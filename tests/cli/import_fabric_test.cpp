// Does `import` turn a network benchmark into a fabric that queries use, and say what it could not know?
#include <gmock/gmock.h>

#include "profiles/read.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class ImportFabric : public WithFiles {
 protected:
  /// nccl-tests' output of an all-reduce among 4 ranks: 100 us and 10 GB/s.
  [[nodiscard]] std::string log(const std::string& ranks = "") const {
    std::string text =
        ranks + "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong\n";
    for (double size = 8192; size <= 256.0 * 1048576; size *= 2) {
      const double time = 100 + size / 1e4;
      const std::string half = " " + significant(time, 9) + " " + significant(size / time / 1e3, 9) + " " +
                               significant(1.5 * size / time / 1e3, 9) + " 0";
      text += significant(size, 12) + " " + significant(size / 4, 12) + " float sum -1" + half + half + "\n";
    }
    return write("log.txt", text);
  }
  [[nodiscard]] static std::vector<std::string> query(const std::string& fabric, const std::string& workers) {
    return {"query", "--gradient-bytes", "100MB", "--forward", "50ms",    "--backward",
            "100ms", "--device",         "v100",  "-s",        "signsgd", "--fabric",
            fabric,  "--workers",        workers};
  }
};

constexpr const char* kFourRanks =
    "#  Rank  0 Group  0 Pid 1 on a device 0 [0x1] G\n#  Rank  1 Group  0 Pid 1 on b device 0 [0x1] G\n"
    "#  Rank  2 Group  0 Pid 1 on c device 0 [0x1] G\n#  Rank  3 Group  0 Pid 1 on d device 0 [0x1] G\n";

TEST_F(ImportFabric, AQueryRestsOnWhatWasMeasured) {
  const std::string file = path("f.json");
  const Result result = invoke({"import", "nccl-tests", log(kFourRanks), "--name", "mine", "-o", file});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              StartsWith("breakeven: all-reduce among 4 ranks (4 rank lines), 1 on a host: 16 rows of "
                         "float, 8 KiB to 256 MiB, in place\n"));
  EXPECT_THAT(result.err, HasSubstr("alpha-beta fit 100 us + size / 10 GB/s"));
  EXPECT_THAT(result.err, HasSubstr("across the network 15 GB/s, a step 16.7 us"));
  const FabricProfile profile = read_fabric(read(file), file);
  EXPECT_EQ(profile.fabric.name, "mine");
  EXPECT_EQ(profile.source, "nccl-tests, log.txt");
  EXPECT_EQ(profile.fabric.tables.at(0).workers, 4U);

  const Result same = invoke(joined(query(file, "4"), {"--format", "json"}));
  ASSERT_EQ(same.status, kAnswered) << same.err;
  EXPECT_THAT(same.out, HasSubstr("\"origin\": \"measured\""));
  EXPECT_THAT(same.err,
              HasSubstr("signsgd: some exchange is not in the fabric's measured tables"));  // all-gather
  EXPECT_THAT(same.out, HasSubstr("signsgd: some exchange is not in the fabric's measured tables"));
  EXPECT_THAT(same.err, Not(HasSubstr("was measured among")));

  const Result more = invoke(joined(query(file, "16"), {"--format", "json"}));
  ASSERT_EQ(more.status, kAnswered) << more.err;
  const std::string warning =
      "the fabric mine was measured among 4 workers, 1 a node, not among 16 workers, 1 a node";
  EXPECT_THAT(more.err, HasSubstr("breakeven: warning: " + warning));
  EXPECT_THAT(more.out, HasSubstr(warning));
}

TEST_F(ImportFabric, OneMeasuredRowComesBack) {
  const std::string row = write("row.txt",
                                "# size count type redop root time algbw busbw #wrong\n"
                                "536870912 134217728 float sum -1 3000 178.96 352.32 0\n");
  const std::string file = path("f.json");
  const Result result = invoke({"import", "nccl-tests", row, "--ranks", "64", "-o", file});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  const Result answer = invoke({"query", "--gradient-bytes", "512MiB", "--forward", "1ms", "--backward",
                                "2ms", "--device", "v100", "--schedule", "bsp", "--fabric", file, "--workers",
                                "64", "--scheme", "none", "--format", "json"});
  ASSERT_EQ(answer.status, kAnswered) << answer.err;
  const std::string key = "\"exposed_communication_s\": ";
  const std::size_t at = answer.out.find(key);
  ASSERT_NE(at, std::string::npos) << answer.out;
  EXPECT_NEAR(std::stod(answer.out.substr(at + key.size())), 3e-3, 5e-7);
}

TEST_F(ImportFabric, RanksAreTakenFromTheOptionsWhereTheFileIsSilent) {
  const Result result = invoke({"import", "nccl-tests", log(), "--ranks", "4", "--ranks-per-node", "2"});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  const FabricProfile profile = read_fabric(result.out, "imported");
  EXPECT_EQ(profile.fabric.tables.at(0).workers, 4U);
  EXPECT_EQ(profile.workers_per_node, 2U);
  EXPECT_EQ(invoke({"import", "nccl-tests", log(), "-q"}).err, "");
}

TEST_F(ImportFabric, AnMpiBenchmarkNeedsOnlyItsRanks) {
  std::string text = "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n";
  for (double size = 1024; size <= 64.0 * 1048576; size *= 2) {
    text += "0: " + significant(size, 12) + "   " + significant(60 + size / 1e3, 9) + "\n";
  }
  const std::string osu = write("osu.txt", text);
  const Result silent = invoke({"import", "osu", osu});
  EXPECT_EQ(silent.status, kFailed);
  EXPECT_EQ(silent.err,
            "breakeven: error: " + osu + ": does not say among how many ranks: expected --ranks N\n");
  const std::string file = path("f.json");
  const Result result = invoke({"import", "osu", osu, "--ranks", "4", "--ranks-per-node", "1", "-o", file});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.err,
              StartsWith("breakeven: all-reduce among 4 ranks (--ranks): 17 rows, 1 KiB to 64 MiB, "
                         "the whole vector\n"));
  EXPECT_THAT(result.err, HasSubstr("across the network 1.5 GB/s, a step 10 us"));
  const FabricProfile profile = read_fabric(read(file), file);
  EXPECT_EQ(profile.source, "OSU micro-benchmarks v7.5, osu.txt");
  EXPECT_EQ(profile.fabric.tables.at(0).points.size(), 17U);
  const Result answer = invoke(joined(query(file, "4"), {"--format", "json"}));
  ASSERT_EQ(answer.status, kAnswered) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("\"origin\": \"measured\""));
}

TEST_F(ImportFabric, OneLinkIsAFabricWhoseEfficiencyIsAssumed) {
  const std::string iperf3 = write("iperf3.json", R"({"start":{"version":"iperf 3.12","sock_bufsize":0,
    "sock_bufsize":0,"test_start":{"protocol":"TCP","num_streams":1}},
    "end":{"streams":[{"sender":{"mean_rtt":40}}],"sum_received":{"bits_per_second":9.4e9}}})");
  const std::string file = path("f.json");
  const Result result = invoke({"import", "iperf3", iperf3, "-o", file});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.err, HasSubstr("all of which collectives are assumed to reach"));
  const Result answer = invoke(joined(query(file, "8"), {"--format", "json"}));
  ASSERT_EQ(answer.status, kAnswered) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("iperf 3.12, iperf3.json"));
  EXPECT_EQ(invoke({"import", "iperf3", iperf3, "--ranks", "8"}).err,
            "breakeven: error: --ranks: does not apply to iperf3: expected it left out\n");
  const Result failed =
      invoke({"import", "iperf3", write("bad.json", R"({"start":{},"end":{},"error":"unable to connect"})")});
  EXPECT_EQ(failed.status, kFailed);
  EXPECT_EQ(failed.err, "breakeven: error: " + path("bad.json") +
                            ": iperf3 failed: \"unable to connect\": expected a run that ended\n");
}

TEST_F(ImportFabric, WhatCannotBeImportedIsSaidInOneLine) {
  const auto refused = [](const std::vector<std::string>& arguments, int status) {
    const Result result = invoke(joined({"import", "nccl-tests"}, arguments));
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  EXPECT_EQ(refused({log(), "--ranks", "16"}, kUsage),
            "breakeven: error: --ranks: 16 ranks, but busbw / algbw is that of 4: expected --ranks 4\n");
  EXPECT_THAT(refused({log(), "--ranks", "0"}, kUsage),
              StartsWith("breakeven: error: --ranks: \"0\" is out of range"));
  EXPECT_THAT(refused({log(), "--ranks-per-node", "3"}, kUsage),
              StartsWith("breakeven: error: --ranks-per-node: 4 ranks do not fill nodes of 3"));
  EXPECT_THAT(refused({path("missing.txt")}, kFailed),
              StartsWith("breakeven: error: " + path("missing.txt") + ": no such file"));
  EXPECT_THAT(refused({write("empty.txt", "")}, kFailed),
              StartsWith("breakeven: error: " + path("empty.txt") + ": is empty"));
  EXPECT_THAT(refused({write("binary.txt", std::string("a\0b", 3))}, kFailed),
              StartsWith("breakeven: error: " + path("binary.txt") + ": holds binary data"));
  EXPECT_THAT(refused({write("other.txt", "hello\n")}, kFailed),
              StartsWith("breakeven: error: " + path("other.txt") + ": has no rows to use"));
}

}  // namespace
}  // namespace breakeven::cli
