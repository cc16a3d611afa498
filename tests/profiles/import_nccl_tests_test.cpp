// Is what nccl-tests prints understood, whichever year's it is and whatever stands around it?
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "profiles/import/network.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

NetworkLog read(const std::string& text, std::optional<std::size_t> workers = {}) {
  return read_nccl_tests(text, "log", workers);
}
std::string refused(const std::string& text, std::optional<std::size_t> workers = {}) {
  return failure([&] { (void)read(text, workers); });
}
std::string notes(const NetworkLog& log) {
  std::string all;
  for (const std::string& note : log.notes) {
    all += note + "\n";
  }
  return all;
}
void expect_row(const NetworkLog& log, std::size_t row, double payload, double microseconds) {
  ASSERT_LT(row, log.rows.size());
  EXPECT_DOUBLE_EQ(log.rows[row].payload.base(), payload);
  EXPECT_NEAR(log.rows[row].time.base(), microseconds * 1e-6, 1e-15);
}

// 4 ranks: busbw = 1.5 x algbw.
constexpr const char* kError =
    R"(# nThread: 1 nGpus: 4 minBytes: 1048576 maxBytes: 4194304 step: 2(factor) validation: 1
#
# Using devices
#   Rank  0 Pid   4242 on     node-a device  0 [0x07] A GPU
#   Rank  1 Pid   4242 on     node-a device  1 [0x0b] A GPU
#   Rank  2 Pid   4242 on     node-a device  2 [0x48] A GPU
#   Rank  3 Pid   4242 on     node-a device  3 [0x4c] A GPU
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1000000        250000   float     sum    110.0    9.09   13.64  1e-07    100.0   10.00   15.00    N/A
     2000000        500000   float     sum    160.0   12.50   18.75  1e-07    150.0   13.33   20.00  1e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 16.8475
)";

constexpr const char* kHead2022 =
    "#                                                              out-of-place                       "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)\n";

TEST(ImportNcclTests, TheErrorColumnOf2019) {
  const NetworkLog log = read(kError);
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_reduce);
  EXPECT_EQ(log.rows[0].workers, 4U);
  EXPECT_EQ(log.rows[0].per_node, 4U);
  EXPECT_EQ(log.rows[0].line, 12U);
  expect_row(log, 0, 1e6, 100);
  expect_row(log, 1, 2e6, 150);
  EXPECT_EQ(
      notes(log),
      "all-reduce among 4 ranks (4 rank lines), 4 on a host: 2 rows of float, 1 MB to 2 MB, in place\n");
}

TEST(ImportNcclTests, TheMillisecondsOf2017) {
  const NetworkLog log = read(
      "#                                                 out-of-place                    in-place\n"
      "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw     "
      " res\n"
      "   100000000      25000000   float     sum   10.000  10.00  15.00    0e+00   12.500   8.00  12.00    "
      "0e+00\n"
      " Out of bounds values : 0 OK\n");
  expect_row(log, 0, 1e8, 12500);
  EXPECT_EQ(log.rows[0].workers, 4U);
}

TEST(ImportNcclTests, RootAndWrongSince2022AndWhatSurroundsThem) {
  const NetworkLog log = read(
      std::string("Warning: Permanently added 'node-a'\n"
                  "[1,0]<stdout>:# nccl-tests version 2.18.0 nccl-headers=22907 nccl-library=22907\n"
                  "[1,0]<stdout>:# Collective test starting: all_reduce_perf_mpi\n"
                  "[1,0]<stdout>:# nThread 1 nGpus 1 minBytes 0 maxBytes 2000000 step: 2(factor)\n"
                  "[1,0]<stdout>:#  Rank  0 Group  0 Pid     21 on     node-a device  0 [0000:35:00] A GPU\n"
                  "[1,0]<stdout>:#  Rank  1 Group  0 Pid     21 on     node-b device  0 [0000:35:00] A GPU\n"
                  "NCCL version 2.12.7+cuda11.4\n"
                  "[1,1]<stderr>:node-b:21:21 [0] NCCL INFO comm 0x7f rank 1 nranks 2 - Init COMPLETE\n") +
      kHead2022 +
      "[1,0]<stdout>:node-a:21:21 [0] NCCL INFO Launch mode Parallel\n"
      "[1,0]<stdout>:           0             0     float     sum      -1     6.36    0.00    0.00      0    "
      " 6.40    0.00    0.00      0\n"
      "[1,0]<stdout>:     1000000        250000     float     sum      -1    583.4    1.71    1.71      0    "
      "500.0    2.00    2.00      0\n"
      "\x1b[32m[1,0]<stdout>:     2000000        500000     float     sum      -1    983.3    2.03    2.03   "
      "   0   1e+03    2.00    2.00      0 2025-11-03 10:00:00\x1b[0m\n"
      "[1,0]<stdout>:# Collective test concluded: all_reduce_perf_mpi\n");
  EXPECT_EQ(log.program, "nccl-tests 2.18.0");
  ASSERT_EQ(log.rows.size(), 2U);
  expect_row(log, 0, 1e6, 500);
  expect_row(log, 1, 2e6, 1000);
  EXPECT_EQ(log.rows[0].workers, 2U);
  EXPECT_EQ(log.rows[0].per_node, 1U);
  EXPECT_THAT(notes(log), HasSubstr("1 row of size 0 dropped"));
}

TEST(ImportNcclTests, ColumnsThatComeAndGoAreFoundByTheirHeader) {
  // Copies beside the collective (2024), then per-iteration columns (2026).
  const NetworkLog side = read(
      "#  size  count  type  redop  root  time  algbw  busbw  side_bw  #wrong  time  algbw  busbw  side_bw  "
      "#wrong\n"
      "8000000 2000000 half sum -1 1100.0 7.27 10.91 3.00 0 1000.0 8.00 12.00 3.00 N/A\n");
  expect_row(side, 0, 8e6, 1000);
  EXPECT_THAT(notes(side), HasSubstr("1 row of half"));
  const NetworkLog iterations = read(
      "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv% time algbw busbw #wrong "
      "i_min i_max "
      "i_p99 i_cv%\n"
      "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 900 1200 1190 2.5 1000.0 8.00 12.00 0 900 1200 1190 "
      "2.5\n");
  expect_row(iterations, 0, 8e6, 1000);
  EXPECT_EQ(iterations.rows[0].workers, 4U);
}

TEST(ImportNcclTests, MarkdownIsNoObstacle) {
  const NetworkLog log = read(
      std::string("> ```\n> ") + kHead2022 +
      "> |  8000000 | 2000000 | float | sum | -1 | 1100.0 | 7.27 | 10.91 | 0 | 1000.0 | 8.00 | 12.00 | 0 |\n"
      "> ```\n");
  expect_row(log, 0, 8e6, 1000);
}

TEST(ImportNcclTests, PayloadsAreWhatOneWorkerContributes) {
  const std::string rows = "8000000 2000000 float none -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n";
  const NetworkLog gather = read("./build/all_gather_perf -b 8M\n" + std::string(kHead2022) + rows);
  EXPECT_EQ(gather.rows.at(0).exchange, Exchange::all_gather);
  EXPECT_EQ(gather.rows[0].workers, 4U);
  expect_row(gather, 0, 2e6, 1000);
  const NetworkLog all = read("./build/alltoall_perf -b 8M\n" + std::string(kHead2022) + rows);
  EXPECT_EQ(all.rows.at(0).exchange, Exchange::all_to_all);
  expect_row(all, 0, 8e6, 1100);  // an all-to-all cannot be in place
  const NetworkLog scatter =
      read(kHead2022 + std::string("8000000 2000000 float sum -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n"));
  EXPECT_EQ(scatter.rows.at(0).exchange, Exchange::reduce_scatter);  // less than the whole passes
  expect_row(scatter, 0, 8e6, 1000);
}

TEST(ImportNcclTests, SeveralTablesOfOneFileKeepApart) {
  const NetworkLog log =
      read("./all_reduce_perf\n# nThread 1 nGpus 4\n" + std::string(kHead2022) +
           "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n"
           "./all_gather_perf\n# nThread 1 nGpus 4\n" +
           kHead2022 + "8000000 2000000 float none -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n" +
           "./broadcast_perf\n# nThread 1 nGpus 4\n" + kHead2022 +
           "8000000 2000000 float none 0 1100.0 7.27 7.27 0 1000.0 8.00 8.00 0\n");
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_reduce);
  EXPECT_EQ(log.rows[1].exchange, Exchange::all_gather);
  EXPECT_THAT(notes(log), HasSubstr("1 row of broadcast dropped"));
}

constexpr const char* kGatherRow = "8000000 2000000 float none -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n";
constexpr const char* kReduceRow = "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n";

TEST(ImportNcclTests, ANameBelowTheRowsIsNotTheirs) {
  const std::string gather =
      "# Collective test starting: all_gather_perf\n" + std::string(kHead2022) + kGatherRow;
  for (const char* below : {"Slower than all_reduce_perf.\n", "Compare with all_reduce_perf above.\n",
                            "./build/all_reduce_perf -b 8\n", "# all_reduce_perf follows\n"}) {
    const NetworkLog log = read(gather + below);
    ASSERT_EQ(log.rows.size(), 1U) << below;
    EXPECT_EQ(log.rows[0].exchange, Exchange::all_gather) << below;
  }
  const NetworkLog reduce = read(kError + std::string("We then ran all_gather_perf, which hung.\n"));
  EXPECT_EQ(reduce.rows.at(0).exchange, Exchange::all_reduce);
  // Nor does prose name the next table.
  const NetworkLog next =
      read(gather + "Slower than alltoall_perf was.\n# nThread 1\n" + kHead2022 + kReduceRow);
  ASSERT_EQ(next.rows.size(), 2U);
  EXPECT_EQ(next.rows[1].exchange, Exchange::all_reduce);
}

TEST(ImportNcclTests, AScriptsLinesNameTheTablesBelowThem) {
  const NetworkLog log = read("Running all_gather_perf...\n" + std::string(kHead2022) + kGatherRow +
                              "Running alltoall_perf...\n" + kHead2022 + kGatherRow +
                              "Running all_reduce_perf...\n" + kHead2022 + kReduceRow);
  ASSERT_EQ(log.rows.size(), 3U) << notes(log);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_gather);
  EXPECT_EQ(log.rows[1].exchange, Exchange::all_to_all);
  EXPECT_EQ(log.rows[2].exchange, Exchange::all_reduce);
}

TEST(ImportNcclTests, ANameThatTheOperationContradictsDoesNotCount) {
  const NetworkLog log = read("./all_gather_perf -b 8M\n" + std::string(kHead2022) + kReduceRow);
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_reduce);
  EXPECT_THAT(notes(log), HasSubstr("the name all_gather stands above rows of redop sum"));
  // Two names in a line name nothing; a library's message does not beat the program's own title.
  const std::string loop = "for t in reduce_scatter_perf alltoall_perf; do ./build/$t; done\n";
  EXPECT_EQ(read(loop + kHead2022 + kReduceRow).rows.at(0).exchange, Exchange::all_reduce);
  const NetworkLog titled =
      read("# Collective test starting: all_reduce_perf\n" + std::string(kHead2022) +
           "/opt/all_gather_perf: /lib/libnl.so: no version information\n" + kReduceRow);
  EXPECT_EQ(titled.rows.at(0).exchange, Exchange::all_reduce);
}

TEST(ImportNcclTests, ANameStartsATableWithoutALineOfThreads) {
  const std::string ranks =
      "#  Rank  0 Group  0 Pid 1 on a device 0 [0x1] G\n#  Rank  1 Group  0 Pid 1 on a device 1 [0x1] G\n"
      "#  Rank  2 Group  0 Pid 1 on b device 0 [0x1] G\n#  Rank  3 Group  0 Pid 1 on b device 1 [0x1] G\n";
  for (const std::string& between : {ranks + kHead2022, std::string(kHead2022), std::string()}) {
    for (const std::string title : {"# Collective test starting: ", "## ", "$ mpirun -np 4 ./build/"}) {
      const std::string first = ranks + kHead2022;
      const NetworkLog rising = read(title + "all_gather_perf\n" + first + kGatherRow + title +
                                     "all_reduce_perf\n" + between + kReduceRow);
      ASSERT_EQ(rising.rows.size(), 2U);
      EXPECT_EQ(rising.rows[0].exchange, Exchange::all_gather);
      EXPECT_EQ(rising.rows[1].exchange, Exchange::all_reduce);
      EXPECT_EQ(rising.rows[1].per_node, 2U);
      const NetworkLog falling = read(title + "all_reduce_perf\n" + first + kReduceRow + title +
                                      "alltoall_perf\n" + between + kGatherRow);
      ASSERT_EQ(falling.rows.size(), 2U);
      EXPECT_EQ(falling.rows[0].exchange, Exchange::all_reduce);
      EXPECT_EQ(falling.rows[1].exchange, Exchange::all_to_all);
    }
  }
}

TEST(ImportNcclTests, NoAllReduceMovesLessThanAll) {
  const std::string less = "8000000 2000000 float sum -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n";
  const std::string reason =
      "file log: line 5: busbw 6 is below algbw 8, which no all-reduce's is: expected rows of an all-reduce, "
      "or "
      "the name of their program above them";
  EXPECT_EQ(refused("./all_reduce_perf\n" + std::string(kHead2022) + less), reason);
  EXPECT_EQ(refused("./all_reduce_perf\n" + std::string(kHead2022) + less, 4), reason);
}

TEST(ImportNcclTests, OneTypeAndOneOperationCount) {
  const NetworkLog log =
      read(kHead2022 + std::string("8000000 4000000 half sum -1 1100.0 7.27 10.91 0 900.0 8.89 13.33 0\n"
                                   "8000000 2000000 float max -1 1100.0 7.27 10.91 0 800.0 10.00 15.00 0\n"
                                   "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n"));
  ASSERT_EQ(log.rows.size(), 1U);
  expect_row(log, 0, 8e6, 1000);
  EXPECT_THAT(notes(log), HasSubstr("2 rows of other types or operations than float and sum dropped"));
}

TEST(ImportNcclTests, OfSeveralTypesThoseOfGradientsCount) {
  const auto rows = [](std::initializer_list<const char*> types) {
    std::string text = kHead2022;
    for (const char* type : types) {
      text += std::string("8000000 1000000 ") + type + " sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n";
    }
    return notes(read(text));
  };
  EXPECT_THAT(rows({"int8", "half", "double", "bfloat16", "float"}), HasSubstr("1 row of float, "));
  EXPECT_THAT(rows({"int8", "half", "double", "bfloat16"}), HasSubstr("1 row of bfloat16, "));
  EXPECT_THAT(rows({"int8", "half", "double"}), HasSubstr("1 row of half, "));
  EXPECT_THAT(rows({"int8", "double"}), HasSubstr("1 row of int8, "));
}

TEST(ImportNcclTests, RowsOfWhatIsNotKnownAreNotLostSilently) {
  const NetworkLog log = read(kHead2022 + std::string(kReduceRow) +
                              "0: 16000000 4000000 fp4 sum -1 2100.0 7.62 11.43 0 2000.0 8.00 12.00 0\n");
  EXPECT_EQ(log.rows.size(), 1U);
  EXPECT_THAT(notes(log), HasSubstr("1 row of other types or operations than float and sum dropped"));
  for (const char* size : {"-2000000", "2e6", "2000000.5"}) {
    EXPECT_THAT(refused(kHead2022 + std::string(kReduceRow) + size +
                        " 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 20.00 0\n"),
                HasSubstr(std::string("file log: line 5: cannot read \"") + size + "\""));
  }
}

TEST(ImportNcclTests, WrongResultsAreSaid) {
  const std::string said = "warning: the run computed wrong results";
  EXPECT_EQ(notes(read(kError)).find(said), std::string::npos);
  EXPECT_THAT(
      notes(read(kHead2022 +
                 std::string("8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 5\n"))),
      HasSubstr(said + " in 1 row: "));
  std::string failed = kError;
  failed.replace(failed.find("0 OK"), 4, "5 FAILED");
  EXPECT_THAT(notes(read(failed)), HasSubstr(said + ": "));
}

TEST(ImportNcclTests, RanksThatAreSpreadUnevenlyAreSaid) {
  std::string ranks;
  for (const char* member : {"0 Pid 1 on a", "1 Pid 1 on a", "2 Pid 1 on a", "3 Pid 1 on b"}) {
    ranks += "#  Rank  " + std::string(member) + " device 0 [0x1] G\n";
  }
  const NetworkLog log = read(ranks + kHead2022 + kReduceRow);
  EXPECT_TRUE(log.rows.at(0).uneven);
  EXPECT_THAT(notes(log), HasSubstr("(4 rank lines), more on one host than on another: 1 row"));
  EXPECT_FALSE(read(kError).rows.at(0).uneven);
}

TEST(ImportNcclTests, HalvesThatMixAreSaid) {
  EXPECT_THAT(notes(read(kHead2022 + std::string(kReduceRow) +
                         "16000000 4000000 float sum -1 2100.0 7.62 11.43 0 N/A N/A N/A N/A\n")),
              HasSubstr("8 MB to 16 MB, 1 in place, 1 out of place"));
}

TEST(ImportNcclTests, RanksAreInferredOnlyWhereOneNumberFits) {
  const auto row = [](const std::string& algbw, const std::string& busbw, const std::string& time) {
    return kHead2022 + ("8000000000 2000000000 float sum -1 " + time + " " + algbw + " " + busbw + " 0 " +
                        time + " " + algbw + " " + busbw + " 0\n");
  };
  EXPECT_EQ(read(row("100.00", "187.50", "80000")).rows[0].workers, 16U);
  EXPECT_EQ(read(row("100.00", "196.88", "80000")).rows[0].workers, 64U);
  EXPECT_EQ(read(row("100.00", "199.90", "80000")).rows[0].workers, 0U);  // 2000 or so
  EXPECT_EQ(read(row("0.10", "0.19", "80000000")).rows[0].workers, 0U);   // too few digits
  EXPECT_THAT(notes(read(row("100.00", "199.90", "80000"))),
              HasSubstr("a number of ranks that the file does not say"));
}

TEST(ImportNcclTests, RanksThatTheBandwidthsContradictAreRefused) {
  EXPECT_EQ(read(kError, 4).rows[0].workers, 4U);
  EXPECT_EQ(refused(kError, 16),
            "value --ranks: 16 ranks, but busbw / algbw is that of 4: expected --ranks 4");
  // Where several numbers fit, all of them are said: 2(n-1)/n is 1.9986 to 1.9987.
  EXPECT_EQ(
      refused(kHead2022 + std::string("8000000000 2000000000 float sum -1 80000 100.00 199.865 0 80000 "
                                      "100.00 199.865 0\n"),
              16),
      "value --ranks: 16 ranks, but busbw / algbw is that of 1463 to 1500: expected --ranks 1463 to 1500");
  // NCCL_TESTS_SPLIT: groups of 2 among 4 ranks.
  const std::string split =
      kHead2022 + std::string("2000000 500000 float sum -1 160.0 12.50 12.50 0 150.0 13.33 13.33 0\n");
  const auto ranks = [](const std::string& group) {
    return "#  Rank  0 Group  0 Pid 1 on a device 0 [0x1] G\n#  Rank  1 Group  0 Pid 1 on a device 0 [0x1] "
           "G\n"
           "#  Rank  2 Group  " +
           group + " Pid 1 on a device 0 [0x1] G\n#  Rank  3 Group  " + group +
           " Pid 1 on a device 0 [0x1] G\n";
  };
  EXPECT_EQ(read(ranks("1") + split).rows[0].workers, 2U);
  EXPECT_EQ(refused(ranks("0") + split),
            "file log: 4 rank lines, but busbw / algbw is that of 2: expected --ranks 2");
}

TEST(ImportNcclTests, ElidedRankListsCountByTheHighestRank) {
  const NetworkLog log = read(
      "#  Rank  0 Group  0 Pid 1 on a device 0 [0x1] G\n# ...\n#  Rank  3 Group  0 Pid 1 on b device 0 [0x1] "
      "G\n" +
      std::string(kHead2022) + "2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 20.00 0\n");
  EXPECT_EQ(log.rows[0].workers, 4U);
  EXPECT_EQ(log.rows[0].per_node, 0U);
}

TEST(ImportNcclTests, WhatMakesNoSenseIsRefusedWithItsLine) {
  const std::string head = kHead2022;
  const auto row = [&](const std::string& text) { return refused(head + text + "\n"); };
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0"),
            "file log: line 4: the row is cut short: 10 columns: expected at least 12");
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 nan 13.33 20.00 0"),
            "file log: line 4: cannot use \"nan\" as a time: expected a number above 0");
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 -150 13.33 20.00 0"),
            "file log: line 4: cannot use \"-150\" as a time: expected a number above 0");
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 0.00 13.33 20.00 0"),
            "file log: line 4: cannot use \"0.00\" as a time: expected a number above 0");
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 inf 0"),
            "file log: line 4: cannot use \"inf\" as a bus bandwidth: expected a number");
  EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0 99.00 20.00 0"),
            "file log: line 4: 2000000 bytes in 150 us are not 99 GB/s: expected columns as nccl-tests "
            "prints them");
  EXPECT_THAT(row("99999999999999999999999 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 20.00 0"),
              HasSubstr("file log: line 4: "));
  EXPECT_EQ(row("2000000 500000 float sum -1 1e300 12.50 18.75 0 1e300 13.33 20.00 0"),
            "file log: line 4: a time of 1e300 us: expected at most 1e12 us");
  EXPECT_EQ(refused("2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 20.00 0\n"),
            "file log: line 1: a row above the line that names its columns: expected the whole output of "
            "nccl-tests, with its header");
  EXPECT_EQ(refused("# size count type redop root cputime algbw busbw #wrong cputime algbw busbw #wrong\n"),
            "file log: line 1: the times are the CPU's, which only starts a collective: expected a run "
            "without -C 1");
  EXPECT_EQ(refused("# size count time algbw busbw type redop\n8 2 float sum 1 1 1\n"),
            "file log: line 1: cannot understand this header: expected size count type redop root time algbw "
            "busbw, "
            "twice");
  const std::string none =
      "file log: has no rows to use: expected the table that nccl-tests prints, such as all_reduce_perf -b 8 "
      "-e 1G "
      "-f 2";
  EXPECT_EQ(refused(""), none);
  EXPECT_EQ(refused("hello\n"), none);
  EXPECT_EQ(refused(head), none);
  EXPECT_THAT(row("2000000 500000 float none -1 160.0 12.50 9.38 0 150.0 13.33 10.00 0"),
              HasSubstr("a collective without a name dropped"));
}

std::string json(const std::string& results, const std::string& config = R"("nthreads":1,"ngpus":2,"devices":[
    {"rank":0,"group":0,"pid":1,"hostname":"a","device":0}, {"rank":1,"group":0,"pid":2,"hostname":"b","device":0}])") {
  return R"({"version":3,"env":["TOKEN=secret","BASH_FUNC_x%%=() {\n}"],"nccl_version":22903,"config":{)" +
         config + R"(,"blocking_collectives":"false"},"results":[)" + results +
         R"(],"out_of_bounds":{"count":0,"okay":"unchecked"},"errors":[],"end_time":"x"})";
}
std::string json_row(const std::string& in_place, const std::string& size = "8000000") {
  return R"({"size":)" + size + R"(,"count":2000000,"type":"float","redop":"sum","root":"    -1",
    "out_of_place":{"time":1100.000000,"alg_bw":7.272727,"bus_bw":10.909091,"nwrong":0.0},"in_place":)" +
         in_place + R"(,"actual_iterations":20,"experiment_name":"AllReduce"})";
}
const std::string kInPlace = R"({"time":1000.000000,"alg_bw":8.000000,"bus_bw":12.000000,"nwrong":null})";

TEST(ImportNcclTests, JsonCountsProcessesThreadsAndGpus) {
  const NetworkLog log = read(json(json_row(kInPlace)));
  ASSERT_EQ(log.rows.size(), 1U);
  expect_row(log, 0, 8e6, 1000);
  EXPECT_EQ(log.rows[0].workers, 4U);
  EXPECT_EQ(log.rows[0].per_node, 2U);
  expect_row(read(json(json_row("null"))), 0, 8e6, 1100);
  EXPECT_EQ(notes(log).find("secret"), std::string::npos);
  // Without devices the bandwidths tell.
  EXPECT_EQ(read(json(json_row(kInPlace), R"("nthreads":1)")).rows[0].workers, 4U);
}

TEST(ImportNcclTests, JsonThatReportsATroubleIsTakenWithAWarning) {
  const std::string good = json(json_row(kInPlace));
  EXPECT_THAT(notes(read(good)), testing::Not(HasSubstr("warning")));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return notes(read(text.replace(text.find(from), from.size(), to)));
  };
  EXPECT_THAT(with("\"nwrong\":0.0", "\"nwrong\":7"), HasSubstr("wrong results in 1 row"));
  EXPECT_THAT(with("unchecked", "false"), HasSubstr("warning: the run computed wrong results: "));
  EXPECT_THAT(with("\"errors\":[]", "\"errors\":[\"x\"]"), HasSubstr("warning: the run reports 1 error\n"));
  EXPECT_THAT(with(",\"end_time\":\"x\"", ""), HasSubstr("warning: the run has no end_time"));
  EXPECT_THAT(with("\"version\":3", "\"version\":99"), HasSubstr("warning: version 99 of nccl-tests' JSON"));
}

TEST(ImportNcclTests, JsonThatMakesNoSenseIsRefusedWithItsPlace) {
  const auto half = [](const std::string& time) {
    return R"({"time":)" + time + R"(,"alg_bw":8.0,"bus_bw":12.0})";
  };
  EXPECT_EQ(refused(json(json_row(half("\"nan\"")))),
            "file log: /results/0/in_place/time: \"nan\" is no number: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(half("-1")))),
            "file log: /results/0/in_place/time: -1 cannot be: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(half("0")))),
            "file log: /results/0/in_place/time: 0 cannot be: expected a number above 0");
  EXPECT_EQ(refused(json(json_row(R"({"cpu_time":1.0,"alg_bw":8.0,"bus_bw":12.0})"))),
            "file log: /results/0/in_place: the times are the CPU's, which only starts a collective: "
            "expected a run "
            "without -C 1");
  EXPECT_EQ(refused(json(json_row(kInPlace), R"("nthreads":1,"ngpus":8,"devices":[{"rank":0}])")),
            "file log: 1 process of 8 ranks, but busbw / algbw is that of 4: expected --ranks 4");
  EXPECT_THAT(refused(json("")), HasSubstr("file log: has no rows to use"));
  EXPECT_EQ(refused("{\"identifier\":\"nccl-tests structured output\"}"),
            "file log: the key \"results\" is missing: expected what nccl-tests writes with -J");
  const std::string cut = json(json_row(kInPlace));
  EXPECT_THAT(refused(cut.substr(0, cut.size() - 40)), HasSubstr("file log:"));
}

// Other people's files, where they are at hand: each with what is known of it.
struct Sample {
  const char* file;
  std::size_t workers, rows;
};
class NcclSample : public testing::TestWithParam<Sample> {};

/// Empty where it is not here.
std::string path_of(const Sample& sample) {
  const std::string path = std::string(BREAKEVEN_SOURCE_DIR) + "/../shared/samples/nccl-tests/" + sample.file;
  return std::filesystem::exists(path) ? path : "";
}

TEST_P(NcclSample, IsUnderstood) {
  const std::string path = path_of(GetParam());
  if (path.empty()) {
    GTEST_SKIP() << "the sample is not here: " << GetParam().file;
  }
  const NetworkLog log = read_nccl_tests(read_text(path), path);
  EXPECT_EQ(log.rows.size(), GetParam().rows);
  EXPECT_EQ(log.rows.at(0).workers, GetParam().workers);
}

/// The least "misses a size left out by N % (median)" of the notes that speak of `what`.
double missed(const std::vector<std::string>& notes, const std::string& what) {
  const std::string words = "misses a size left out by ";
  double least = 100;
  for (const std::string& note : notes) {
    const std::size_t at = note.find(words);
    if (at != std::string::npos && note.find(what) < at) {
      least = std::min(least, std::stod(note.substr(at + words.size())));
    }
  }
  return least;
}

TEST_P(NcclSample, PredictsSizesThatWereLeftOut) {
  const std::string path = path_of(GetParam());
  if (path.empty()) {
    GTEST_SKIP() << "the sample is not here: " << GetParam().file;
  }
  if (GetParam().rows < 4) {
    GTEST_SKIP() << "nothing to leave out";
  }
  NetworkOptions options;
  options.workers = GetParam().workers > 0 ? GetParam().workers : 1440;  // of those that fit its bandwidths
  std::vector<std::string> notes;
  (void)fabric_from(read_nccl_tests(read_text(path), path, options.workers), options, path, notes);
  EXPECT_LT(missed(notes, "the table"), 5);
  EXPECT_LT(missed(notes, "lines"), 10);
}

INSTANTIATE_TEST_SUITE_P(
    All, NcclSample,
    testing::Values(Sample{"SYNTHETIC_schema-v3_output.json", 2, 1},
                    Sample{"b_error-col_dgxa100_4node.txt", 32, 13},
                    Sample{"c_error-col_2.10_wide-count_dgxa100_2node.txt", 16, 30},
                    Sample{"d_error-col_NA_dgx2h.txt", 0, 31},
                    Sample{"e_v2.18.0_mpirun-tag-output_floor4.4ms_2rank.txt", 2, 8},
                    Sample{"g_v2.13_mpirun-tag-output_NCCL-INFO-interleaved_T4-EFA_2rank.txt", 2, 29}),
    [](const auto& sample) { return std::string(1, sample.param.file[0]); });

}  // namespace
}  // namespace breakeven
