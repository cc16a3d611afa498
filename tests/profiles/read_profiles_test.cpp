// Do the readers take what the format says, and name file, path and nearest key for everything else?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/read.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

/// `text` with its first `from` replaced.
std::string changed(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string model(const std::string& from, const std::string& to) {
  return failure([&] { (void)read_model(changed(kTinyModel, from, to), "m.json"); });
}
std::string device(const std::string& from, const std::string& to) {
  return failure([&] { (void)read_device(changed(kTinyDevice, from, to), "d.json"); });
}
std::string fabric(const std::string& from, const std::string& to) {
  return failure([&] { (void)read_fabric(changed(kTinyFabric, from, to), "n.json"); });
}
std::string codec(const std::string& from, const std::string& to) {
  return failure([&] { (void)read_codec(changed(kTinyCodec, from, to), "c.json"); });
}

TEST(ReadModel, ReadsTensorsAndTimings) {
  const ModelProfile profile = read_model(kTinyModel, "m.json");
  EXPECT_EQ(profile.name, "tiny");
  EXPECT_EQ(profile.summary, "two layers");
  EXPECT_EQ(profile.workload.elements(), 110U);
  EXPECT_EQ(profile.workload.tensors[1].dims, (std::vector<std::size_t>{10, 10}));
  EXPECT_EQ(profile.workload.forward_flops(), 30);
  ASSERT_EQ(profile.timings.size(), 3U);
  EXPECT_EQ(profile.timings[0].other.base(), 5e-3);
  EXPECT_EQ(profile.timings[0].origin, Origin::measured);
  EXPECT_EQ(profile.timings[1].source, "a paper");
  EXPECT_EQ(profile.timings[1].other, Seconds{});
}

TEST(ReadModel, ATensorMayNameItsModule) {
  const auto text = changed(changed(kTinyModel, R"("2x5", 10)", R"("2x5", 10, "one")"), R"("10x10", 20)",
                            R"("10x10", 20, "one")");
  EXPECT_EQ(read_model(text, "m").workload.modules.size(), 1U);
  EXPECT_EQ(read_model(kTinyModel, "m").workload.modules.size(), 2U);
}

TEST(ReadModel, AThroughputIsSplitByFlops) {
  const Timing timing = read_model(kTinyModel, "m.json").timings[2];
  // 8 samples at 1000 a second; 30 of 80 FLOP are forward's.
  EXPECT_DOUBLE_EQ(timing.forward.base(), 8e-3 * 30 / 80);
  EXPECT_DOUBLE_EQ(timing.backward.base(), 8e-3 * 50 / 80);
  EXPECT_EQ(timing.precision, Precision::fp16);
  EXPECT_EQ(timing.source, "made up; batch / throughput, split by FLOPs");
}

TEST(ReadModel, NamesWhatIsWrong) {
  EXPECT_EQ(
      model("\"summary\"", "\"sumary\""),
      "file m.json: unknown key \"sumary\": expected one of schema, name, summary, source, tensors, timings "
      "(did you mean summary?)");
  EXPECT_EQ(model("\"schema\": 1", "\"schema\": 2"),
            "file m.json: /schema: is version 2: expected 1, the one that this program reads");
  EXPECT_EQ(model("\"schema\": 1, ", ""), "file m.json: the key \"schema\" is missing: expected 1");
  EXPECT_EQ(model("\"name\": \"tiny\", ", ""),
            "file m.json: the key \"name\" is missing: expected the model's name");
  EXPECT_EQ(model("\"tiny\"", "5"), "file m.json: /name: is a number: expected text");
  EXPECT_EQ(
      model("2x5", "2x"),
      "file m.json: /tensors/0/1: cannot read \"2x\" as dimensions: expected whole numbers above 0 joined by "
      "x, such as 64x3x7x7");
  for (const auto* dims :
       {"0x5", "-2x5", "2*5", "2 x 5", "x", "2x5x", "1000000000x1000000000", "99999999999999999999"}) {
    EXPECT_EQ(model("2x5", dims),
              "file m.json: /tensors/0/1: cannot read \"" + std::string(dims) +
                  "\" as dimensions: expected whole numbers above 0 joined by x, such as 64x3x7x7");
  }
  EXPECT_EQ(model(R"("2x5", 10)", R"("2x5", -10)"),
            "file m.json: /tensors/0/2: \"-10\" must not be negative: expected forward FLOPs of one sample");
  EXPECT_EQ(model(R"("2x5", 10)", R"("2x5")"), "file m.json: /tensors/0: is a list of 2: expected 3 to 4");
  EXPECT_EQ(model("b.weight", "a.weight"),
            "file m.json: /tensors: the tensor \"a.weight\" is there twice: expected each name once");
  EXPECT_EQ(failure([] { (void)read_model(R"({"schema": 1, "name": "x", "tensors": []})", "m.json"); }),
            "file m.json: /tensors: is an empty list: expected at least 1");
}

TEST(ReadModel, NamesWhatIsWrongWithATiming) {
  EXPECT_EQ(
      model("\"20 ms\"", "20"),
      "file m.json: /timings/0/backward: \"20\" has no unit: expected a number and a unit, such as 122ms or "
      "1.6us");
  EXPECT_EQ(model("\"20 ms\"", "\"0 ms\""), "file m.json: /timings/0/backward: \"0 ms\" must be above 0");
  EXPECT_EQ(
      model("\"backward\": \"20 ms\", ", ""),
      "file m.json: /timings/0: the key \"backward\" is missing: expected a time, or a throughput instead");
  EXPECT_EQ(model("\"batch\": 8", "\"batch\": 0"),
            "file m.json: /timings/0/batch: \"0\" must be above 0: expected samples of one worker");
  EXPECT_EQ(
      model("\"fp32\"", "\"fp23\""),
      "file m.json: /timings/0/precision: unknown precision \"fp23\": expected one of fp32, tf32, fp16, bf16 "
      "(did you mean fp32?)");
  EXPECT_EQ(
      model("\"measured\"", "\"guessed\""),
      "file m.json: /timings/0/origin: unknown origin \"guessed\": expected one of measured, published");
  EXPECT_EQ(model("\"throughput\": \"1000 /s\"", "\"throughput\": \"1000 /s\", \"other\": \"1 ms\""),
            "file m.json: /timings/2/other: is there beside a throughput: expected either the times or the "
            "throughput");
}

TEST(ReadDevice, ReadsNumbersWithTheirSources) {
  const DeviceProfile profile = read_device(kTinyDevice, "d.json");
  EXPECT_EQ(profile.device.memory.base(), 1e12);
  EXPECT_EQ(profile.device.capacity.base(), 8e9);
  EXPECT_EQ(profile.device.peak[0]->base(), 10e9);
  EXPECT_FALSE(profile.device.peak[2].has_value());
  EXPECT_EQ(profile.device.efficiency[0], 0.5);
  EXPECT_EQ(profile.device.peer.bandwidth.base(), 100e9);
  EXPECT_EQ(profile.sources.at("memory"), "data sheet");
  EXPECT_EQ(profile.sources.at("efficiency/fp32"), "a run");
  EXPECT_EQ(profile.sources.at("launch"), "");
}

TEST(ReadDevice, OneSourceMayStandForAll) {
  const DeviceProfile profile =
      read_device(changed(kTinyDevice, "\"schema\": 1", "\"schema\": 1, \"source\": \"all\""), "d.json");
  EXPECT_EQ(profile.sources.at("launch"), "all");
  EXPECT_EQ(profile.sources.at("peer/bandwidth"), "all");
  EXPECT_EQ(profile.sources.at("memory"), "data sheet");
}

TEST(ReadDevice, NamesWhatIsWrong) {
  EXPECT_EQ(
      device("\"launch\"", "\"lunch\""),
      "file d.json: unknown key \"lunch\": expected one of schema, name, summary, source, memory, capacity, "
      "peak, efficiency, launch, host_link, peer, nccl (did you mean launch?)");
  EXPECT_EQ(device("\"value\": \"1 TB/s\", ", ""),
            "file d.json: /memory: the key \"value\" is missing: expected a number with its unit");
  EXPECT_EQ(
      device("\"value\": \"1 TB/s\"", "\"valeu\": \"1 TB/s\""),
      "file d.json: /memory: unknown key \"valeu\": expected one of value, source (did you mean value?)");
  EXPECT_EQ(
      device("1 TB/s", "1 TB"),
      "file d.json: /memory/value: \"1 TB\" is a size, not a bandwidth: expected a number and a unit, such "
      "as 10Gbit/s or 1.25GB/s");
  EXPECT_EQ(device("\"fp32\": \"10 GFLOP/s\"", "\"fp8\": \"10 GFLOP/s\""),
            "file d.json: /peak: unknown key \"fp8\": expected one of fp32, tf32, fp16, bf16");
  EXPECT_EQ(
      device("50%", "150%"),
      "file d.json: /efficiency/fp32/value: \"150%\" is out of range: expected above 0 and at most 1, such "
      "as 92%");
  EXPECT_EQ(
      device("\"latency\": \"3 us\"", "\"latency\": \"3\""),
      "file d.json: /peer/latency: \"3\" has no unit: expected a number and a unit, such as 122ms or 1.6us");
}

TEST(ReadFabric, ReadsLevelsAndGroup) {
  const FabricProfile profile = read_fabric(kTinyFabric, "n.json");
  EXPECT_EQ(profile.fabric.across.bandwidth.base(), 5e9);
  EXPECT_EQ(profile.fabric.across.efficiency, 0.8);
  EXPECT_EQ(profile.fabric.inside.latency.base(), 2e-6);
  EXPECT_TRUE(profile.has_inside);
  EXPECT_EQ(profile.workers_per_node, 4U);
  EXPECT_EQ(profile.device, "gpu");
  EXPECT_EQ(profile.fabric.servers, 2U);
  EXPECT_FALSE(profile.fabric.full_duplex);
  EXPECT_EQ(profile.fabric.offered, (std::vector{Algorithm::ring, Algorithm::parameter_server}));
  EXPECT_EQ(profile.sources.at("across/bandwidth"), "spec");
  EXPECT_EQ(profile.sources.at("across/latency"), "vendor");
}

TEST(ReadFabric, ReadsMeasuredTables) {
  const auto text = changed(kTinyFabric, "\"schema\": 1",
                            R"("schema": 1, "tables": [{"exchange": "all_gather", "workers": 16,
                                "points": [["1 MiB", "309 us"], ["2 MiB", "400 us"]], "source": "x"}])");
  const Fabric read = read_fabric(text, "n.json").fabric;
  ASSERT_EQ(read.tables.size(), 1U);
  EXPECT_EQ(read.tables[0].exchange, Exchange::all_gather);
  EXPECT_EQ(read.tables[0].workers, 16U);
  EXPECT_EQ(read.tables[0].points[1].payload, 2_MiB);
  const auto table = [&](const std::string& from, const std::string& to) {
    return failure([&] { (void)read_fabric(changed(text, from, to), "n.json"); });
  };
  EXPECT_EQ(
      table("2 MiB", "1 MiB"),
      "file n.json: /tables/0/points/1/0: \"1 MiB\" is not above the point before: expected rising sizes");
  EXPECT_EQ(
      table("all_gather", "allgather"),
      "file n.json: /tables/0/exchange: unknown exchange \"allgather\": expected one of none, all_reduce, "
      "reduce_scatter, all_gather, all_to_all, push_pull, tree_step, broadcast (did you mean all_gather?)");
  EXPECT_EQ(table("all_gather", "tree_step"),
            "file n.json: /tables/0/exchange: a \"tree_step\" is one message, and takes as long as its "
            "distance says: "
            "expected all_reduce, all_gather ...");
  EXPECT_EQ(read_fabric(changed(text, "all_gather", "broadcast"), "n.json").fabric.tables[0].exchange,
            Exchange::broadcast);
  EXPECT_EQ(table("\"workers\": 16", "\"workers\": 1"),
            "file n.json: /tables/0/workers: 1 is too few: expected 2 workers or more");
  EXPECT_EQ(table(", [\"2 MiB\", \"400 us\"]", ""),
            "file n.json: /tables/0/points: is a list of 1: expected at least 2");
  EXPECT_EQ(table("1 MiB", "0.5 B"),
            "file n.json: /tables/0/points/0/0: \"0.5 B\" is less than a byte: expected rising sizes");
  EXPECT_EQ(table("400 us", "309 s"),
            "file n.json: /tables/0/points/1: the time changes as the size to the power of 19.9: expected "
            "times that change slower, or sizes further apart");
}

TEST(ReadFabric, ReadsWhatNcclsModelAsks) {
  const auto text =
      changed(kTinyFabric, "\"schema\": 1",
              R"("schema": 1, "nccl": {"architecture": "hopper", "peers": "nvswitch", "cpu": "amd",
                                "channels": 16, "latency": "75 us", "gpudirect": true, "collnet": true, "source": "x"})");
  const FabricProfile profile = read_fabric(text, "n.json");
  const NcclTopology& nccl = profile.fabric.nccl;
  EXPECT_EQ(nccl.architecture, Architecture::hopper);
  EXPECT_EQ(nccl.peers, PeerLink::nvswitch);
  EXPECT_EQ(nccl.cpu, CpuVendor::amd);
  EXPECT_EQ(nccl.channels, 16U);
  EXPECT_EQ(nccl.latency, Seconds::of(75e-6));
  EXPECT_TRUE(nccl.gpudirect && nccl.collnet);
  EXPECT_EQ(profile.sources.at("nccl"), "x");
  const auto wrong = [&](const std::string& from, const std::string& to) {
    return failure([&] { (void)read_fabric(changed(text, from, to), "n.json"); });
  };
  EXPECT_EQ(wrong("hopper", "hoper"),
            "file n.json: /nccl/architecture: unknown architecture \"hoper\": expected one of volta, turing, "
            "ampere, "
            "ada, hopper, blackwell (did you mean hopper?)");
  EXPECT_EQ(wrong("16,", "0,"), "file n.json: /nccl/channels: 0 channels: expected 1 to 64");
  EXPECT_EQ(wrong("16,", "65,"), "file n.json: /nccl/channels: 65 channels: expected 1 to 64");
  EXPECT_EQ(wrong("75 us", "-75 us").substr(0, 45), "file n.json: /nccl/latency: \"-75 us\" must not");
  EXPECT_THAT(wrong("gpudirect", "gpu_direct"), testing::HasSubstr("/nccl: unknown key \"gpu_direct\""));
}

TEST(ReadFabric, ConnectionsBoundWhatANodeSends) {
  const auto flows = [](const std::string& more) {
    return changed(kTinyFabric, "\"latency\": \"20 us\"", more + ", \"latency\": \"20 us\"");
  };
  const FabricProfile one =
      read_fabric(flows(R"("flow": {"value": "5 Gbit/s", "source": "limit"}, "flows": 2)"), "n.json");
  EXPECT_EQ(one.fabric.across.bandwidth.base(), 2 * 5e9 / 8) << "of a line of 40 Gbit/s";
  EXPECT_EQ(one.sources.at("across/bandwidth"), "connections: limit");
  const FabricProfile many = read_fabric(flows(R"("flow": "5 Gbit/s", "flows": 16)"), "n.json");
  EXPECT_EQ(many.fabric.across.bandwidth.base(), 5e9) << "the line itself";
  EXPECT_EQ(many.flows, 16U);
  EXPECT_EQ(many.sources.at("across/bandwidth"), "spec");
  const auto wrong = [&](const std::string& more) {
    return failure([&] { (void)read_fabric(flows(more), "n.json"); });
  };
  EXPECT_EQ(wrong(R"("flow": "5 Gbit/s")"),
            "file n.json: /across: the key \"flows\" is missing: expected \"flow\", what one connection "
            "carries, and "
            "\"flows\", their number");
  EXPECT_EQ(wrong(R"("flow": "5 Gbit/s", "flows": 0)"),
            "file n.json: /across/flows: 0 is too few: expected 1 connection or more");
  EXPECT_THAT(wrong(R"("flow": "0 Gbit/s", "flows": 1)"),
              testing::HasSubstr("/across/flow: \"0 Gbit/s\" must be above 0"));
  EXPECT_EQ(failure([&] {
              (void)read_fabric(changed(kTinyFabric, "\"latency\": \"2 us\"",
                                        "\"flow\": \"1 Gbit/s\", \"flows\": 1, \"latency\": \"2 us\""),
                                "n.json");
            }),
            "file n.json: /inside: has connections: expected \"flow\" and \"flows\" of \"across\"");
}

TEST(ReadFabric, NamesWhatIsWrong) {
  EXPECT_EQ(fabric("\"ps\"", "\"pss\"").substr(0, 54),
            "file n.json: /algorithms/1: unknown algorithm \"pss\": e");
  EXPECT_EQ(fabric("\"ps\"", "\"auto\""),
            "file n.json: /algorithms/1: \"auto\" is the choice among these: expected algorithms");
  EXPECT_EQ(fabric("\"workers_per_node\": 4", "\"workers_per_node\": 0"),
            "file n.json: /workers_per_node: 0 is too few: expected 1 worker or more");
  EXPECT_EQ(fabric("false", "\"no\""), "file n.json: /full_duplex: is text: expected a boolean");
  EXPECT_EQ(failure([] { (void)read_fabric(R"({"schema": 1, "name": "x"})", "n.json"); }),
            "file n.json: has no links: expected \"across\", \"inside\" or both");
}

TEST(ReadCodec, ReadsCurves) {
  const CodecProfile profile = read_codec(kTinyCodec, "c.json");
  ASSERT_EQ(profile.costs.size(), 1U);
  const CodecCosts& costs = profile.costs[0];
  EXPECT_EQ(costs.scheme, "topk:ratio=0.05");
  EXPECT_EQ(costs.device, "gpu");
  EXPECT_EQ(costs.origin, Origin::measured);
  EXPECT_EQ(costs.encode.points[1].time, 2_ms);
  EXPECT_EQ(costs.decode.points[0].time, Seconds::of(0.5e-3));
  EXPECT_EQ(costs.spread, 0.05);
  EXPECT_EQ(costs.source, "a bench");
}

TEST(ReadCodec, ReadsFurtherPayloadsAndConditions) {
  const std::string text =
      changed(changed(kTinyCodec, "\"spread\"", R"("decode_next": [[1000, "0.2 ms"]], "spread")"),
              "\"costs\"", R"("conditions": {"simd": "AVX2", "threads": "2"}, "costs")");
  const CodecProfile profile = read_codec(text, "c.json");
  EXPECT_EQ(profile.costs[0].decode_next.points.front().time, Seconds::of(0.2e-3));
  EXPECT_EQ(profile.conditions,
            (std::vector<std::pair<std::string, std::string>>{{"simd", "AVX2"}, {"threads", "2"}}));
  EXPECT_TRUE(read_codec(kTinyCodec, "c.json").conditions.empty());
  const auto conditions = [](const std::string& stated) {
    return codec("\"costs\"", "\"conditions\": " + stated + ", \"costs\"");
  };
  EXPECT_EQ(conditions("{\"threads\": 2}"), "file c.json: /conditions/threads: is a number: expected text");
  EXPECT_EQ(conditions("{\"\": \"a\"}"),
            "file c.json: /conditions: a key is empty: expected the name of a condition");
}

TEST(ReadCodec, NamesWhatIsWrong) {
  EXPECT_EQ(codec("2000", "1000"),
            "file c.json: /costs/0/encode/1/0: 1000 is not above 1000: expected rising numbers of elements");
  EXPECT_EQ(codec("\"2 ms\"", "\"-2 ms\""),
            "file c.json: /costs/0/encode/1/1: \"-2 ms\" must not be negative: expected 0 or more");
  EXPECT_EQ(codec("[[1000, \"0.5 ms\"]]", "[]"),
            "file c.json: /costs/0/decode: is an empty list: expected at least 1");
  EXPECT_EQ(
      codec("\"spread\"", "\"spraed\""),
      "file c.json: /costs/0: unknown key \"spraed\": expected one of scheme, encode, decode, decode_next, "
      "spread, source (did you mean spread?)");
  EXPECT_EQ(codec("5%", "-5%"),
            "file c.json: /costs/0/spread: \"-5%\" must not be negative: expected a fraction, such as 5%");
  EXPECT_EQ(
      codec("\"spread\": \"5%\"}",
            R"("spread": "5%"}, {"scheme": "topk:ratio=0.05", "encode": [[1000, "1 ms"]],
                  "decode": [[1000, "1 ms"]]})"),
      "file c.json: /costs/1: the scheme \"topk:ratio=0.05\" is there twice: expected each scheme once");
  EXPECT_EQ(codec("5%", "500%"),
            "file c.json: /costs/0/spread: \"500%\" must be at most 1: expected a fraction, such as 5%");
}

}  // namespace
}  // namespace breakeven
