// Does every scenario option change what it says, and does every input say where it comes from?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/options.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// 8 workers on 2 nodes of 4, 10 Gbit/s, with measured times.
OptionValues base() {
  return {{"model", "tiny"}, {"device", "gpu"},         {"batch", "8"},
          {"workers", "8"},  {"workers-per-node", "4"}, {"bandwidth", "10 Gbit/s"}};
}
ScenarioSetup with_base(const OptionValues& more) {
  return tiny(with(base(), more));
}
std::string refused(const OptionValues& more) {
  return failure([&] { (void)with_base(more); });
}

TEST(Resolve, TheBaseIsWhatItSays) {
  const ScenarioSetup setup = with_base({});
  EXPECT_THAT(setup.warnings, IsEmpty());
  EXPECT_EQ(setup.title,
            "tiny \u00b7 batch 8 \u00b7 8 x gpu in 2 nodes of 4 \u00b7 10 Gbit/s a node \u00b7 fp32 "
            "gradients, 440 B "
            "\u00b7 DDP buckets of 25 MiB");
  EXPECT_EQ(stated(setup, "model"), "tiny, given, made up");
  EXPECT_EQ(stated(setup, "device"), "gpu, given, a device");
  EXPECT_EQ(stated(setup, "device_memory"), "1 TB/s, published, data sheet");
  EXPECT_EQ(stated(setup, "device_launch"), "10 us, published, ");
  EXPECT_EQ(stated(setup, "gradient_bytes"), "440 B, published, elements of the model x size of their type");
  EXPECT_EQ(stated(setup, "grad_dtype"), "fp32, assumed, PyTorch's default");
  EXPECT_EQ(stated(setup, "compute_dtype"), "fp32, assumed, as the gradients");
  EXPECT_EQ(stated(setup, "batch"), "8, given, ");
  EXPECT_EQ(stated(setup, "forward"), "10 ms, measured, a stopwatch");
  EXPECT_EQ(stated(setup, "backward"), "20 ms, measured, a stopwatch");
  EXPECT_EQ(stated(setup, "other"), "5 ms, measured, a stopwatch");
  EXPECT_EQ(stated(setup, "workers"), "8, given, ");
  EXPECT_EQ(stated(setup, "workers_per_node"), "4, given, ");
  EXPECT_EQ(stated(setup, "bandwidth"), "10 Gbit/s, given, ");
  EXPECT_EQ(input(setup, "bandwidth").value, 1.25e9);
  EXPECT_EQ(input(setup, "bandwidth").unit, "B/s");
  EXPECT_EQ(input(setup, "latency").value, 45.25e-6);
  EXPECT_EQ(input(setup, "latency").origin, Origin::published);
  EXPECT_EQ(stated(setup, "efficiency"), "100%, assumed, the bandwidth is what a node can send");
  EXPECT_EQ(stated(setup, "intra_bandwidth"), "100 GB/s, published, the device gpu");
  EXPECT_EQ(stated(setup, "algorithm"),
            "auto: the cheapest of ring, double-tree, assumed, default: as NCCL chooses");
  EXPECT_EQ(stated(setup, "schedule"), "ddp, assumed, default: as PyTorch DDP");
  EXPECT_EQ(stated(setup, "gamma"),
            "1.07, published, middle of the 1.04 to 1.1 that arXiv 2103.00543 observed");
  EXPECT_EQ(stated(setup, "placement"), "each scheme's own, assumed, default: as its implementations run it");
  EXPECT_EQ(stated(setup, "method"), "timeline, assumed, default");
  EXPECT_EQ(stated(setup, "margin"), "2%, assumed, default");
  EXPECT_EQ(setup.compute, Origin::measured);
  EXPECT_EQ(setup.judge.compute_uncertainty, uncertainty(Origin::measured));
  ASSERT_EQ(setup.codecs.size(), 1U);
  EXPECT_EQ(setup.codecs[0].scheme, "topk:ratio=0.05");
}

TEST(Resolve, EveryNumberOfTheClusterLandsInTheScenario) {
  const auto fabric = [](const OptionValues& more) { return with_base(more).scenario.fabric; };
  EXPECT_EQ(fabric({{"bandwidth", "25Gbps"}}).across.bandwidth, 25_Gbps);
  EXPECT_EQ(fabric({{"latency", "9us"}}).across.latency, Seconds::of(parse<Seconds>("9us").base()));
  EXPECT_EQ(fabric({{"efficiency", "60%"}}).across.efficiency, 0.6);
  EXPECT_EQ(fabric({{"intra-bandwidth", "7GB/s"}}).inside.bandwidth, 7_GBps);
  EXPECT_EQ(fabric({{"intra-latency", "2us"}}).inside.latency, parse<Seconds>("2us"));
  EXPECT_EQ(fabric({}).inside.bandwidth, 100_GBps);
  EXPECT_EQ(fabric({}).inside.name, "wire");
  const Scenario scenario = with_base({{"workers", "12"}, {"workers-per-node", "3"}}).scenario;
  EXPECT_EQ(scenario.workers, 12U);
  EXPECT_EQ(scenario.workers_per_node, 3U);
  EXPECT_EQ(with_base({{"algorithm", "tree"}}).scenario.algorithm, Algorithm::tree);
  EXPECT_EQ(fabric({{"algorithm", "ps"}, {"servers", "3"}}).servers, 3U);
  EXPECT_TRUE(fabric({{"algorithm", "ps"}, {"duplex", "full"}}).full_duplex);
  EXPECT_FALSE(fabric({{"algorithm", "ps"}, {"duplex", "half"}}).full_duplex);
}

TEST(Resolve, EveryChoiceOfMethodLandsInTheScenario) {
  const auto overlap = [](const OptionValues& more) { return with_base(more).scenario.overlap; };
  EXPECT_EQ(overlap({{"gamma", "1.2"}}).gamma, 1.2);
  EXPECT_EQ(overlap({{"gamma-codec", "1.3"}}).gamma_codec, 1.3);
  EXPECT_EQ(overlap({}).placement, std::nullopt);
  EXPECT_EQ(overlap({{"placement", "serial"}}).placement, Placement::serial);
  EXPECT_EQ(overlap({{"placement", "hook"}}).placement, Placement::hook);
  EXPECT_EQ(overlap({{"placement", "blocking"}}).placement, Placement::blocking);
  EXPECT_EQ(overlap({{"placement", "stream"}}).placement, Placement::stream);
  EXPECT_EQ(overlap({}).bucket_copy, BytesPerSecond{});
  EXPECT_EQ(overlap({{"bucket-copy", "15GB/s"}}).bucket_copy, BytesPerSecond::of(15e9));
  EXPECT_EQ(overlap({{"placement", "host"}}).host.name, "cpu");
  EXPECT_EQ(overlap({{"placement", "host"}, {"host", "gpu"}}).host.name, "gpu");
  const auto schedule = [](const OptionValues& more) { return with_base(more).scenario.schedule.spec; };
  EXPECT_EQ(schedule({{"schedule", "wfbp"}}), "wfbp");
  EXPECT_EQ(schedule({{"bucket", "30 MiB"}}), "ddp:cap=30MiB");
  EXPECT_EQ(schedule({{"schedule", "ddp:first=2MiB"}, {"bucket", "30MiB"}}), "ddp:first=2MiB,cap=30MiB");
  EXPECT_EQ(schedule({{"method", "closed-form"}}), "equal");
  EXPECT_EQ(schedule({{"method", "closed-form"}, {"bucket", "25MB"}}), "equal:cap=25MB");
  const Scenario closed = with_base({{"method", "closed-form"}, {"last-bucket", "inside"}}).scenario;
  EXPECT_EQ(closed.method, Method::closed_form);
  EXPECT_TRUE(closed.last_bucket_inside);
  EXPECT_FALSE(with_base({{"method", "closed-form"}}).scenario.last_bucket_inside);
  const JudgeOptions judge = with_base({{"margin", "5%"}, {"extra-steps", "0.1"}}).judge;
  EXPECT_EQ(judge.margin, 0.05);
  EXPECT_EQ(judge.extra_steps, 0.1);
}

TEST(Resolve, TheGradientsTypeSetsTheirSize) {
  EXPECT_EQ(with_base({{"grad-dtype", "fp32"}}).scenario.workload.gradient, Element::f32);
  EXPECT_EQ(with_base({{"grad-dtype", "fp16"}}).scenario.workload.gradient_bytes(), 220_B);
  const ScenarioSetup bf16 = with_base({{"grad-dtype", "bf16"}});
  EXPECT_EQ(bf16.scenario.workload.gradient, Element::bf16);
  EXPECT_EQ(stated(bf16, "compute_dtype"), "bf16, assumed, as the gradients");
}

TEST(Resolve, ASizeAloneIsAWorkloadWithoutShapes) {
  const ScenarioSetup setup =
      tiny({{"gradient-bytes", "97MB"}, {"backward", "122ms"}, {"workers", "96"}, {"bandwidth", "10Gbps"}});
  EXPECT_EQ(setup.scenario.workload.gradient_bytes(), 97_MB);
  EXPECT_EQ(setup.scenario.workload.modules.size(), 1U);
  EXPECT_EQ(setup.scenario.dense_bytes, std::nullopt);
  EXPECT_EQ(setup.title,
            "gradient of unknown shape \u00b7 96 workers, one a node \u00b7 10 Gbit/s a node \u00b7 fp32 "
            "gradients, 97 "
            "MB \u00b7 DDP buckets of 25 MiB");
  EXPECT_EQ(
      tiny({{"gradient-bytes", "5B"}, {"backward", "1s"}, {"workers", "1"}}).scenario.workload.elements(),
      2U);
}

TEST(Resolve, ASizeBesideAModelRoundsThePlainGradientOfTheClosedForm) {
  const ScenarioSetup setup = with_base({{"gradient-bytes", "400B"}, {"method", "closed-form"}});
  EXPECT_EQ(setup.scenario.dense_bytes, 400_B);
  EXPECT_EQ(setup.scenario.workload.elements(), 110U);
  EXPECT_EQ(stated(setup, "dense_bytes"), "400 B, given, what plain all-reduce exchanges");
  EXPECT_THAT(setup.title,
              HasSubstr("fp32 gradients, 400 B \u00b7 equal buckets of 25 MiB \u00b7 closed form"));
  EXPECT_EQ(refused({{"gradient-bytes", "400B"}}),
            "value --gradient-bytes: is given beside --model: expected one of them (both only with --method "
            "closed-form)");
}

TEST(Resolve, AFabricSuppliesItsNumbersAndItsInstance) {
  const ScenarioSetup setup = tiny({{"model", "tiny"}, {"batch", "8"}, {"workers", "8"}, {"fabric", "box"}});
  EXPECT_THAT(setup.warnings, IsEmpty());
  EXPECT_EQ(stated(setup, "fabric"), "box, given, vendor");
  EXPECT_EQ(stated(setup, "device"), "gpu, published, the fabric box");
  EXPECT_EQ(stated(setup, "workers_per_node"), "4, published, the fabric box");
  EXPECT_EQ(stated(setup, "bandwidth"), "40 Gbit/s, published, spec");
  EXPECT_EQ(stated(setup, "latency"), "20 us, published, vendor");
  EXPECT_EQ(stated(setup, "efficiency"), "80%, published, a run");
  EXPECT_EQ(stated(setup, "intra_bandwidth"), "50 GB/s, published, vendor");
  EXPECT_EQ(stated(setup, "algorithm"), "auto: the cheapest of ring, ps, assumed, default: as NCCL chooses");
  EXPECT_EQ(stated(setup, "servers"), "2, published, the fabric");
  EXPECT_EQ(setup.scenario.fabric.across.effective(), 4_GBps);
  EXPECT_FALSE(setup.scenario.fabric.full_duplex);
}

TEST(Resolve, WhatIsGivenOverridesTheFabric) {
  const ScenarioSetup setup = tiny({{"model", "tiny"},
                                    {"batch", "8"},
                                    {"workers", "8"},
                                    {"fabric", "box"},
                                    {"workers-per-node", "2"},
                                    {"bandwidth", "16Gbps"},
                                    {"servers", "0"},
                                    {"duplex", "full"}});
  EXPECT_EQ(setup.scenario.workers_per_node, 2U);
  EXPECT_EQ(setup.scenario.fabric.across.bandwidth, 2_GBps);
  EXPECT_EQ(setup.scenario.fabric.across.efficiency, 0.8);
  EXPECT_EQ(stated(setup, "latency"), "20 us, published, vendor");
  EXPECT_EQ(setup.scenario.fabric.servers, 0U);
  EXPECT_TRUE(setup.scenario.fabric.full_duplex);
}

TEST(Resolve, AFabricWithoutANetworkIsOneNode) {
  const TemporaryDirectory directory;
  const std::string path = directory.file(
      "link.json", R"({"schema": 1, "name": "link", "inside": {"bandwidth": "60 GB/s", "latency": "1 us"}})");
  const OptionValues values = {
      {"model", "tiny"}, {"device", "gpu"}, {"batch", "8"}, {"workers", "6"}, {"fabric", path}};
  const ScenarioSetup setup = tiny(values);
  EXPECT_EQ(setup.scenario.group().nodes(), 1U);
  EXPECT_EQ(stated(setup, "workers_per_node"), "6, assumed, the fabric has links inside a node only");
  EXPECT_THAT(setup.title, HasSubstr("6 x gpu in one node \u00b7 60 GB/s inside the node"));
  EXPECT_EQ(
      failure([&] {
        (void)tiny(with(values, {{"workers-per-node", "2"}}));
      }),
      "value --bandwidth: is missing: expected what one node can send, such as 25Gbit/s, or --fabric NAME");
}

TEST(Resolve, MeasuredTablesAreDroppedAloudWhenTheirLinksAreReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("t.json", R"({"schema": 1, "name": "t",
    "across": {"bandwidth": "10 GB/s", "latency": "1 us"},
    "tables": [{"exchange": "all_reduce", "workers": 8, "points": [["1 MB", "1 ms"], ["2 MB", "2 ms"]]}]})");
  const OptionValues values = {
      {"model", "tiny"}, {"device", "gpu"}, {"batch", "8"}, {"workers", "8"}, {"fabric", path}};
  EXPECT_EQ(tiny(values).scenario.fabric.tables.size(), 1U);
  const ScenarioSetup setup = tiny(with(values, {{"latency", "2us"}}));
  EXPECT_TRUE(setup.scenario.fabric.tables.empty());
  EXPECT_THAT(
      setup.warnings,
      ElementsAre(
          "the measured times of the fabric t are not used: --latency replaces what they were taken on"));
}

TEST(Resolve, WithoutADeviceItsNumbersAreAssumedAloud) {
  const ScenarioSetup setup =
      tiny({{"model", "tiny"}, {"backward", "20ms"}, {"workers", "4"}, {"bandwidth", "1Gbps"}});
  EXPECT_EQ(stated(setup, "device"), "unknown, assumed, the numbers of v100 stand in for it");
  EXPECT_EQ(input(setup, "device_memory").origin, Origin::assumed);
  EXPECT_THAT(
      setup.warnings,
      ElementsAre("no --device: memory, kernel launches and links inside a node are taken from v100"));
  EXPECT_THAT(setup.codecs, IsEmpty()) << "curves of a device that nobody named";
}

TEST(Resolve, AnOptionThatChangesNothingIsSaid) {
  EXPECT_THAT(with_base({{"workers", "4"}, {"latency", "1us"}}).warnings,
              ElementsAre("--bandwidth changes nothing here: all workers are in one node",
                          "--latency changes nothing here: all workers are in one node"));
  EXPECT_THAT(
      with_base({{"workers-per-node", "1"}, {"intra-bandwidth", "9GB/s"}, {"intra-latency", "1us"}}).warnings,
      ElementsAre("--intra-bandwidth changes nothing here: every worker has a node of its own",
                  "--intra-latency changes nothing here: every worker has a node of its own"));
  EXPECT_THAT(
      with_base({{"backward", "20ms"}, {"compute-dtype", "bf16"}}).warnings,
      ElementsAre("--batch changes nothing here: the compute times are given, it only names the setup",
                  "--compute-dtype changes nothing here: the compute times are given"));
  EXPECT_THAT(with_base({{"algorithm", "hierarchical"}, {"workers-per-node", "1"}}).warnings,
              ElementsAre("--algorithm changes nothing here: with one level of links it is a ring"));
  EXPECT_THAT(with_base({{"workers", "1"}, {"gamma", "1.1"}}).warnings,
              ElementsAre("--bandwidth changes nothing here: all workers are in one node",
                          "--gamma changes nothing here: a single worker exchanges nothing"));
}

TEST(Resolve, AnOptionThatContradictsAnotherIsRefused) {
  EXPECT_EQ(
      refused({{"last-bucket", "inside"}}),
      "value --last-bucket: the timeline knows when each bucket is ready: expected --method closed-form");
  EXPECT_EQ(refused({{"servers", "2"}}),
            "value --servers: is given without servers to use: expected --algorithm ps or byteps");
  EXPECT_EQ(refused({{"duplex", "half"}, {"algorithm", "byteps"}}),
            "value --duplex: is given without servers to use: expected --algorithm ps");
  EXPECT_EQ(refused({{"bucket", "1MiB"}, {"schedule", "wfbp"}}),
            "value --bucket: schedule wfbp has no buckets: expected schedule ddp or equal");
  EXPECT_EQ(refused({{"bucket", "1MiB"}, {"schedule", "ddp:cap=2MiB"}}),
            "value --bucket: the schedule's cap is given too: expected one of them");
  EXPECT_EQ(refused({{"bucket-copy", "15GB/s"}, {"method", "closed-form"}}),
            "value --bucket-copy: the closed form has no term for it: expected --method timeline");
  EXPECT_EQ(refused({{"host", "cpu"}}), "value --host: no codec runs on the host: expected --placement host");
  EXPECT_EQ(
      refused({{"gamma-codec", "1.2"}, {"placement", "hook"}}),
      "value --gamma-codec: no codec runs on a stream under --placement hook: expected --placement stream");
  EXPECT_EQ(refused({{"throughput", "100/s"}, {"backward", "1ms"}}),
            "value --backward: is given beside --throughput: expected either the times or the throughput");
}

/// 64 workers on nodes of 8, a fabric of the catalogue.
OptionValues on(const std::string& fabric, const OptionValues& more = {}) {
  return with({{"gradient-bytes", "100MB"},
               {"backward", "1ms"},
               {"workers", "64"},
               {"fabric", fabric},
               {"algorithm", "nccl"}},
              more);
}

TEST(Resolve, NcclTakesWhatTheFabricStatesAndTheRestFromTheDevice) {
  const ScenarioSetup p4d = tiny(on("aws-p4d.24xlarge"));
  const NcclTopology& topology = p4d.scenario.fabric.nccl;
  EXPECT_EQ(topology.architecture, Architecture::ampere);
  EXPECT_EQ(topology.peers, PeerLink::nvswitch);
  EXPECT_EQ(topology.channels, 4U);
  EXPECT_TRUE(topology.gpudirect);
  EXPECT_THAT(stated(p4d, "nccl"), HasSubstr("ampere, nvswitch, 4 channels across nodes, driver's latency 75 "
                                             "us, GPUDirect, published, aws/aws-ofi-nccl"));
  const ScenarioSetup other = tiny(on("aws-p4d.24xlarge", {{"device", "v100"}}));
  EXPECT_EQ(other.scenario.fabric.nccl.architecture, Architecture::volta);
  const ScenarioSetup node = tiny(on("nvlink-4", {{"workers", "8"}}));
  EXPECT_EQ(node.scenario.fabric.nccl.architecture, Architecture::hopper) << "no device is named";
  EXPECT_THAT(
      tiny(on("aws-p4d.24xlarge", {{"latency", "50us"}})).warnings,
      ElementsAre("--latency is of no use where NCCL's model, which has its own, prices an exchange"));
}

TEST(Resolve, NcclSaysWhatItLacksAndWhichFabricsHaveIt) {
  EXPECT_EQ(refused({{"algorithm", "nccl"}}),
            "value --algorithm: NCCL's model lacks the architecture of the GPUs, which gpu does not state: "
            "expected \"nccl\": {\"architecture\": \"...\"} in a profile for --fabric, or an NVIDIA device");
  const auto refusal = [](const OptionValues& values) { return failure([&] { (void)tiny(values); }); };
  EXPECT_EQ(
      refusal(on("azure-nd-mi300x-v5")),
      "value --algorithm: NCCL's model lacks the architecture of the GPUs, which mi300x does not state: "
      "expected \"nccl\": {\"architecture\": \"...\"} in the profile of azure-nd-mi300x-v5, or an NVIDIA "
      "device");
  EXPECT_EQ(
      refusal(on("gcp-a3-high")),
      "value --algorithm: NCCL's model lacks the channels across nodes, which the fabric gcp-a3-high does "
      "not state: expected \"nccl\": {\"channels\": N} in the profile of gcp-a3-high, or a fabric that "
      "`list fabrics` marks for NCCL across nodes");
  EXPECT_EQ(
      refused({{"algorithm", "nccl"}, {"device", "v100"}}),
      "value --algorithm: NCCL's model lacks the channels across nodes, which --bandwidth does not state: "
      "expected \"nccl\": {\"channels\": N} in a profile for --fabric, or a fabric that `list fabrics` "
      "marks for NCCL across nodes");
  const ScenarioSetup one = tiny(with(on("aws-p6e-gb200"), {{"workers", "72"}, {"device", "b200"}}));
  EXPECT_EQ(one.scenario.fabric.across.bandwidth, BytesPerSecond{}) << "ranges of workers stay on the node";
  EXPECT_THAT(one.warnings,
              testing::Contains("only one node is looked at: NCCL's model lacks the channels across nodes"));
}

TEST(Resolve, SaysWhichInputIsMissing) {
  const auto without = [](const std::string& option) {
    OptionValues values = base();
    values.erase(option);
    return failure([&] { (void)tiny(values); });
  };
  EXPECT_EQ(without("model"),
            "value --model: is missing: expected a model (list models), "
            "--gradient-bytes SIZE or --backward-log FILE");
  EXPECT_EQ(without("workers"), "value --workers: is missing: expected the number of workers");
  EXPECT_EQ(
      without("bandwidth"),
      "value --bandwidth: is missing: expected what one node can send, such as 25Gbit/s, or --fabric NAME");
  EXPECT_EQ(without("device"),
            "value --device: is missing: expected a device (list devices), or the times that are known: "
            "--backward, "
            "--throughput");
  EXPECT_EQ(without("batch"), "nothing was thrown") << "the measured times know theirs";
  EXPECT_EQ(failure([] {
              (void)tiny({{"gradient-bytes", "1MB"}, {"device", "gpu"}, {"workers", "1"}});
            }),
            "value --backward: is missing: expected --backward, or --throughput and --batch: a size says "
            "nothing about "
            "compute");
  EXPECT_EQ(failure([] {
              (void)tiny({{"model", "tiny"}, {"throughput", "1/s"}, {"workers", "1"}});
            }),
            "value --batch: is missing: expected the samples of one worker, for --throughput");
}

TEST(Resolve, WorkersFillWholeNodes) {
  EXPECT_EQ(refused({{"workers", "10"}}),
            "value --workers: 10 workers do not fill nodes of 4: expected a multiple of 4, or fewer than 4");
  EXPECT_EQ(with_base({{"workers", "3"}}).scenario.group().per_node, 3U);
}

TEST(Resolve, TheHostNeedsALinkToIt) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.file("d.json", R"({"schema": 1, "name": "bare", "memory": "1 TB/s", "launch": "1 us"})");
  EXPECT_EQ(
      refused({{"device", path}, {"backward", "1ms"}, {"workers-per-node", "1"}, {"placement", "host"}}),
      "value --placement: the profile of bare states no host_link: expected a device with a link to its "
      "host");
  EXPECT_EQ(
      refused({{"device", path}, {"backward", "1ms"}}),
      "value --intra-bandwidth: is missing: expected what one worker can send inside its node: no profile "
      "states it for bare");
  const ScenarioSetup given =
      with_base({{"device", path}, {"backward", "1ms"}, {"intra-bandwidth", "9GB/s"}});
  EXPECT_EQ(stated(given, "intra_latency"), "5.7 us, assumed, one hop over PCIe in NCCL's tuning table");
}

TEST(Resolve, CodecProfilesOfTheUserComeFirst) {
  const TemporaryDirectory directory;
  const auto profile = [&](const std::string& name, const std::string& device) {
    return directory.file(name, R"({"schema": 1, "name": ")" + name + R"(", "device": ")" + device +
                                    R"(", "origin": "measured", "costs": [{"scheme": ")" + name +
                                    R"(", "encode": [[1, "1 us"]], "decode": [[1, "1 us"]]}]})");
  };
  const ScenarioSetup setup = with_base({{"codec", profile("one", "gpu") + "," + profile("two", "other")}});
  ASSERT_EQ(setup.codecs.size(), 3U);
  EXPECT_EQ(setup.codecs[0].scheme, "one");
  EXPECT_EQ(setup.codecs[1].scheme, "two");
  EXPECT_THAT(setup.warnings, ElementsAre("codec times of two were taken on other, not on gpu"));
}

}  // namespace
}  // namespace breakeven
