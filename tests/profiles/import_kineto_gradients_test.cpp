// Does a trace with shapes tell when each gradient was there, and a trace without compute that it has none?
#include <gmock/gmock.h>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/kineto_events.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string accumulate(double begin, const std::string& dims, const std::string& type = "float") {
  return event("cpu_op", "torch::autograd::AccumulateGrad", begin, 5,
               R"("Input Dims": [)" + dims + R"(], "Input type": [")" + type + R"("])");
}

/// Backward from 400 to 900 makes a matrix, a vector and a scalar, exchanged in two buckets.
std::vector<std::string> shaped() {
  return step() + std::vector{kernel(410, 40),           accumulate(420, "[10]"),
                              kernel(500, 100),          accumulate(510, "[20, 50]"),
                              all_reduce(620, 60, 1010), kernel(700, 20),
                              accumulate(705, "[]"),     all_reduce(760, 20, 1)};
}

TEST(ImportKinetoGradients, AGradientIsThereWhenWhatWasLaunchedBeforeItIsDone) {
  const KinetoFindings findings = found(list(shaped()));
  const std::vector<KinetoGradient>& gradients = findings.step.gradients;
  ASSERT_EQ(gradients.size(), 3U);
  EXPECT_THAT(gradients[0].dims, ElementsAre(10));
  EXPECT_NEAR(gradients[0].ready.base(), 50e-6, 1e-12);   // its kernel ends at 450
  EXPECT_NEAR(gradients[1].ready.base(), 200e-6, 1e-12);  // at 600
  EXPECT_NEAR(gradients[2].ready.base(), 320e-6, 1e-12);
  EXPECT_THAT(lines_of(findings), testing::Contains(HasSubstr("3 gradients with shapes")));
}

TEST(ImportKinetoGradients, TheProfileHasATensorForEach) {
  RunOptions options;
  options.device = "gpu";
  const ModelProfile written = model_of(found(list(shaped())), options, "t.json");
  const ModelProfile profile = read_model(write_model(written), "written");
  const std::vector<Tensor>& tensors = profile.workload.tensors;
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors[0].name, "gradient-3") << "forward order: what backward makes last";
  EXPECT_THAT(tensors[1].dims, ElementsAre(20, 50));
  const std::vector<Seconds>& gaps = profile.timings.at(0).gaps;
  ASSERT_EQ(gaps.size(), 4U);
  EXPECT_NEAR(gaps[1].base(), 150e-6, 1e-12);
  EXPECT_NEAR(gaps[3].base(), 180e-6, 1e-12) << "backward goes on behind the last gradient";
}

TEST(ImportKinetoGradients, WhatTheBucketsDoNotCarryIsLeftOutAloud) {
  // Two passes over half of the batch accumulate each gradient twice.
  const KinetoFindings twice = found(list(shaped() + std::vector{accumulate(800, "[20, 50]")}));
  EXPECT_TRUE(twice.step.gradients.empty());
  EXPECT_THAT(twice.notes,
              ElementsAre(HasSubstr("4 gradients of backward are not what its all-reduces carry")));
  EXPECT_EQ(model_of(twice, {}, "t.json").workload.tensors.size(), 2U);
  EXPECT_THAT(lines_of(found(list(step() + std::vector{kernel(410, 10), all_reduce(450, 100, 1000)}))),
              testing::Contains(HasSubstr("record_shapes=True")));
}

TEST(ImportKinetoGradients, OldTracesWithoutSizesOfExchangesNeedShapes) {
  const std::string reduce = event("kernel", "ncclKernel_AllReduce_RING_LL_Sum_half()", 620, 60);
  const KinetoFindings findings =
      found(list(step() + std::vector{kernel(410, 40), accumulate(420, "[20, 50]", "c10::Half"), reduce}));
  EXPECT_EQ(element_of(findings, "t.json"), Element::f16);
  EXPECT_EQ(model_of(findings, {}, "t.json").workload.elements(), 1000U);
  EXPECT_FALSE(rate_of(findings));
  EXPECT_THAT(lines_of(findings),
              testing::Contains(HasSubstr("in the order of backward: not stated in 60 us")));
}

TEST(ImportKinetoGradients, OneWorkerAloneIsAModelToo) {
  const auto alone = [](const std::string& type, const std::string& other) {
    return found(list(step() + std::vector{kernel(410, 10), accumulate(500, "[8, 4]", type), kernel(600, 10),
                                           accumulate(700, "[8]", other)}));
  };
  const KinetoFindings findings = alone("c10::BFloat16", "c10::BFloat16");
  EXPECT_EQ(element_of(findings, "t.json"), Element::bf16);
  EXPECT_EQ(model_of(findings, {}, "t.json").workload.elements(), 40U);
  EXPECT_EQ(failure([&] { (void)element_of(alone("float", "c10::Half"), "t.json"); }),
            "file t.json: has gradients of several types: expected one of float, half and bfloat16");
  EXPECT_EQ(failure([&] { (void)element_of(alone("double", "double"), "t.json"); }),
            "file t.json: has gradients of an unknown type: expected one of float, half and bfloat16");
}

TEST(ImportKinetoGradients, AStepWithoutComputeIsRefused) {
  const std::string expected =
      ": expected a trace with ProfilerActivity.CPU and ProfilerActivity.CUDA around whole steps";
  EXPECT_EQ(refused(list(step() + std::vector{all_reduce(450, 100, 1000),
                                              event("gpu_memcpy", "Memcpy HtoD", 410, 10)})),
            "file t.json: has no compute kernels, only exchanges and copies" + expected);
  EXPECT_EQ(refused(list(step() + std::vector{event("user_annotation", "nccl:all_reduce", 450, 10)})),
            "file t.json: has no kernels, only the host's side of a step on a device" + expected);
}

}  // namespace
}  // namespace breakeven
