// Which collective do rows of nccl-tests belong to, and which of them count?
#include <gmock/gmock.h>

#include "tests/profiles/nccl_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

TEST(ImportNcclNames, PayloadsAreWhatOneWorkerContributes) {
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

TEST(ImportNcclNames, SeveralTablesOfOneFileKeepApart) {
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

TEST(ImportNcclNames, ANameBelowTheRowsIsNotTheirs) {
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

TEST(ImportNcclNames, AScriptsLinesNameTheTablesBelowThem) {
  const NetworkLog log = read("Running all_gather_perf...\n" + std::string(kHead2022) + kGatherRow +
                              "Running alltoall_perf...\n" + kHead2022 + kGatherRow +
                              "Running all_reduce_perf...\n" + kHead2022 + kReduceRow);
  ASSERT_EQ(log.rows.size(), 3U) << notes(log);
  EXPECT_EQ(log.rows[0].exchange, Exchange::all_gather);
  EXPECT_EQ(log.rows[1].exchange, Exchange::all_to_all);
  EXPECT_EQ(log.rows[2].exchange, Exchange::all_reduce);
}

TEST(ImportNcclNames, ANameThatTheOperationContradictsDoesNotCount) {
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

TEST(ImportNcclNames, ANameStartsATableWithoutALineOfThreads) {
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

TEST(ImportNcclNames, NoAllReduceMovesLessThanAll) {
  const std::string less = "8000000 2000000 float sum -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n";
  const std::string reason =
      "file log: line 5: busbw 6 is below algbw 8, which no all-reduce's is: expected rows of an all-reduce, "
      "or "
      "the name of their program above them";
  EXPECT_EQ(refused("./all_reduce_perf\n" + std::string(kHead2022) + less), reason);
  EXPECT_EQ(refused("./all_reduce_perf\n" + std::string(kHead2022) + less, 4), reason);
}

TEST(ImportNcclNames, OneTypeAndOneOperationCount) {
  const NetworkLog log =
      read(kHead2022 + std::string("8000000 4000000 half sum -1 1100.0 7.27 10.91 0 900.0 8.89 13.33 0\n"
                                   "8000000 2000000 float max -1 1100.0 7.27 10.91 0 800.0 10.00 15.00 0\n"
                                   "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n"));
  ASSERT_EQ(log.rows.size(), 1U);
  expect_row(log, 0, 8e6, 1000);
  EXPECT_THAT(notes(log), HasSubstr("2 rows of other types or operations than float and sum dropped"));
}

TEST(ImportNcclNames, OfSeveralTypesThoseOfGradientsCount) {
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

TEST(ImportNcclNames, RowsOfWhatIsNotKnownAreNotLostSilently) {
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

}  // namespace
}  // namespace breakeven
