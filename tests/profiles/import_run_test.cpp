// Do other programs' traces of a run become models of it?
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "profiles/import/run.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::string sample(const std::string& name) {
  return std::string(BREAKEVEN_SOURCE_DIR) + "/../shared/samples/" + name;
}
std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void expect_reads_back(const ModelProfile& profile) {
  const std::string text = write_model(profile);
  EXPECT_EQ(write_model(read_model(text, "written")), text);
}

// --- Horovod

std::string row(int pid, const std::string& name) {
  return R"({"name": "process_name", "ph": "M", "pid": )" + std::to_string(pid) + R"(, "args": {"name": ")" +
         name + "\"}},\n";
}
std::string begins(int pid, const std::string& name, int time) {
  return R"({"ph": "B", "name": ")" + name + R"(", "ts": )" + std::to_string(time) + R"(, "pid": )" +
         std::to_string(pid) + "},\n";
}
std::string ends(int pid, int time, const std::string& args = "") {
  return R"({"ph": "E", "ts": )" + std::to_string(time) + R"(, "pid": )" + std::to_string(pid) + args +
         "},\n";
}
/// A gradient of `shape`, ready at `ready`, exchanged from `begin` to `end`.
std::string turn(int pid, int ready, int begin, int end, const std::string& shape,
                 const std::string& dtype = "float32") {
  const auto rank = [&](int number) {
    return R"({"ph": "X", "name": ")" + std::to_string(number) + R"(", "ts": )" + std::to_string(ready) +
           R"(, "pid": )" + std::to_string(pid) + ", \"dur\": 0},\n";
  };
  return begins(pid, "NEGOTIATE_ALLREDUCE", ready) + rank(0) + rank(1) + ends(pid, begin - 5) +
         begins(pid, "ALLREDUCE", begin - 5) + begins(pid, "NCCL_ALLREDUCE", begin) + ends(pid, end) +
         ends(pid, end + 2, R"(, "args": {"dtype": ")" + dtype + R"(", "shape": ")" + shape + "\"}");
}
ImportedRun horovod(const std::string& text) {
  RunOptions options;
  options.device = "gpu";
  return import_horovod(blocks_of(text), "t.json", options);
}

TEST(ImportHorovod, GradientsTheirTimesAndWhatIsExposedAreRead) {
  // Two gradients in one fused exchange: the same begin and end.
  const std::string events = row(1, "fc.weight") + row(2, "conv.weight") +
                             turn(1, 1000, 2000, 3000, "[10, 100]") + turn(2, 1500, 2000, 3000, "[1000]");
  for (const std::string& text : {"[\n" + events + "{}]", "[\n" + events, "[\n" + events + "]"}) {
    const ImportedRun run = horovod(text);
    EXPECT_EQ(run.workers, 2U);
    ASSERT_TRUE(run.rate);
    EXPECT_NEAR(run.rate->base(), 8000 / 1000e-6, 1) << "fused bytes count once, and in one time";
    ASSERT_EQ(run.profile.workload.tensors.size(), 2U);
    EXPECT_EQ(run.profile.workload.tensors[0].name,
              "conv.weight");  // the last gradient is the first tensor's
    EXPECT_THAT(run.profile.workload.tensors[1].dims, ElementsAre(10, 100));
    ASSERT_EQ(run.profile.timings.size(), 1U);
    EXPECT_NEAR(run.profile.timings[0].backward.base(), 500e-6, 1e-12);
    EXPECT_EQ(run.profile.timings[0].gamma, 1.0) << "backward was timed beside the exchange";
    EXPECT_THAT(run.notes, Contains(HasSubstr("exposed: 1.5 ms")));
    expect_reads_back(run.profile);
  }
  EXPECT_THAT(horovod("[\n" + events).notes, Contains(HasSubstr("not closed")));
}

TEST(ImportHorovod, TwoStepsTellForward) {
  const auto step = [](int at) {
    return turn(1, at, at + 100, at + 200, "[8]") + turn(2, at + 50, at + 100, at + 200, "[8]");
  };
  const ImportedRun run = horovod("[" + row(1, "b") + row(2, "a") + step(1000) + step(3000));
  ASSERT_EQ(run.profile.timings.size(), 1U);
  EXPECT_NEAR(run.profile.timings[0].forward.base(), (3000 - 1202) * 1e-6, 1e-12);
}

TEST(ImportHorovod, GradientsMayBeOfSixteenBits) {
  const ImportedRun run = horovod(
      "[" + row(1, "b") + row(2, "a") + row(3, "scale") + turn(1, 1000, 2000, 3000, "[1000]", "float16") +
      turn(2, 1500, 2000, 3000, "[1000]", "float16") + turn(3, 1200, 2000, 3000, "[1]"));
  EXPECT_EQ(run.profile.workload.elements(), 2000U);
  EXPECT_EQ(run.element, Element::f16);
  EXPECT_EQ(run.profile.timings.at(0).precision, Precision::fp16);
  EXPECT_NEAR(run.rate->base(), 4000 / 1000e-6, 1);
  EXPECT_THAT(run.notes, Contains("1 tensor of another type than fp16 left out"));
  EXPECT_THAT(run.notes, Contains(HasSubstr("2 tensors of 4 kB in fp16")));
}

TEST(ImportHorovod, WhatMakesNoSenseIsRefused) {
  const auto refused = [](const std::string& text) { return failure([&] { (void)horovod(text); }); };
  EXPECT_THAT(refused("[]"), HasSubstr("file t.json: has no ALLREDUCE"));
  EXPECT_THAT(refused("[" + ends(1, 5)), HasSubstr("that did not begin"));
  EXPECT_THAT(refused("[" + begins(1, "ALLREDUCE", 9) + ends(1, 5)), HasSubstr("ends before it begins"));
  EXPECT_THAT(refused("[" + row(1, "a") + turn(1, 1, 10, 20, "[a]")),
              HasSubstr("the shape \"[a]\" of \"a\""));
  EXPECT_THAT(refused("[" + row(1, "a") + turn(1, 1, 10, 20, "[0]")),
              HasSubstr("expected 1 to 1e15 elements"));
  EXPECT_THAT(refused("[" + row(1, "a") + turn(1, 1, 10, 20, "[9]", "int64")),
              HasSubstr("no ALLREDUCE of float32"));
  EXPECT_THAT(refused("[" + turn(1, 1, 10, 20, "[9]")), HasSubstr("has a tensor without a name"));
  EXPECT_THAT(refused("[" + row(1, "a") + turn(1, 1, 10, 20, "")),
              HasSubstr("does not say how large \"a\" is"));
}

TEST(ImportHorovod, ATimelineOfOneGradientHasNoComputeTimes) {
  const ImportedRun run = horovod("[" + row(1, "a") + turn(1, 1000, 2000, 3000, "[1000, 2048]"));
  EXPECT_TRUE(run.profile.timings.empty());
  expect_reads_back(run.profile);
}

// --- Chakra

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) {
    bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  }
  return bytes + static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string text(unsigned field, const std::string& value) {
  return varint((field << 3U) | 2U) + varint(value.size()) + value;
}
std::string attribute(const std::string& name, std::uint64_t value) {
  constexpr unsigned kInt64 = 9;
  return text(10, text(1, name) + number(kInt64, value));
}
std::string message(const std::string& bytes) {
  return varint(bytes.size()) + bytes;
}
ImportedRun chakra(const std::string& bytes) {
  return import_chakra(bytes, "t.et", {});
}

TEST(ImportChakra, AllReducesOfTheStreamAreBuckets) {
  const std::string head = message(text(1, "0.0.4"));
  const std::string reduce = message(number(1, 7) + text(2, "reduce") + number(3, 7) +
                                     attribute("comm_type", 0) + attribute("comm_size", 4000));
  const std::string gather = message(number(3, 7) + attribute("comm_type", 2) + attribute("comm_size", 64));
  const std::string compute = message(number(3, 4) + number(7, 250));
  const ImportedRun run = chakra(head + compute + reduce + gather);
  ASSERT_EQ(run.profile.workload.tensors.size(), 1U);
  EXPECT_EQ(run.profile.workload.elements(), 1000U);
  EXPECT_THAT(run.notes, Contains(HasSubstr("3 nodes, 1 all-reduce of 4 kB")));
  EXPECT_THAT(run.notes, Contains(HasSubstr("compute nodes take 250 us")));
  expect_reads_back(run.profile);
  const std::string whole = head + reduce;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(failure([&] { (void)chakra(whole.substr(0, size)); }), HasSubstr("file t.et")) << size;
  }
  EXPECT_EQ(
      failure([&] { (void)chakra(whole + whole); }),
      "file t.et: node 2: is the head of another trace: several files in one: expected a Chakra trace, as "
      "protobuf or JSON");
  EXPECT_THAT(failure([&] { (void)chakra(head + gather); }),
              HasSubstr("has no all-reduce with a size among its 1 node"));
}

TEST(ImportChakra, TheJsonFormIsReadToo) {
  const ImportedRun run = chakra(R"({"workload_graph": [
    {"Id": 1, "Name": "a", "NodeType": 4, "ctrlDeps": [3], "data_deps": [], "runtime": 318, "is_cpu_op": true},
    {"Id": 2, "Name": "c10d::allreduce_", "NodeType": 7, "comm_type": 0, "comm_size": 8000, "runtime": 5}],
    "workload_name": "w", "ngpus": 8})");
  EXPECT_EQ(run.profile.workload.elements(), 2000U);
  EXPECT_THAT(failure([] { (void)chakra("{\"nodes\": []}"); }), HasSubstr("workload_graph"));
}

TEST(ImportChakra, ThePublishedExampleIsOneMebibyte) {
  const std::string path = sample("chakra/astra_all_reduce_8npus_1MB.0.et");
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the sample is not here";
  }
  EXPECT_EQ(chakra(bytes_of(path)).profile.workload.gradient_bytes(), 1_MiB);
}

// --- PyTorch's execution trace

std::string comms(const std::string& name, std::size_t elements, const std::string& type = "Float") {
  return R"({"id": 1, "name": "record_param_comms", "attrs": [{"name": "collective_name", "type": "string", "value": ")" +
         name + R"("}, {"name": "dtype", "type": "string", "value": ")" + type +
         R"("}, {"name": "in_msg_nelems", "type": "uint64", "value": )" + std::to_string(elements) +
         R"(}, {"name": "pg_size", "type": "uint64", "value": 2}]})";
}

TEST(ImportPytorchEt, EachCollectiveCountsOnceOfItsThreeNodes) {
  const ImportedRun run = import_pytorch_et(
      R"({"schema": "1.1.0-chakra.0.0.4", "nodes": [)" + comms("broadcast", 53) + "," +
          comms("wait", 0, "Byte") + R"(, {"id": 2, "name": "nccl:all_reduce", "attrs": []}, )" +
          comms("allreduce", 1000) + R"(, {"id": 3, "name": "c10d::allreduce_", "attrs": []}, )" +
          comms("allreduce", 500) + "]}",
      "t.json", {});
  ASSERT_EQ(run.profile.workload.tensors.size(), 2U);
  EXPECT_EQ(run.profile.workload.tensors[1].elements(), 1000U);
  EXPECT_EQ(run.workers, 2U);
  EXPECT_THAT(run.notes, Contains(HasSubstr("no durations")));
  EXPECT_THAT(run.notes, Contains("1 other collective left out"));
  expect_reads_back(run.profile);
}

TEST(ImportPytorchEt, GradientsMayBeOfSixteenBits) {
  std::string json =
      R"({"nodes": [)" + comms("allreduce", 1000, "BFloat16") + "," + comms("allreduce", 5) + "]}";
  for (std::size_t at = 0; (at = json.find("\"value\": 2}", at)) != std::string::npos;) {
    json.replace(at, 11, "\"value\": 0}");
  }
  const ImportedRun run = import_pytorch_et(json, "t.json", {});
  EXPECT_EQ(run.profile.workload.elements(), 1000U);
  EXPECT_EQ(run.element, Element::bf16);
  EXPECT_THAT(run.notes, Contains("1 all-reduce of 2 kB in bf16, each counted once of its three nodes"));
  EXPECT_THAT(run.notes, Contains("1 other collective left out"));
}

TEST(ImportedJson, MayBeginWithAByteOrderMark) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(import_pytorch_et(mark + R"({"nodes": [)" + comms("allreduce", 1000) + "]}", "t.json", {})
                .profile.workload.elements(),
            1000U);
  EXPECT_EQ(chakra(mark + R"({"workload_graph": [{"Id": 2, "Name": "r", "NodeType": 7, "comm_type": 0,
      "comm_size": 8000}]})")
                .profile.workload.elements(),
            2000U);
  EXPECT_EQ(
      horovod(mark + "[" + row(1, "a") + turn(1, 1000, 2000, 3000, "[1000]")).profile.workload.elements(),
      1000U);
}

TEST(ImportPytorchEt, OlderSchemasAndOtherFilesAreRefused) {
  const auto refused = [](const std::string& json) {
    return failure([&] { (void)import_pytorch_et(json, "t.json", {}); });
  };
  EXPECT_THAT(refused(R"({"schema": "1.0.1", "nodes": [{"id": 1, "name": "record_param_comms"}]})"),
              HasSubstr("file t.json: /nodes/0"));
  EXPECT_THAT(refused(R"({"nodes": []})"), HasSubstr("has no all-reduce of Float"));
  EXPECT_THAT(refused("{}"), HasSubstr("nodes"));
  EXPECT_THAT(refused("{"), HasSubstr("file t.json"));
}

// --- A log of gaps

TEST(ImportBackwardLog, BytesThatAreNoWholeElementsAreSaid) {
  const auto notes = [](const std::string& bytes) {
    return import_backward_log(read_backward_log("gap_us,bytes\n100," + bytes + "\n300,8000\n", "b.log"), {})
        .notes;
  };
  EXPECT_THAT(notes("401"), Contains(HasSubstr("1 gradient not of a whole number of fp32 elements")));
  EXPECT_THAT(notes("400"), testing::Not(Contains(HasSubstr("rounded"))));
}

TEST(ImportBackwardLog, GapsBecomeTimes) {
  RunOptions options;
  options.device = "gpu";
  options.batch = 32;
  const ImportedRun run =
      import_backward_log(read_backward_log("gap_us,bytes\n100,4000\n300,8000\n", "b.log"), options);
  EXPECT_EQ(run.profile.workload.elements(), 3000U);
  EXPECT_EQ(run.profile.workload.tensors[1].elements(), 1000U);  // the first gradient is the last tensor's
  EXPECT_NEAR(run.profile.timings[0].backward.base(), 400e-6, 1e-12);
  EXPECT_NEAR(run.profile.timings[0].gaps[1].base(), 300e-6, 1e-12);
  expect_reads_back(run.profile);
}

}  // namespace
}  // namespace breakeven
