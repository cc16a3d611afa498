// Is what gloo's and DeepSpeed's benchmarks of collectives print understood, and the plain form of them?
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/profiles/network_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ImportGloo, ElementsOfTheOldTableAreFloats) {
  const NetworkLog log = read_gloo(
      "   elements   min (us)   p50 (us)   p99 (us)   max (us)    samples\n"
      "          1        195        263        342        437       3921\n"
      "    5000000      10030      10608      11106      11628         92\n",
      "log", 4);
  ASSERT_EQ(log.rows.size(), 2U);
  expect_row(log, 0, 4, 263);
  expect_row(log, 1, 2e7, 10608);
  EXPECT_EQ(notes(log),
            "the file names no algorithm: taken for an all-reduce\nelements are taken for floats of 4 bytes\n"
            "all-reduce among 4 ranks (--ranks): 2 rows, 4 B to 20 MB, the whole vector\n");
}

TEST(ImportGloo, SizesProcessesAndAlgorithmsOfBothGenerations) {
  const std::string rows =
      "        size (B)       elements       min (us)       p50 (us)       p99 (us)       max (us)   "
      "bandwidth "
      "(GB/s)     iterations\n"
      "             400            100            104            143            310            563          "
      "  0.003          10530\n";
  const NetworkLog now = read_gloo(
      "==========\n   ALLREDUCE_RING_CHUNKED\n\nDevice:   tcp, pci=0000:00:00.0\n"
      "Options:       processes=4, inputs=1, threads=1, verify=true\n\n"
      "==========\n        BENCHMARK RESULTS\n\n" +
          rows + "==========\n",
      "log");
  EXPECT_EQ(now.rows.at(0).workers, 4U);
  EXPECT_EQ(now.rows[0].exchange, Exchange::all_reduce);
  expect_row(now, 0, 400, 143);
  EXPECT_EQ(notes(now), "all-reduce among 4 ranks: 1 row, 400 B to 400 B, the whole vector\n");
  const NetworkLog before = read_gloo(
      "Device:      tcp\nAlgorithm:   allgather_ring\n"
      "Options:     processes=8, inputs=2, threads=1\n\n"
      "   elements   min (ns)   p50 (ns)   p99 (ns)   max (ns)   avg (GB/s)    "
      "samples\n        100     195000     263000     342000     437000        "
      "0.001       3921\n",
      "log");
  EXPECT_EQ(before.rows.at(0).exchange, Exchange::all_gather);
  EXPECT_EQ(before.rows[0].workers, 8U);
  expect_row(before, 0, 400, 263);
  EXPECT_THAT(notes(before), HasSubstr("\"inputs=2\": times of several at once"));
  EXPECT_THAT(refused(read_gloo, "Algorithm:  barrier_all_to_all\nOptions: processes=4\n" + rows),
              StartsWith("file log: has no rows to use (1 row of \"barrier_all_to_all\" dropped"));
  EXPECT_THAT(refused(read_gloo, "Algorithm:  allreduce_local\nOptions: processes=4\n" + rows),
              StartsWith("file log: has no rows to use (1 row of \"allreduce_local\" dropped"));
}

TEST(ImportGloo, AnAlgorithmIsTheCollectiveThatItsNameHolds) {
  const auto read = [](const std::string& algorithm) {
    return read_gloo(
        "Algorithm:   " + algorithm +
            "\nOptions:     processes=4, inputs=1, threads=1\n\n"
            "size (B)  elements  min (us)  p50 (us)  p99 (us)  max (us)  bandwidth (GB/s)  iterations\n"
            "400  100  104  143  310  563  0.003  10530\n",
        "log");
  };
  const auto exchange = [&](const std::string& algorithm) { return read(algorithm).rows.at(0).exchange; };
  for (const char* reduce : {"new_allreduce_ring", "new_allreduce_bcube", "allreduce_halving_doubling",
                             "cuda_allreduce_ring_chunked"}) {
    EXPECT_EQ(exchange(reduce), Exchange::all_reduce) << reduce;
  }
  EXPECT_EQ(exchange("new_allgather_ring"), Exchange::all_gather);
  EXPECT_EQ(exchange("reduce_scatter"), Exchange::reduce_scatter);
  EXPECT_EQ(exchange("alltoall"), Exchange::all_to_all);
  expect_row(read("alltoall"), 0, 100 * 8 * 4, 143);  // 64-bit integers to each of 4
  for (const char* other : {"broadcast_one_to_all", "allgather_v", "alltoall_v", "cuda_allreduce_local",
                            "reduce", "scatter", "barrier_all_to_all", "myallreduce"}) {
    EXPECT_THAT(failure([&] { (void)read(other); }),
                HasSubstr("1 row of \"" + std::string(other) + "\" dropped"));
  }
}

TEST(ImportGloo, WordsBetweenRowsAreNoTitle) {
  const NetworkLog log = read_gloo(
      "elements   min (us)   p50 (us)   p99 (us)   max (us)    samples\n"
      "100 195 263 342 437 3921\nDONE\nOptions of something else\n200 195 300 342 437 3921\n",
      "log", 4);
  EXPECT_EQ(log.rows.size(), 2U);
}

TEST(ImportGloo, WhatMakesNoSenseIsRefusedWithItsLine) {
  const std::string head = "elements   min (us)   p50 (us)   p99 (us)   max (us)    samples\n";
  EXPECT_EQ(refused(read_gloo, head + "100 195 263\n"),
            "file log: line 2: the row is cut short: 3 columns: expected at least 6");
  EXPECT_EQ(refused(read_gloo, head + "100 195 0 342 437 3921\n"),
            "file log: line 2: cannot use \"0\" as a time: expected a number above 0");
  EXPECT_EQ(refused(read_gloo, "elements min p50 p99 max samples\n1 2 3 4 5 6\n"),
            "file log: line 1: the times have no unit: expected p50 (us) or p50 (ns)");
  EXPECT_THAT(refused(read_gloo, "Options: processes=-4, inputs=1\n" + head),
              StartsWith("file log: line 1: "));
  EXPECT_THAT(refused(read_gloo, "hello\n"),
              StartsWith("file log: has no rows to use: expected what gloo's"));
}

TEST(ImportGloo, TheSampleIsUnderstood) {
  const std::string path = std::string(BREAKEVEN_SOURCE_DIR) +
                           "/../shared/samples/gloo/gloo_allreduce_ring_chunked_4x40GbE_README.txt";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the sample is not here: " << path;
  }
  EXPECT_EQ(read_gloo(read_text(path), path).rows.size(), 21U);
}

std::string cookbook(const std::string& collective, const std::string& rows,
                     const std::string& duration = "Duration") {
  return "\n---- Performance of " + collective +
         " on 16 devices -------------------\n"
         "Size (Bytes)         Description               " +
         duration +
         "             Throughput (Gbps)    BusBW (Gbps)        \n-----------------------------------\n" +
         rows;
}

TEST(ImportDeepSpeed, DurationsCountAndTheDescriptionIsTheSize) {
  const NetworkLog log = read_deepspeed_comm(
      cookbook("all_reduce",
               "1.0 KB               256x4                     50.000 us            0.328    "
               "            0.307               \n"
               "3.81 MB              1000000x4                 1.250 ms             51.200   "
               "            48.000              \n"),
      "log");
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0].workers, 16U);
  expect_row(log, 0, 1024, 50);
  expect_row(log, 1, 4e6, 1250);
  EXPECT_EQ(notes(log), "all-reduce among 16 ranks: 2 rows, 1 KiB to 4 MB, the whole vector\n");
}

TEST(ImportDeepSpeed, RawDurationsHaveTheirUnitInTheHeader) {
  const NetworkLog log = read_deepspeed_comm(
      cookbook("all_gather", "4000000  1000000x4  172.352  48.671  36.504\n", "Duration (us)"), "log");
  EXPECT_EQ(log.rows.at(0).exchange, Exchange::all_gather);
  expect_row(log, 0, 4e6, 172.352);
  EXPECT_EQ(
      refused(read_deepspeed_comm, cookbook("all_gather", "4000000  1000000x4  172.352  48.671  36.504\n")),
      "file log: line 5: the duration \"172.352\" has no unit: expected us, ms or s");
}

TEST(ImportDeepSpeed, ASizeThatTheDescriptionContradictsIsSaid) {
  const auto told = [](const std::string& row) {
    return notes(read_deepspeed_comm(cookbook("all_reduce", row + "  5.0 us  1.0  1.0\n"), "log"));
  };
  EXPECT_THAT(told("4.0 MB  1048576x2"),
              HasSubstr("warning: line 5: the size 4.0 MB is not what is described, 2 MiB, which counts"));
  EXPECT_THAT(told("4194304  1048576x2"), HasSubstr("the size 4194304 is not what is described"));
  for (const char* same :
       {"4.0 MB  1048576x4", "3.81 MB  1000000x4", "4194304  1048576x4", "1.0 KB  256x4"}) {
    EXPECT_THAT(told(same), testing::Not(HasSubstr("warning"))) << same;
  }
}

TEST(ImportDeepSpeed, EveryCollectiveByItsTitle) {
  const auto exchange = [](const std::string& name) {
    return read_deepspeed_comm(cookbook(name, "8 B  2x4  5.0 us  1.0  1.0\n"), "log").rows.at(0).exchange;
  };
  EXPECT_EQ(exchange("allreduce"), Exchange::all_reduce);
  EXPECT_EQ(exchange("reduce_scatter"), Exchange::reduce_scatter);
  EXPECT_EQ(exchange("alltoall"), Exchange::all_to_all);
  EXPECT_THAT(refused(read_deepspeed_comm, cookbook("pt2pt", "8 B  2x4  5.0 us  1.0  1.0\n")),
              StartsWith("file log: has no rows to use (1 row of \"pt2pt\" dropped"));
  EXPECT_EQ(refused(read_deepspeed_comm, cookbook("all_reduce", "8 B  2x4  5.0 us  1.0  1.0\n"), 8),
            "value --ranks: the file has no times among 8 ranks: expected 16");
}

TEST(ImportDeepSpeed, WhatMakesNoSenseIsRefusedWithItsLine) {
  const auto row = [](const std::string& text) {
    return refused(read_deepspeed_comm, cookbook("all_reduce", text));
  };
  EXPECT_EQ(row("1.0 KB 256x4 50.000"),
            "file log: line 5: the row is cut short: expected a duration and two bandwidths");
  EXPECT_EQ(row("1.0 KB 256x4 50.000 us 1.0"),
            "file log: line 5: the row is cut short: expected a duration and two bandwidths");
  EXPECT_EQ(row("1.0 KB 256x4 nan us 1.0 1.0"),
            "file log: line 5: cannot use \"nan\" as a time: expected a number above 0");
  EXPECT_EQ(row("1.0 KB 256x4 0.000 us inf inf"),
            "file log: line 5: cannot use \"0.000\" as a time: expected a number above 0");
  EXPECT_EQ(
      refused(read_deepspeed_comm, "Size (Bytes) Description Duration Throughput BusBW\n"),
      "file log: line 1: the table has no title: expected ---- Performance of all_reduce on 16 devices ----");
  EXPECT_EQ(refused(read_deepspeed_comm, "---- Performance of all_reduce on some devices ----\n"),
            "file log: line 1: cannot understand this title: expected ---- Performance of all_reduce on 16 "
            "devices ----");
  EXPECT_THAT(refused(read_deepspeed_comm, ""),
              StartsWith("file log: has no rows to use: expected what all_reduce.py"));
}

constexpr const char* kHeader = "collective,ranks,bytes,time_us\n";

TEST(ImportCollectivesCsv, BytesAreWhatOneRankContributes) {
  const NetworkLog log = read_collectives_csv(std::string("# mine\n\n") + kHeader +
                                                  "all_reduce,8,1048576,812.5\r\n"
                                                  "all_to_all, 4, 4096, 1e2\n"
                                                  "all_reduce,8,2097152,1500\n",
                                              "log");
  ASSERT_EQ(log.rows.size(), 3U);
  expect_row(log, 0, 1048576, 812.5);
  expect_row(log, 2, 4096, 100);
  EXPECT_EQ(log.rows[2].exchange, Exchange::all_to_all);
  EXPECT_EQ(log.rows[2].workers, 4U);
  EXPECT_EQ(log.rows[2].line, 5U);
  EXPECT_EQ(notes(log),
            "all-reduce among 8 ranks: 2 rows, 1 MiB to 2 MiB, the whole vector\n"
            "all-to-all among 4 ranks: 1 row, 4 KiB to 4 KiB, what one rank sends to all\n");
}

TEST(ImportCollectivesCsv, WhatPeopleWriteByHandIsUnderstood) {
  const NetworkLog log =
      read_collectives_csv("bytes; seconds\n8192; 1e-4\n1 MiB; 0.002\n\"2097152\";4e-3\n", "log", 4);
  ASSERT_EQ(log.rows.size(), 3U);
  expect_row(log, 0, 8192, 100);
  expect_row(log, 1, 1048576, 2000);
  expect_row(read_collectives_csv("Bytes,Time_us\n8192,100\n", "log", 4), 0, 8192, 100);
  EXPECT_EQ(log.rows[2].exchange, Exchange::all_reduce);
  EXPECT_EQ(notes(log),
            "no column names the collective: taken for an all-reduce\n"
            "all-reduce among 4 ranks (--ranks): 3 rows, 8 KiB to 2 MiB, the whole vector\n");
  const NetworkLog named =
      read_collectives_csv("time_ms,ranks,collective,bytes\n2,8,AllGather,4096\n", "log");
  EXPECT_EQ(named.rows.at(0).exchange, Exchange::all_gather);
  expect_row(named, 0, 4096, 2000);
}

TEST(ImportCollectivesCsv, WhatMakesNoSenseIsRefusedWithItsLine) {
  const auto row = [](const std::string& text) {
    return refused(read_collectives_csv, kHeader + text + "\n");
  };
  EXPECT_EQ(row("al_reduce,8,1048576,812.5"),
            "file log: line 2: unknown collective \"al_reduce\": expected one of all_reduce, all_gather, "
            "reduce_scatter, all_to_all (did you mean all_reduce?)");
  EXPECT_EQ(row("all_reduce,8,1048576"), "file log: line 2: has 3 cells: expected as many as the head, 4");
  EXPECT_EQ(row("all_reduce,1,1048576,1"),
            "file log: line 2: 1 rank exchanges nothing: expected 2 ranks or more");
  EXPECT_EQ(row("all_reduce,8,0,1"), "file log: line 2: 0 bytes are no message: expected 1 byte or more");
  EXPECT_THAT(row("all_reduce,8,1 Mbit,1"), StartsWith("file log: line 2: bytes: "));
  EXPECT_THAT(row("all_reduce,8,1048576,nan"), StartsWith("file log: line 2: time_us: "));
  EXPECT_THAT(row("all_reduce,8,1048576,"), StartsWith("file log: line 2: time_us: "));
  EXPECT_EQ(row("all_reduce,8,1048576,0"),
            "file log: line 2: cannot use \"0\" as a time: expected 1e-12 to 1e6 s");
  EXPECT_THAT(row("all_reduce,eight,1048576,1"), StartsWith("file log: line 2: ranks: "));
  EXPECT_EQ(row("all_reduce,2000000,1048576,1"), "file log: 2000000 ranks: expected at most 1048576");
  EXPECT_EQ(row("all_reduce,8,9000000000000000,1"),
            "file log: line 2: a message of 9000 TB: expected at most 1000 TB");
}

TEST(ImportCollectivesCsv, ATableThatIsNoneIsRefused) {
  EXPECT_EQ(refused(read_collectives_csv, kHeader + std::string("\"all_reduce,8,1048576,1\n")),
            "file log: line 2: a cell in quotes has no end: expected a quote behind it");
  EXPECT_EQ(refused(read_collectives_csv, "all_reduce,8,1048576,812.5\n"),
            "file log: line 1: is no line of column names: expected collective,ranks,bytes,time_us");
  EXPECT_EQ(refused(read_collectives_csv, "bytes,time_us,time_ms\n"),
            "file log: line 1: two columns of times: expected one of them");
  EXPECT_EQ(refused(read_collectives_csv, "bytes,ranks\n"),
            "file log: line 1: no column of times: expected time_us, time_ms, time_s or seconds");
  EXPECT_EQ(refused(read_collectives_csv, "bytes,time\n"),
            "file log: line 1: unknown column \"time\": expected one of collective, ranks, bytes, time_us, "
            "time_ms, time_s, seconds (did you mean time_us?)");
  EXPECT_EQ(refused(read_collectives_csv, "size,time\n4096,10\n"),
            "file log: line 1: unknown columns \"size\", \"time\": expected one of collective, ranks, bytes, "
            "time_us, time_ms, time_s, seconds (did you mean time_us?)");
  EXPECT_EQ(
      refused(read_collectives_csv, "gap_us,bytes\n10,4000\n"),
      "file log: line 1: is the head of a log for import backward-log or query --backward-log: expected "
      "collective,ranks,bytes,time_us");
  EXPECT_EQ(refused(read_collectives_csv, kHeader),
            "file log: has no rows to use: expected rows under collective,ranks,bytes,time_us");
}

}  // namespace
}  // namespace breakeven
