// Is what perftest and iperf3 say of one link understood, and what it does not say?
#include <gmock/gmock.h>

#include <filesystem>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/network_logs.h"

namespace breakeven {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string perftest_refused(const std::string& text) {
  return failure([&] { (void)read_perftest(text, "log"); });
}
std::string iperf3_refused(const std::string& text) {
  return failure([&] { (void)read_iperf3(text, "log"); });
}
const std::string kGbits =
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";

TEST(ImportPerftest, TheAverageOfTheLargestSizeIsTheLink) {
  const NetworkLog log = read_perftest(
      "---------------------------------------------------------------------------------------\n"
      "                    RDMA_Write BW Test\n"
      " Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 4\t\tTransport type : IB\n"
      "---------------------------------------------------------------------------------------\n"
      " local address: LID 0000 QPN 0x0901 PSN 0x5e30c8 RKey 0x2000201 VAddr 0x007fe663d20000\n"
      " GID: 00:00:00:00:00:00:00:00:00:00:255:255:01:01:101:45\n" +
          kGbits +
          "Conflicting CPU frequency values detected: 1500.000000 != 3300.016000. CPU Frequency is not max.\n"
          " 2          5000           0.142947            0.012281            0.767588\n"
          " 65536      560845           0.00               98.40                0.186950\n"
          "---------------------------------------------------------------------------------------\n",
      "log");
  EXPECT_EQ(log.program, "perftest (RDMA_Write)");
  ASSERT_TRUE(log.link.has_value());
  EXPECT_DOUBLE_EQ(log.link->bandwidth.base(), 12.3e9);
  EXPECT_FALSE(log.link->latency.has_value());
  EXPECT_EQ(notes(log),
            "one direction between two machines: 2 rows, the average at 64 KiB counts, by 4 queue pairs at "
            "once\na node with several ports sends more: --bandwidth says how much\n");
}

TEST(ImportPerftest, ItsMegabytesAreBinary) {
  for (const std::string unit : {"MB/sec", "MiB/sec"}) {
    const NetworkLog log = read_perftest(" #bytes  #iterations  BW peak[" + unit + "]  BW average[" + unit +
                                             "]  MsgRate[Mpps]\n"
                                             " 65536  5000  11000.00  10000.00  0.16\n",
                                         "log");
    EXPECT_DOUBLE_EQ(log.link->bandwidth.base(), 10000.0 * 1048576);
  }
}

TEST(ImportPerftest, WhatIsNoBandwidthOfOneDirectionIsRefused) {
  EXPECT_EQ(perftest_refused(kGbits + "65536 5000 98.0 0.00 0.18\n"),
            "file log: line 2: cannot use \"0.00\" as an average bandwidth: expected a number above 0");
  EXPECT_EQ(perftest_refused(kGbits + "65536 5000 98.0 nan 0.18\n"),
            "file log: line 2: cannot use \"nan\" as an average bandwidth: expected a number above 0");
  EXPECT_EQ(perftest_refused(kGbits + "65536 5000 98.0 1e300 0.18\n"),
            "file log: line 2: cannot use \"1e300\" as an average bandwidth: expected a number above 0");
  EXPECT_EQ(perftest_refused(kGbits + "65536 5000 98.0\n"),
            "file log: line 2: the row is cut short: 3 columns: expected at least 4");
  EXPECT_EQ(
      perftest_refused("   RDMA_Write Bidirectional BW Test\n" + kGbits + "65536 5000 98.0 97.0 0.18\n"),
      "file log: line 1: a bidirectional test adds up both directions: expected a run without -b");
  EXPECT_EQ(
      perftest_refused(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]\n"),
      "file log: line 1: is of a latency test, which tells no bandwidth: expected BW average[Gb/sec] or BW "
      "average[MB/sec], of a bandwidth test");
  EXPECT_THAT(perftest_refused(" #bytes #iterations BW peak[KB/sec] BW average[KB/sec]\n"),
              StartsWith("file log: line 1: has no average bandwidth"));
  EXPECT_EQ(
      perftest_refused("{\"results\":{\"BW_average\":98.0}}"),
      "file log: is JSON, whose unit depends on how the test was run: expected what ib_write_bw prints, "
      "with its line of #bytes and BW average");
  EXPECT_THAT(perftest_refused(""), StartsWith("file log: has no rows to use"));
  EXPECT_THAT(perftest_refused(kGbits), StartsWith("file log: has no rows to use"));
}

struct Iperf3 {
  std::string remote = "10.0.0.2", test = R"("protocol":"TCP","num_streams":1)";
  std::string streams = R"([{"sender":{"mean_rtt":400,"min_rtt":240}},{"sender":{"mean_rtt":900}}])";
  std::string sums = R"("sum_sent":{"bits_per_second":9.9e9},"sum_received":{"bits_per_second":8e9})";

  [[nodiscard]] std::string text() const {
    // The keys that 3.12 writes once a stream are there twice.
    return "{\n\t\"start\":\t{\"connected\":[{\"local_host\":\"10.0.0.1\",\"remote_host\":\"" + remote +
           "\"}],\"version\":\"iperf 3.12\",\"sock_bufsize\":0,\"sock_bufsize\":0,\n\t\"test_start\":\t{" +
           test + "}},\"intervals\":[],\"end\":{\"streams\":" + streams + "," + sums + "}}";
  }
};

TEST(ImportIperf3, WhatArrivedIsTheLinkAndHalfARoundTripItsLatency) {
  const NetworkLog log = read_iperf3(Iperf3().text(), "log");
  EXPECT_EQ(log.program, "iperf 3.12");
  EXPECT_DOUBLE_EQ(log.link->bandwidth.base(), 1e9);
  EXPECT_DOUBLE_EQ(log.link->latency.value_or(Seconds{}).base(), 120e-6);
  EXPECT_EQ(notes(log),
            "one direction between two machines: TCP by 1 stream\n"
            "latency: half of the least round trip under load, 240 us\n");
  Iperf3 receiver;  // --reverse: the other machine sends, and does not tell
  receiver.streams = R"([{"sender":{"bits_per_second":1}}])";
  EXPECT_FALSE(read_iperf3(receiver.text(), "log").link->latency.has_value());
}

TEST(ImportIperf3, StreamsAndLoopbackAreSaid) {
  Iperf3 run;
  run.test = R"("protocol":"TCP","num_streams":8)";
  EXPECT_THAT(notes(read_iperf3(run.text(), "log")), HasSubstr("TCP by 8 streams\n"));
  EXPECT_THAT(notes(read_iperf3(run.text(), "log")),
              HasSubstr("one connection of a collective may reach less"));
  EXPECT_THAT(notes(read_iperf3(run.text(), "log")), Not(HasSubstr("no network was measured")));
  for (const char* remote : {"127.0.0.1", "::1", "10.0.0.1"}) {
    run.remote = remote;
    EXPECT_THAT(notes(read_iperf3(run.text(), "log")), HasSubstr("no network was measured"));
  }
}

TEST(ImportIperf3, ABusyOtherDirectionIsSaid) {
  Iperf3 run;
  run.test += R"(,"bidir":0)";
  EXPECT_THAT(notes(read_iperf3(run.text(), "log")), Not(HasSubstr("the other direction")));
  run.test = R"("protocol":"TCP","num_streams":1,"bidir":1)";
  EXPECT_THAT(notes(read_iperf3(run.text(), "log")), HasSubstr("the other direction was busy too\n"));
}

TEST(ImportIperf3, WhatUdpLostIsTakenOff) {
  Iperf3 run;
  run.test = R"("protocol":"UDP","num_streams":1)";
  run.streams = R"([{"udp":{}}])";
  run.sums = R"("sum":{"bits_per_second":8e9,"lost_percent":25})";
  EXPECT_DOUBLE_EQ(read_iperf3(run.text(), "log").link->bandwidth.base(), 0.75e9);
  run.sums += R"(,"sum_received":{"bits_per_second":4e9})";
  EXPECT_DOUBLE_EQ(read_iperf3(run.text(), "log").link->bandwidth.base(), 0.5e9);
  run.sums = R"("sum":{"bits_per_second":8e9,"lost_percent":125})";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /end/sum/lost_percent: 125 is no share: expected 0 to 100");
}

TEST(ImportIperf3, WhatFailedOrMakesNoSenseIsRefusedWithItsPlace) {
  EXPECT_EQ(
      iperf3_refused(R"({"start":{},"end":{},"error":"unable to connect to server: Connection refused"})"),
      "file log: iperf3 failed: \"unable to connect to server: Connection refused\": expected a run that "
      "ended");
  EXPECT_EQ(iperf3_refused("Connecting to host 10.0.0.2, port 5201\n[ ID] Interval Transfer Bitrate\n"),
            "file log: is no JSON: expected what iperf3 --json writes");
  EXPECT_EQ(
      iperf3_refused("{\"event\":\"start\",\"data\":{}}\n{\"event\":\"end\",\"data\":{}}\n"),
      "file log: has an event a line, as iperf3 --json-stream writes: expected one object, as iperf3 --json "
      "writes");
  Iperf3 run;
  run.sums = R"("sum_received":{"bits_per_second":0})";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /end: nothing arrived: expected bits_per_second of 1 or more");
  run.sums = R"("sum_received":{"bits_per_second":-1})";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /end: nothing arrived: expected bits_per_second of 1 or more");
  run.sums = R"("sum_received":{"bits_per_second":"8e9"})";
  EXPECT_THAT(iperf3_refused(run.text()), StartsWith("file log: /end/sum_received/bits_per_second: is text"));
  run.sums = R"("sum_received":{"bits_per_second":1e9,"bits_per_second":2e9})";
  EXPECT_THAT(iperf3_refused(run.text()), HasSubstr("the key \"bits_per_second\" is there twice"));
  run.sums = R"("sum_sent":{"bits_per_second":1e9})";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /end: the key \"sum_received\" is missing: expected the sum over all streams");
  run.streams = R"([{"sender":{"min_rtt":-5}}])";
  run.sums = R"("sum_received":{"bits_per_second":1e9})";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /end/streams/0/sender/min_rtt: -5 us are no round trip: expected 0 to 1e9");
  run.test = R"("protocol":"QUIC","num_streams":1)";
  EXPECT_EQ(iperf3_refused(run.text()),
            "file log: /start/test_start/protocol: unknown protocol \"QUIC\": expected TCP, UDP or SCTP");
  EXPECT_THAT(iperf3_refused(run.text().substr(0, 60)), StartsWith("file log:"));
  EXPECT_EQ(iperf3_refused(""), "file log: is empty: expected JSON");
}

TEST(ImportIperf3, TheSamplesAreUnderstood) {
  const std::string folder = std::string(BREAKEVEN_SOURCE_DIR) + "/../shared/samples/iperf3/";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the samples are not here: " << folder;
  }
  const std::string good = folder + "iperf3-3.12_loopback_P2_t2.json";
  const NetworkLog log = read_iperf3(read_text(good), good);
  EXPECT_NEAR(log.link->bandwidth.base(), 9.9463e9 / 8, 1e6);
  EXPECT_THAT(notes(log), HasSubstr("no network was measured"));
  const std::string bad = folder + "iperf3-3.12_error.json";
  EXPECT_THAT(failure([&] { (void)read_iperf3(read_text(bad), bad); }), HasSubstr("Connection refused"));
}

TEST(ImportLink, TheFabricSaysWhatItAssumes) {
  NetworkLog log;
  log.program = "a link test";
  log.link = LinkRate{BytesPerSecond::of(1.2432926e9), {}};
  std::vector<std::string> said;
  const FabricProfile profile = read_fabric(write_fabric(fabric_from(log, {}, "log", said)), "written");
  EXPECT_DOUBLE_EQ(profile.fabric.across.bandwidth.base(), 1.243e9);
  EXPECT_EQ(profile.sources.count("across/efficiency"), 0U);
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0],
            "what a node sends: 1.24 GB/s, all of which collectives are assumed to reach: they reach less, "
            "--efficiency says how much");
  EXPECT_EQ(said[1],
            "latency not known: a query assumes that of 10 Gbit/s Ethernet where --latency does not say");
  NetworkOptions options;
  options.workers = 4;
  EXPECT_EQ(failure([&] { (void)fabric_from(log, options, "log", said); }),
            "value --ranks: a test of one link has no ranks: expected no such option");
}

}  // namespace
}  // namespace breakeven
