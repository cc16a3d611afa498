// Is what nccl-tests prints understood, whichever year's it is and whatever stands around it?
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "tests/profiles/nccl_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

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

TEST(ImportNcclTests, HalvesThatMixAreSaid) {
  EXPECT_THAT(notes(read(kHead2022 + std::string(kReduceRow) +
                         "16000000 4000000 float sum -1 2100.0 7.62 11.43 0 N/A N/A N/A N/A\n")),
              HasSubstr("8 MB to 16 MB, 1 in place, 1 out of place"));
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
  for (const char* time : {"1e+300", "1e-300"}) {
    EXPECT_EQ(row("2000000 500000 float sum -1 160.0 12.50 18.75 0 " + std::string(time) + " 13.33 20.00 0"),
              "file log: line 4: a time of " + std::string(time) + " us: expected 1e-6 to 1e12 us");
  }
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
