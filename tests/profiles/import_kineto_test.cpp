// Does a trace of PyTorch's profiler say what a step exchanged, and what it waited for?
#include <gmock/gmock.h>
#include <zlib.h>

#include <filesystem>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/kineto_events.h"

namespace breakeven {
namespace {

using testing::HasSubstr;

// The trap: hardly anything of the exchange runs beside kernels, and yet nothing waits for it.
TEST(ImportKineto, WhatDoesNotOverlapIsNotWhatIsExposed) {
  const KinetoFindings findings =
      found(list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000), kernel(530, 30),
                                      all_reduce(600, 80, 3000), kernel(890, 5)}));
  const KinetoStep& one = findings.step;
  EXPECT_NEAR(one.exchange.base(), 180e-6, 1e-12);
  EXPECT_NEAR(one.overlapped.base(), 20e-6, 1e-12);
  EXPECT_EQ(one.exposed(), Seconds{});
  EXPECT_NEAR(one.time.base(), 1000e-6, 1e-12);
  EXPECT_NEAR(one.forward.base(), 300e-6, 1e-12);
  EXPECT_NEAR(one.backward.base(), 500e-6, 1e-12);
  EXPECT_NEAR(one.compute.base(), 45e-6, 1e-12);
  EXPECT_NEAR(one.idle.base(), (1000 - 45 - 180 + 20) * 1e-6, 1e-12);
  EXPECT_EQ(findings.workers, 2U);
}

TEST(ImportKineto, AnAllReduceBehindBackwardIsExposed) {
  const KinetoFindings findings =
      found(list(step() + std::vector{kernel(410, 480), all_reduce(500, 460, 1000)}));
  EXPECT_NEAR(findings.step.tail.base(), 60e-6, 1e-12);  // backward ends at 900, the all-reduce at 960
  EXPECT_EQ(findings.step.stalled, Seconds{});
}

TEST(ImportKineto, KernelsThatWaitForAnAllReduceAreStalled) {
  // All is launched early; the last kernel begins as soon as the all-reduce is over.
  const auto events = [](double begin) {
    return list(step() + std::vector{launch(405, 1), kernel(410, 200, 1), launch(420, 2),
                                     all_reduce(610, 190, 1000, 2), launch(430, 3), kernel(begin, 50, 3)});
  };
  EXPECT_NEAR(found(events(802)).step.stalled.base(), 190e-6, 1e-12);
  EXPECT_NEAR(found(events(802)).step.backward.base(), 310e-6, 1e-12);
  EXPECT_EQ(found(events(850)).step.stalled, Seconds{}) << "it waited for something else";
}

TEST(ImportKineto, AKernelLaunchedLateWaitedOnlySinceThen) {
  const KinetoFindings findings =
      found(list(step() + std::vector{launch(405, 1), kernel(410, 200, 1), launch(420, 2),
                                      all_reduce(610, 190, 1000, 2), launch(780, 3), kernel(802, 50, 3)}));
  EXPECT_NEAR(findings.step.stalled.base(), 20e-6, 1e-12);
}

// The host runs ahead: its spans are over long before the device is.
TEST(ImportKineto, PassesEndWhenTheDeviceHasDoneThem) {
  const KinetoFindings findings = found(list(std::vector{
      event("user_annotation", "ProfilerStep#1", 0, 100), event("user_annotation", "forward", 10, 20),
      event("user_annotation", "backward", 40, 20), launch(15, 1), kernel(20, 300, 1), launch(45, 2),
      kernel(320, 600, 2), launch(50, 3), all_reduce(700, 100, 1000, 3), launch(70, 4), kernel(920, 80, 4)}));
  EXPECT_NEAR(findings.step.forward.base(), 310e-6, 1e-12);  // 10 to 320
  EXPECT_NEAR(findings.step.backward.base(), 600e-6, 1e-12);
  EXPECT_NEAR(findings.step.time.base(), 1000e-6, 1e-12);
  EXPECT_EQ(findings.step.exposed(), Seconds{});
}

TEST(ImportKineto, TheLeastTimeOfAllStepsCounts) {
  const auto bucket = [](double at, double time, std::size_t elements) {
    return std::vector{kernel(at + 410, 10), all_reduce(at + 450, time, elements)};
  };
  const KinetoFindings findings = found(list(step(0, 1) + bucket(0, 300, 1000) + step(2000, 2) +
                                             bucket(2000, 100, 1000) + step(4000, 3) + bucket(4000, 20, 7)));
  EXPECT_EQ(findings.steps, 3U);
  ASSERT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_EQ(findings.step.buckets[0].elements, 1000U);
  EXPECT_NEAR(findings.step.buckets[0].time.base(), 100e-6, 1e-12);
  EXPECT_THAT(findings.notes, testing::ElementsAre(HasSubstr("1 of 3 steps have other buckets")));
  ASSERT_TRUE(rate_of(findings));
  EXPECT_NEAR(rate_of(findings)->base(), 4000 / 100e-6, 1);  // 2(n-1)/n = 1 of the bytes
}

TEST(ImportKineto, OldAndNewNamesOfKernelsAreKnown) {
  for (const char* name : {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long)",
                           "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclWork*)",
                           "nccldevkernel_allreduce_sum", "ncclDevKernel_Generic(ncclDevComm*)"}) {
    const KinetoFindings findings =
        found(list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000, -1, name)}));
    EXPECT_EQ(findings.step.buckets.size(), 1U) << name;
  }
  // A name alone tells no size, and a broadcast is no gradient.
  const std::string old =
      list(step() + std::vector{kernel(410, 10),
                                event("Kernel", "ncclKernel_AllReduce_RING_LL_Sum_half()", 450, 100),
                                event("kernel", "ncclKernel_Broadcast_RING_LL_Sum_int8_t()", 560, 10)});
  const KinetoFindings findings = found(old);
  ASSERT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_EQ(findings.step.buckets[0].element, Element::f16);
  EXPECT_THAT(failure([&] { (void)model_of(findings, {}, "t.json"); }),
              HasSubstr("file t.json: does not say how large its all-reduces are"));
}

TEST(ImportKineto, FlagsAndCountersAreNoGradients) {
  std::string flags = all_reduce(600, 10, 3);
  flags.replace(flags.find("Float"), 5, "Int");
  EXPECT_EQ(found(list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000), flags}))
                .step.buckets.size(),
            1U);
}

TEST(ImportKineto, OtherProcessGroupsAreNoGradients) {
  // Layers split over two workers sum their activations while all eight sum gradients.
  std::string tensor_parallel = all_reduce(420, 20, 5000);
  tensor_parallel.insert(tensor_parallel.find("\"Group size\""), R"("Process Group Name": "tp", )");
  std::string gradients = all_reduce(450, 100, 8000);
  gradients.replace(gradients.find("\"Group size\": 2"), 15, "\"Group size\": 8");
  const KinetoFindings findings =
      found(list(step() + std::vector{kernel(410, 10), tensor_parallel, gradients}));
  ASSERT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_EQ(findings.step.buckets[0].elements, 8000U);
  EXPECT_EQ(findings.workers, 8U);
  EXPECT_NEAR(rate_of(findings)->base(), 2 * 7 / 8.0 * 32000 / 100e-6, 1) << "of the same group";
  EXPECT_THAT(lines_of(findings),
              testing::Contains(HasSubstr(
                  "left out: 1 all-reduce of 20 kB in another process group, \"tp\", of 2 workers")));
}

TEST(ImportKineto, WhatATraceCannotTellIsSaid) {
  const auto lines = [](const std::vector<std::string>& events) { return lines_of(found(list(events))); };
  const auto none = lines(step() + std::vector{kernel(410, 0), all_reduce(450, 0, 1000)});
  EXPECT_THAT(none, testing::Contains(HasSubstr("overlap: not known")));
  EXPECT_THAT(none, testing::Not(testing::Contains(HasSubstr("nan"))));
  EXPECT_THAT(lines(step() + std::vector{event("user_annotation", "gloo:all_reduce", 520, 300)}),
              testing::AllOf(testing::Contains(HasSubstr("no kernels in the trace")),
                             testing::Not(testing::Contains(HasSubstr("compute kernels run")))));
}

TEST(ImportKineto, ASizeThatIsNoneIsRefused) {
  for (const char* size : {"-5", "1e18", "1.5"}) {
    std::string reduce = all_reduce(450, 100, 777);
    reduce.replace(reduce.find("777"), 3, size);
    EXPECT_EQ(refused(list({reduce})), "file t.json: event 1: \"In msg nelems\" is \"" + std::string(size) +
                                           "\": expected a whole number from 0 to 1e15");
  }
}

TEST(ImportKineto, WithoutMarksAutogradTellsWhereBackwardIs) {
  const KinetoFindings findings = found(
      list({event("user_annotation", "DistributedDataParallel.forward", 100, 300),
            event("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 420, 30),
            event("cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 700, 30),
            kernel(430, 10), all_reduce(500, 100, 1000)}));
  EXPECT_NEAR(findings.step.backward.base(), 310e-6, 1e-12);
}

TEST(ImportKineto, WithoutMarksOptimizersEndSteps) {
  const auto one = [](double at, double time) {
    return std::vector{event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 400, 100),
                       kernel(at + 410, 10), all_reduce(at + 450, time, 1000),
                       event("user_annotation", "Optimizer.step#SGD.step", at + 900, 100)};
  };
  const std::vector<std::string> events = one(0, 100) + one(1000, 100) + one(2000, 100);
  const KinetoFindings findings = found(list(events));
  EXPECT_EQ(findings.steps, 3U);
  EXPECT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_NEAR(findings.step.time.base(), 1000e-6, 1e-12);
  // Two forward passes a step: gradients are accumulated.
  const auto forward = [](double at) {
    return event("user_annotation", "DistributedDataParallel.forward", at, 50);
  };
  EXPECT_EQ(found(list(events + std::vector{forward(50), forward(150), forward(1050), forward(1150),
                                            forward(2050), forward(2150)}))
                .steps,
            3U);
}

TEST(ImportKineto, TracesOfSeveralWorkersInOneFileAreRefused) {
  std::vector<std::string> events = step() + std::vector{all_reduce(450, 100, 1000)};
  for (const char* device : {"0", "1"}) {
    events.push_back(event("kernel", "gemm", 410, 10, "\"device\": " + std::string(device)));
  }
  EXPECT_EQ(refused(list(events)),
            "file t.json: holds kernels of devices 0, 1: expected the trace of one worker");
  // On two hosts both are device 0.
  std::vector<std::string> other = step();
  for (std::string& span : other) {
    span.replace(span.find("\"pid\": 0"), 8, "\"pid\": 7");
  }
  EXPECT_EQ(refused(list(step() + other + std::vector{kernel(410, 10), all_reduce(450, 100, 1000)})),
            "file t.json: holds passes of processes 0, 7: expected the trace of one worker");
}

TEST(ImportKineto, GlooExchangesOnTheHost) {
  const KinetoFindings findings = found(list(
      step() +
      std::vector{event("cpu_op", "autograd::engine::evaluate_function: MulBackward0", 410, 90),
                  event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 500, 200),
                  event("user_annotation", "gloo:all_reduce", 520, 300, R"("Input Dims": [[25, 40]])")}));
  ASSERT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_EQ(findings.step.buckets[0].elements, 1000U);
  EXPECT_NEAR(findings.step.tail.base(), 120e-6, 1e-12);  // gradients are done at 700
}

/// Backward takes 500 us with an all-reduce of 100 us beside it; `alone` without.
KinetoFindings compared_with(double alone, double reduce_at = 450) {
  KinetoFindings with = found(list(step() + std::vector{kernel(410, 10), all_reduce(reduce_at, 100, 1000)}));
  compare(with,
          found(list({event("user_annotation", "ProfilerStep#1", 0, 900),
                      event("user_annotation", "## backward ##", 400, alone), kernel(410, 10)})),
          "n.json");
  return with;
}

TEST(ImportKineto, GammaIsTheSlowdownWhileAllReducesRun) {
  // Of 100 us beside the all-reduce backward lost 60: it did 40 us of its work.
  const KinetoFindings findings = compared_with(440);
  EXPECT_NEAR(findings.gamma.value(), 2.5, 1e-9);
  const ModelProfile profile = model_of(findings, {}, "t.json");
  EXPECT_NEAR(profile.timings.at(0).backward.base(), 440e-6, 1e-9) << "as it is without exchange";
  EXPECT_NEAR(profile.timings.at(0).gaps.at(0).base(), 50e-6, 1e-9) << "nothing runs before the first bucket";
  EXPECT_NEAR(compared_with(470, 850).gamma.value(), 2.5, 1e-9) << "half of it runs behind backward's end";
}

TEST(ImportKineto, ASlowdownThatCannotComeFromOverlapIsNoGamma) {
  for (const double alone : {300.0, 400.0, 405.0}) {
    const KinetoFindings findings = compared_with(alone);
    EXPECT_FALSE(findings.gamma) << alone;
    EXPECT_THAT(lines_of(findings), testing::Contains(HasSubstr("that cannot come from overlap")));
    EXPECT_NEAR(model_of(findings, {}, "t.json").timings.at(0).backward.base(), 500e-6, 1e-9) << "as traced";
  }
  EXPECT_FALSE(compared_with(499, 900).gamma) << "nothing runs beside backward";
  EXPECT_EQ(compared_with(500, 900).gamma, 1.0);
  EXPECT_EQ(compared_with(520).gamma, 1.0);
  EXPECT_THAT(lines_of(compared_with(520)), testing::Contains(HasSubstr("no longer than under no_sync()")));
}

TEST(ImportKineto, ARunWithExchangeTellsNoGamma) {
  KinetoFindings with = compared_with(440);
  EXPECT_EQ(failure([&] { compare(with, with, "n.json"); }),
            "file n.json: has all-reduces in backward: expected the same run under DDP's no_sync()");
}

TEST(ImportKineto, TheProfileReadsBackAndPredictsTheStep) {
  RunOptions options;
  options.name = "traced";
  options.device = "gpu";
  options.batch = 8;
  const ModelProfile profile =
      model_of(found(list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000),
                                               all_reduce(600, 80, 3000), kernel(890, 5)})),
               options, "t.json");
  EXPECT_EQ(profile.workload.tensors.front().name, "bucket-2");
  EXPECT_EQ(profile.workload.tensors.front().elements(), 3000U);
  const std::string text = write_model(profile);
  EXPECT_EQ(write_model(read_model(text, "written")), text);
  const TemporaryDirectory directory;
  static const TinyCatalogue catalogue;
  const ScenarioSetup setup = resolve({{"model", directory.file("traced.json", text)},
                                       {"device", "gpu"},
                                       {"schedule", "wfbp"},
                                       {"workers", "2"},
                                       {"bandwidth", "1Gbps"}},
                                      catalogue.get());
  const Workload& workload = setup.scenario.workload;
  EXPECT_NEAR((workload.forward() + workload.backward() + workload.other).base(), 1000e-6, 1e-9);
  EXPECT_EQ(stated(setup, "busy").substr(0, 16), "195 us, measured");
  EXPECT_EQ(stated(setup, "gamma").substr(0, 11), "1, measured") << "backward was traced beside the exchange";
  const auto messages = setup.scenario.schedule.messages(workload, {});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_NEAR(messages[0].ready.base(), 50e-6, 1e-9);
  EXPECT_NEAR(messages[1].ready.base(), 200e-6, 1e-9);  // and 300 us of backward are left
}

TEST(ImportKineto, ObjectsListsAndPlainAndPackedFilesAreRead) {
  const std::string events = list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000)});
  const std::string object =
      R"({"schemaVersion": 1, "deviceProperties": [{"name": "GPU X", "totalGlobalMem": 64}],
    "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": )" +
      events + R"(, "traceName": "a \"}]\" b"})";
  EXPECT_EQ(found(object).device, "GPU X");
  EXPECT_EQ(found(object).step.time, found(events).step.time);
  const TemporaryDirectory directory;
  const std::string path = directory.file("t.json.gz", "");
  gzFile packed = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(packed, object.data(), static_cast<unsigned>(object.size())),
            static_cast<int>(object.size()));
  ASSERT_EQ(gzclose(packed), Z_OK);
  EXPECT_EQ(find_in(read_kineto(open_trace(path), path), path).step.buckets.size(), 1U);
  const std::string plain = directory.file("t.json", object);
  EXPECT_EQ(find_in(read_kineto(open_trace(plain), plain), plain).step.buckets.size(), 1U);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 12);
  EXPECT_EQ(failure([&] { (void)read_kineto(open_trace(path), path); }),
            "file " + path + ": is cut short: its gzip data ends too early: expected a whole file");
}

TEST(ImportKineto, WhatIsNoTraceIsRefused) {
  EXPECT_EQ(refused(""), "file t.json: is empty: expected a trace");
  EXPECT_THAT(refused("hello"), HasSubstr("file t.json: byte 1: \"h\": expected a trace"));
  EXPECT_THAT(refused("{}"), HasSubstr("file t.json: has no list \"traceEvents\""));
  EXPECT_THAT(refused(R"({"traceEvents": 5})"), HasSubstr("has no list \"traceEvents\""));
  EXPECT_THAT(refused("[1]"), HasSubstr("byte 2: \"1\": expected an event {...}"));
  EXPECT_THAT(refused("[{\"ph\": \"X\""), HasSubstr("ends too early: expected the end of an event"));
  EXPECT_THAT(refused("[{\"ph\": \"X\"},"), HasSubstr("ends before its list of events does"));
  EXPECT_THAT(refused("[]x"), HasSubstr("byte 3: \"x\": expected nothing behind the trace"));
  EXPECT_THAT(refused("[]"), HasSubstr("has neither kernels nor passes"));
  EXPECT_THAT(refused("[{\"ph\" \"X\"}]"), HasSubstr("t.json: event 1: is no event ("));
  EXPECT_THAT(refused(list({kernel(1, 2)})), HasSubstr("has no backward pass"));
  EXPECT_THAT(failure([] { (void)open_trace("/nonexistent.json")(nullptr, 0); }),
              HasSubstr("file /nonexistent.json: no such file"));
  const KinetoFindings alone = found(list(step() + std::vector{kernel(410, 10)}));
  EXPECT_THAT(failure([&] { (void)model_of(alone, {}, "t.json"); }),
              HasSubstr("has neither all-reduces in backward nor shapes of gradients"));
}

TEST(ImportKineto, ATimeThatIsNoneIsRefusedByName) {
  for (const char* time : {"\"1000\"", "null", "NaN", "-2", "1e13", "1e400", "true"}) {
    EXPECT_EQ(refused(R"([{"ph": "X", "ts": 1, "dur": )" + std::string(time) + "}]"),
              "file t.json: event 1: \"dur\" is " + std::string(time) +
                  ": expected a number of microseconds, 0 to 1000000000000");
  }
  EXPECT_EQ(refused(R"([{"ph": "X"}, {"ph": "X", "ts": Infinity, "dur": 1}])"),
            "file t.json: event 2: \"ts\" is Infinity: expected a number of microseconds, -1e+18 to 1e+18");
}

TEST(ImportKineto, ALongTraceIsReadBlockByBlock) {
  std::vector<std::string> events = step();
  for (int i = 0; i < 20000; ++i) {  // 3 MB, more than any block
    events.push_back(event("cpu_op", "aten::\\\"add\\\" " + std::string(50, 'x'), 1, 1));
  }
  events.push_back(kernel(410, 10));
  EXPECT_NEAR(found(list(events)).step.compute.base(), 10e-6, 1e-12);
}

// A step of ResNet-50 on two A100, from HolisticTraceAnalysis' tests.
TEST(ImportKineto, ARealStepIsBoundByItsLaunches) {
  const std::string path = std::string(BREAKEVEN_SOURCE_DIR) +
                           "/../shared/samples/kineto/ddp_resnet50_2xA100_rank0_step5_trimmed.json.gz";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the sample is not here";
  }
  const KinetoFindings findings = find_in(read_kineto(open_trace(path), path), path);
  std::vector<std::size_t> sizes;
  for (const KinetoBucket& bucket : findings.step.buckets) {
    sizes.push_back(bucket.elements);
  }
  EXPECT_THAT(sizes, testing::ElementsAre(2049000, 7875584, 6563840, 6637568, 2431040));
  EXPECT_EQ(findings.workers, 2U);
  EXPECT_EQ(findings.step.exposed(), Seconds{});
  EXPECT_NEAR(findings.step.overlapped / findings.step.exchange, 0.15, 0.02);
  EXPECT_NEAR(findings.step.time.base(), 0.220, 0.001);
  EXPECT_NEAR(findings.step.idle.base(), 0.170, 0.002);
}

}  // namespace
}  // namespace breakeven
