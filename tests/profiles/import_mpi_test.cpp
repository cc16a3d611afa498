// Is what OSU's and Intel's MPI benchmarks print understood?
#include <gmock/gmock.h>

#include "tests/profiles/network_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kOsu =
    "# OSU MPI Allreduce Latency Test v5.8\n"
    "# Size       Avg Latency(us)\n"
    "4                       3.20\n"
    "1048576               812.75\n";

TEST(ImportOsu, SizesAndAveragesOfAnAllReduce) {
  const NetworkLog log = read_osu(kOsu, "log");
  EXPECT_EQ(log.program, "OSU micro-benchmarks v5.8");
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_reduce);
  EXPECT_EQ(log.rows[0].workers, 0U);
  EXPECT_EQ(log.rows[1].line, 4U);
  expect_row(log, 0, 4, 3.2);
  expect_row(log, 1, 1048576, 812.75);
  EXPECT_EQ(notes(log),
            "all-reduce among a number of ranks that the file does not say: 2 rows, 4 B to 1 MiB, the whole "
            "vector\n");
  EXPECT_EQ(read_osu(kOsu, "log", 144).rows[0].workers, 144U);
}

TEST(ImportOsu, FullColumnsValidationAndTheDatatypeOfVersion7) {
  const NetworkLog log = read_osu(
      "# OSU MPI-CUDA Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n"
      "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations        Validation\n"
      "4                       3.20              2.10              4.90        1000              Pass\n"
      "8                       3.30              2.20              5.90        1000              Pass\n",
      "log");
  ASSERT_EQ(log.rows.size(), 2U);
  expect_row(log, 1, 8, 3.3);
  EXPECT_EQ(log.program, "OSU micro-benchmarks v7.5");
}

TEST(ImportOsu, WrongResultsAndSpoiledSizesAreNotLostSilently) {
  const std::string head = "# OSU MPI Alltoall Latency Test v7.4\n# Size  Avg Latency(us)  Validation\n";
  EXPECT_THAT(notes(read_osu(head + "1024 5 Pass\n2048 6 Fail\n", "log", 4)),
              HasSubstr("warning: the run computed wrong results in 1 row: "));
  EXPECT_EQ(
      refused(read_osu, "# OSU MPI Allreduce Latency Test v5.8\n# Size Avg Latency(us)\n1024 5\n2048x 6\n"),
      "file log: line 4: cannot use \"2048x\" as a size: expected a whole number of bytes or elements");
}

TEST(ImportOsu, ASizeMeansWhatTheCallCounts) {
  const auto payload = [](const std::string& title) {
    const NetworkLog log =
        read_osu("# OSU MPI " + title + " Latency Test v7.4\n# Size  Avg Latency(us)\n1000  5.0\n", "log", 8);
    return std::pair(log.rows.at(0).exchange, log.rows[0].payload.base());
  };
  EXPECT_EQ(payload("Allreduce"), std::pair(Exchange::all_reduce, 1000.0));
  EXPECT_EQ(payload("Allgather"), std::pair(Exchange::all_gather, 1000.0));
  EXPECT_EQ(payload("Reduce_scatter"), std::pair(Exchange::reduce_scatter, 1000.0));
  EXPECT_EQ(payload("All-to-All Personalized Exchange"), std::pair(Exchange::all_to_all, 8000.0));
  EXPECT_EQ(refused(read_osu,
                    "# OSU MPI All-to-All Personalized Exchange Latency Test v7.4\n"
                    "# Size  Avg Latency(us)\n1000  5.0\n"),
            "file log: does not say among how many ranks: expected --ranks N");
}

TEST(ImportOsu, WhatNoStepWaitsForIsDroppedAloud) {
  const NetworkLog log =
      read_osu(std::string("# OSU MPI Broadcast Latency Test v5.8\n# Size  Avg Latency(us)\n"
                           "1  2.0\n2  2.0\n"
                           "# OSU MPI Non-blocking Allreduce Latency Test v5.8\n"
                           "# Size  Overall(us)  Compute(us)  Pure Comm.(us)  Overlap(%)\n"
                           "1  4.0  2.0  2.0  50.0\n"
                           "# OSU MPI Latency Test v5.8\n# Size  Latency (us)\n1  4.0\n") +
                   kOsu,
               "log");
  EXPECT_EQ(log.rows.size(), 2U);
  EXPECT_THAT(notes(log), HasSubstr("2 rows of \"Broadcast\" dropped: only all-reduce, all-gather"));
  EXPECT_THAT(notes(log), HasSubstr("1 row of \"Non-blocking Allreduce\" dropped"));
  EXPECT_THAT(notes(log), HasSubstr("1 row of \"Latency\" dropped"));
}

TEST(ImportOsu, LabelsOfLaunchersAndJsonAreTakenOff) {
  const std::string table =
      "# OSU MPI Allreduce Latency Test v5.8\n# Size  Avg Latency(us)\n4   3.20\n8   3.40\n";
  const auto labelled = [&](const std::string& before, const std::string& after = "\n") {
    std::string text;
    for (std::size_t begin = 0; begin < table.size();) {
      const std::size_t end = table.find('\n', begin);
      text += before + table.substr(begin, end - begin) + after;
      begin = end + 1;
    }
    return text;
  };
  for (const std::string& text :
       {"Stack Size unlimited\n" + table, labelled("0: "), labelled("[1,0]<stdout>:"),
        labelled("2026-01-02T03:04:05 node-a: "), "srun: Job 1234 started\n" + labelled("\x1b[0m  "),
        "{\"stdout\":\"" + labelled("", "\\n") + "\",\"rc\":0}\n",
        "{\"timestamp\":1.5,\"name\":\"data\",\"context\":{\"stream\":\"stdout\",\"rank\":\"0\",\"data\":\"" +
            labelled("", "\\n") + "\"}}\n",
        labelled("{\"timestamp\":1.5,\"name\":\"data\",\"context\":{\"rank\":\"0\",\"data\":\"",
                 "\\n\"}}\n")}) {
    SCOPED_TRACE(text);
    const NetworkLog log = read_osu(text, "log");
    ASSERT_EQ(log.rows.size(), 2U);
    expect_row(log, 0, 4, 3.2);
    expect_row(log, 1, 8, 3.4);
  }
}

TEST(ImportOsu, WhatMakesNoSenseIsRefusedWithItsLine) {
  const auto row = [](const std::string& text) {
    return refused(read_osu,
                   "# OSU MPI Allreduce Latency Test v5.8\n# Size  Avg Latency(us)\n" + text + "\n");
  };
  EXPECT_EQ(row("1048576"), "file log: line 3: the row is cut short: 1 column: expected at least 2");
  EXPECT_EQ(row("4 nan"), "file log: line 3: cannot use \"nan\" as a time: expected a number above 0");
  EXPECT_EQ(row("4 -1.0"), "file log: line 3: cannot use \"-1.0\" as a time: expected a number above 0");
  EXPECT_EQ(row("4 0.00"), "file log: line 3: cannot use \"0.00\" as a time: expected a number above 0");
  EXPECT_EQ(row("4 3.2us"), "file log: line 3: cannot use \"3.2us\" as a time: expected a number above 0");
  EXPECT_EQ(row("4 1e300"), "file log: line 3: a time of 1.00e+294 s: expected 1e-12 to 1e6 s");
  EXPECT_THAT(row("99999999999999999999999 1.0"), StartsWith("file log: line 3: "));
  EXPECT_EQ(
      refused(read_osu, "# Size  Avg Latency(us)\n4 1.0\n"),
      "file log: line 1: the table has no title: expected a line such as # OSU MPI Allreduce Latency Test "
      "v5.8");
  EXPECT_EQ(refused(read_osu, "# OSU MPI Allreduce Latency Test v5.8\n# Size  Bandwidth (MB/s)\n4 1.0\n"),
            "file log: line 2: cannot understand this header: expected # Size       Avg Latency(us)");
  const std::string none =
      "file log: has no rows to use: expected what osu_allreduce prints, from # OSU MPI Allreduce Latency "
      "Test on";
  EXPECT_EQ(refused(read_osu, ""), none);
  EXPECT_EQ(refused(read_osu, "hello\n1 2\n"), none);
  EXPECT_EQ(row(""), none);
}

std::string imb(const std::string& title, const std::string& processes, const std::string& rows) {
  return "#---\n# Benchmarking " + title + " \n# #processes = " + processes +
         " \n# ( 2 additional processes waiting in MPI_Barrier)\n#---\n"
         "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n" +
         rows + "\n";
}
constexpr const char* kImbRows =
    "            0         1000         0.03         0.04         0.03\n"
    "            4         1000         2.00         2.50         2.20\n"
    "      4194304           10      1900.00      2100.50      2000.20\n";

TEST(ImportImb, TheSlowestProcessCountsAndEveryTableHasItsProcesses) {
  const NetworkLog log = read_imb("#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part\n# Allreduce\n" +
                                      imb("Allreduce", "2", kImbRows) + imb("Allreduce", "144", kImbRows) +
                                      "# All processes entering MPI_Finalize\n",
                                  "log");
  EXPECT_EQ(log.program, "Intel MPI Benchmarks 2021.2");
  ASSERT_EQ(log.rows.size(), 4U);
  expect_row(log, 0, 4, 2.5);
  expect_row(log, 3, 4194304, 2100.5);
  EXPECT_EQ(log.rows[0].workers, 2U);
  EXPECT_EQ(log.rows[3].workers, 144U);
  EXPECT_EQ(notes(log),
            "1 row of size 0 dropped\nall-reduce among 2 ranks: 2 rows, 4 B to 4 MiB, the whole vector\n"
            "1 row of size 0 dropped\nall-reduce among 144 ranks: 2 rows, 4 B to 4 MiB, the whole vector\n");
}

TEST(ImportImb, RanksPickTheTables) {
  const std::string text = imb("Alltoall", "2", kImbRows) + imb("Alltoall", "4", kImbRows);
  const NetworkLog log = read_imb(text, "log", 4);
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_to_all);
  expect_row(log, 0, 16, 2.5);  // 4 bytes to each of 4
  EXPECT_THAT(notes(log), HasSubstr("3 rows of \"Alltoall\" among 2 ranks dropped: --ranks 4"));
  EXPECT_EQ(refused(read_imb, text, 8),
            "value --ranks: the file has no times among 8 ranks: expected one of 2, 4");
}

TEST(ImportImb, WhatNoStepWaitsForAndWhatWasNotRunIsDroppedAloud) {
  const NetworkLog log = read_imb(
      "# Benchmarking PingPong\n# #processes = 2\n"
      "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
      "            4         1000         3.17         0.00\n" +
          imb("Allreduce", "1", kImbRows) +
          imb("Allreduce", "8",
              std::string(kImbRows) + "      8388608 out-of-mem.; needed X=   0.126 GB; use flag\n"),
      "log");
  EXPECT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].workers, 8U);
  EXPECT_THAT(notes(log), HasSubstr("1 row that IMB left out"));
  EXPECT_THAT(notes(log), HasSubstr("1 row of \"PingPong\" dropped"));
  EXPECT_THAT(notes(log), HasSubstr("3 rows of \"Allreduce\" among 1 rank dropped: it exchanges nothing"));
}

TEST(ImportImb, GroupsThatRanAtOnceAreSaid) {
  const NetworkLog log = read_imb(
      "# Benchmarking Multi-Allreduce\n# Benchmarking Allreduce \n"
      "# ( 2 groups of 4 processes each running simultaneous ) \n"
      "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n4 10 1.0 2.0 1.5\n",
      "log");
  EXPECT_EQ(log.rows.at(0).workers, 4U);
  EXPECT_THAT(notes(log), HasSubstr("groups of 4 ran at once: they share the network"));
}

TEST(ImportImb, ColumnsAreFoundByTheirNames) {
  const NetworkLog log = read_imb(
      "# Benchmarking Allreduce\n"
      "#Benchmarking   #procs   #bytes #repetitions  t_min[usec] t_max[usec]  t_avg[usec]\n"
      "Allreduce       96         4         1000       297.88 298.07       297.95\n"
      "Allreduce       96      4096         1000       397.88 398.07       397.95\n"
      "Allreduce       96      8192   out-of-mem.; needed X=   0.126 GB; use flag\n"
      "Allgather       48      4096         1000       197.88 198.07       197.95\n",
      "log");
  ASSERT_EQ(log.rows.size(), 3U);
  expect_row(log, 0, 4, 298.07);
  expect_row(log, 1, 4096, 398.07);
  EXPECT_EQ(log.rows[1].workers, 96U);
  expect_row(log, 2, 4096, 198.07);
  EXPECT_EQ(log.rows[2].workers, 48U);
  EXPECT_EQ(log.rows[2].exchange, Exchange::all_gather);
  EXPECT_THAT(notes(log), HasSubstr("1 row that IMB left out"));
  const NetworkLog unnamed = read_imb(
      "# Benchmarking Allreduce\n#procs #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n"
      "2 4096 10 1.0 2.0 1.5\n4 4096 10 1.0 3.0 1.5\n",
      "log");
  ASSERT_EQ(unnamed.rows.size(), 2U);
  expect_row(unnamed, 1, 4096, 3);
  EXPECT_EQ(unnamed.rows[0].workers, 2U);
  EXPECT_EQ(unnamed.rows[1].workers, 4U);
  const std::string known = "expected #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]";
  EXPECT_EQ(refused(read_imb, "# Benchmarking Allreduce\n#nodes #bytes #repetitions t_max[usec]\n2 4 10 1\n"),
            "file log: line 2: unknown column \"#nodes\": " + known);
  EXPECT_EQ(refused(read_imb, "# Benchmarking Allreduce\n#bytes #procs #repetitions t_max[usec]\n2 4 10 1\n"),
            "file log: line 2: cannot understand this header: " + known);
}

TEST(ImportImb, WhatMakesNoSenseIsRefusedWithItsLine) {
  const auto row = [](const std::string& text) { return refused(read_imb, imb("Allreduce", "4", text)); };
  EXPECT_EQ(row("4 1000 2.00"), "file log: line 7: the row is cut short: 3 columns: expected at least 5");
  EXPECT_EQ(row("4 1000 2.00 inf 2.20"),
            "file log: line 7: cannot use \"inf\" as a time: expected a number above 0");
  EXPECT_EQ(row("4 1000 2.00 -2.5 2.20"),
            "file log: line 7: cannot use \"-2.5\" as a time: expected a number above 0");
  EXPECT_THAT(refused(read_imb, imb("Allreduce", "many", kImbRows)), StartsWith("file log: line 3: "));
  EXPECT_EQ(refused(read_imb, "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n4 1 1 1 1\n"),
            "file log: line 1: the table has no title: expected a line such as # Benchmarking Allreduce");
  EXPECT_EQ(refused(read_imb, "# Benchmarking Allreduce\n#bytes #repetitions t[usec]\n4 1 1\n"),
            "file log: line 2: cannot understand this header: expected #bytes #repetitions t_min[usec] "
            "t_max[usec] t_avg[usec]");
  const std::string none = "file log: has no rows to use";
  EXPECT_THAT(refused(read_imb, ""), StartsWith(none + ": expected what IMB-MPI1 Allreduce prints"));
  EXPECT_THAT(row("0 1000 0.03 0.03 0.03"), StartsWith(none + " (1 row of size 0 dropped): expected "));
}

}  // namespace
}  // namespace breakeven
