// Among how many ranks did nccl-tests run, and on how many hosts?
#include <gmock/gmock.h>

#include "tests/profiles/nccl_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

TEST(ImportNcclRanks, RanksThatAreSpreadUnevenlyAreSaid) {
  std::string ranks;
  for (const char* member : {"0 Pid 1 on a", "1 Pid 1 on a", "2 Pid 1 on a", "3 Pid 1 on b"}) {
    ranks += "#  Rank  " + std::string(member) + " device 0 [0x1] G\n";
  }
  const NetworkLog log = read(ranks + kHead2022 + kReduceRow);
  EXPECT_TRUE(log.rows.at(0).uneven);
  EXPECT_THAT(notes(log), HasSubstr("(4 rank lines), more on one host than on another: 1 row"));
  EXPECT_FALSE(read(kError).rows.at(0).uneven);
}

TEST(ImportNcclRanks, RanksAreInferredOnlyWhereOneNumberFits) {
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

TEST(ImportNcclRanks, RanksThatTheBandwidthsContradictAreRefused) {
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

/// "# Rank R Group 0 Pid 1 on HOST device D": one line of "R HOST D" each.
std::string rank_lines(const std::vector<std::string>& members) {
  std::string text;
  for (const std::string& member : members) {
    if (member == "...") {
      text += "# ...\n";
      continue;
    }
    const std::size_t host = member.find(' ');
    const std::size_t device = member.rfind(' ');
    text += "#  Rank  " + member.substr(0, host) + " Group  0 Pid 1 on" + member.substr(host, device - host) +
            " device " + member.substr(device) + " [0x1] G\n";
  }
  return text;
}
// 2(n-1)/n = 1.875 of 16 ranks, 1.5 of 4; 1.865 to 1.885 of 15 to 17.
const std::string kSixteen =
    "8000000000 2000000000 float sum -1 80000 100.00 187.50 0 80000 100.00 187.50 0\n";
const std::string kAbout16 = "8000000 2000000 float sum -1 8000.0 1.00 1.87 0 8000.0 1.00 1.87 0\n";
const std::string kFour = "2000000 500000 float sum -1 160.0 12.50 18.75 0 150.0 13.33 20.00 0\n";

TEST(ImportNcclRanks, AListWithAGapEndsWithTheLastRank) {
  const NetworkLog log = read(rank_lines({"0 a 0", "...", "3 b 0"}) + kHead2022 + kFour);
  EXPECT_EQ(log.rows[0].workers, 4U);
  EXPECT_EQ(log.rows[0].per_node, 0U) << "1 or 2 on a host";
  EXPECT_THAT(notes(log), HasSubstr("among 4 ranks (the highest rank): "));
}

TEST(ImportNcclRanks, TheListOfARunThatFailedIsForgotten) {
  const std::string failed =
      "# nThread 1 nGpus 1\n" + rank_lines({"0 a 0", "1 a 1", "2 a 2", "3 a 3", "4 b 0"});
  EXPECT_EQ(read(failed + "Test NCCL failure\n# nThread 1 nGpus 1\n" +
                 rank_lines({"0 a 0", "1 a 1", "2 b 0", "3 b 1"}) + kHead2022 + kFour)
                .rows[0]
                .per_node,
            2U);
}

TEST(ImportNcclRanks, AListThatBreaksOffIsCountedByItsBandwidths) {
  const std::vector<std::string> first = {"0 a 0", "1 a 1", "2 a 2", "..."};
  EXPECT_EQ(read(rank_lines(first) + kHead2022 + kSixteen).rows[0].workers, 16U);
  // In processes of 8, of 15 to 17 only 16 is possible.
  EXPECT_EQ(read(kHead2022 + kAbout16).rows[0].workers, 0U);
  EXPECT_EQ(read("# nThread 1 nGpus 8 minBytes 8\n" + std::string(kHead2022) + kAbout16).rows[0].workers,
            16U);
  EXPECT_EQ(read("# nThread: 2 nGpus: 4 minBytes: 8\n" + std::string(kHead2022) + kAbout16).rows[0].workers,
            16U);
  // A gap and a last rank that bandwidths contradict: the list breaks off, whatever stands behind it.
  EXPECT_EQ(read(rank_lines({"0 a 0", "...", "3 a 3"}) + kHead2022 + kSixteen).rows[0].workers, 16U);
}

TEST(ImportNcclRanks, NcclsOwnLinesTellWhatAListDoesNot) {
  const std::string lines =
      "a:10:20 [0] NCCL INFO comm 0x7f rank 0 nranks 16 cudaDev 0 busId 10 - Init COMPLETE\n"
      "[1,9]<stdout>:b:10:29 [1] NCCL INFO comm 0x7f rank 9 nranks 16 cudaDev 1 busId 20 - Init COMPLETE\n";
  const NetworkLog log = read(lines + kHead2022 + kAbout16);
  EXPECT_EQ(log.rows[0].workers, 16U);
  EXPECT_EQ(log.rows[0].per_node, 0U) << "8 or less";
  EXPECT_THAT(notes(log), HasSubstr("among 16 ranks (nranks of NCCL INFO): "));
  const NetworkLog spread = read(
      lines + "b:10:28 [0] NCCL INFO comm 0x7f rank 8 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0\n" +
      kHead2022 + kAbout16);
  EXPECT_EQ(spread.rows[0].per_node, 8U);
  EXPECT_EQ(read(lines + "# nThread 1 nGpus 1 minBytes 8\n" + kHead2022 + kAbout16).rows[0].workers, 16U)
      << "in another buffer's order";
  // Of two communicators none is known to be the one.
  EXPECT_EQ(
      read(lines + "a:10:20 [0] NCCL INFO comm 0x8f rank 0 nranks 8 - Init COMPLETE\n" + kHead2022 + kAbout16)
          .rows[0]
          .workers,
      0U);
  EXPECT_EQ(refused("a:1:2 [0] NCCL INFO comm 0x7f rank 0 nranks 8 - Init COMPLETE\n" +
                    std::string(kHead2022) + kSixteen),
            "file log: nranks of NCCL INFO, but busbw / algbw is that of 16: expected --ranks 16");
}

TEST(ImportNcclRanks, TheCommandTellsWhereBandwidthsAllowIt) {
  const auto read_with = [](const std::string& command) { return read(command + kHead2022 + kAbout16); };
  const NetworkLog log = read_with("$ mpirun -np 16 -N 8 ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1\n");
  EXPECT_EQ(log.rows[0].workers, 16U);
  EXPECT_THAT(notes(log), HasSubstr("among 16 ranks (16 processes of the command): "));
  EXPECT_EQ(read_with("srun -n 2 ./all_reduce_perf -g 8\n# nThread 1 nGpus 8 minBytes 8\n").rows[0].workers,
            16U);
  EXPECT_EQ(read_with("$ mpirun -np 4 ./build/all_reduce_perf -b 8\n").rows[0].workers, 0U) << "not 15 to 17";
  EXPECT_EQ(read_with("./build/all_reduce_perf -b 8 -n 16\n").rows[0].workers, 0U) << "iterations";
}

TEST(ImportNcclRanks, HostsOfACutListMayLeaveOneSpread) {
  const auto per_node = [](const std::vector<std::string>& members, std::optional<std::size_t> workers = {}) {
    return read(rank_lines(members) + kHead2022 + kAbout16, workers).rows[0].per_node;
  };
  EXPECT_EQ(per_node({"0 a 0", "...", "7 a 7", "8 b 0", "...", "15 b 7"}), 8U) << "by hosts";
  EXPECT_EQ(per_node({"0 a 0", "...", "15 b 7"}), 8U) << "by devices";
  EXPECT_EQ(per_node({"0 a 0", "...", "15 b 0"}), 0U) << "a job may show each process one device";
  EXPECT_EQ(per_node({"0 a 0", "1 b 0", "...", "15 a 0"}), 0U) << "not one host after the other";
  EXPECT_EQ(per_node({"0 a 0", "...", "7 a 7", "8 b 0", "..."}, 16), 8U) << "with --ranks";
}

TEST(ImportNcclRanks, WhatIsAskedForSaysWhatCanBe) {
  const auto asked = [](const std::string& text) {
    return failure([&] {
      std::vector<std::string> told;
      (void)fabric_from(read(text), {}, "log", told);
    });
  };
  const std::string many =
      "8000000000 2000000000 float sum -1 80000 100.00 199.865 0 80000 100.00 199.865 0\n";
  EXPECT_EQ(asked(kHead2022 + many),
            "file log: does not say among how many ranks: expected --ranks N, which may be 1463 to 1500");
  EXPECT_THAT(asked("# nThread 1 nGpus 8\n" + std::string(kHead2022) + many),
              HasSubstr("which may be 1464 to 1496, a multiple of 8"));
  EXPECT_THAT(asked(rank_lines({"0 a 0", "...", "1470 b 0", "..."}) + kHead2022 + many),
              HasSubstr("which may be 1471 to 1500"));
}

TEST(ImportNcclRanks, BandwidthsThatFitNoNumberOfRanksTellNothing) {
  // 2(n-1)/n = 1.5151: between 4 and 5.
  const std::string between =
      "8000000000 2000000000 float sum -1 80000 100.00 151.51 0 80000 100.00 151.51 0\n";
  for (const std::size_t ranks : {4U, 5U, 100U}) {
    const NetworkLog log = read(kHead2022 + between, ranks);
    EXPECT_EQ(log.rows[0].workers, ranks);
  }
  EXPECT_EQ(read(kHead2022 + between).rows[0].workers, 0U);
  EXPECT_THAT(notes(read(kHead2022 + between)), HasSubstr("busbw / algbw fits no whole number of ranks"));
  EXPECT_EQ(refused(kHead2022 +
                    std::string("2000000 500000 float sum -1 160.0 12.50 40.00 0 150.0 13.33 40.00 0\n")),
            "file log: line 4: busbw 40 is more than twice algbw 13.33, which no number of ranks makes it: "
            "expected columns as nccl-tests prints them, and the name of their program above them");
}

}  // namespace
}  // namespace breakeven
