// Which steps and passes of a trace exchange gradients, and is it said what a trace without them has instead?
#include <gmock/gmock.h>

#include "tests/profiles/kineto_events.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string refused_model(const std::vector<std::string>& exchanges) {
  return failure([&] {
    (void)model_of(found(list(step() + std::vector{kernel(410, 10), kernel(890, 10)} + exchanges)), {},
                   "t.json");
  });
}

TEST(ImportKinetoExchanges, StepsThatOnlyAccumulateAreLeftOut) {
  const KinetoFindings findings = found(
      list(step(0, 1) + step(1000, 2) + step(2000, 3) +
           std::vector{kernel(410, 10), kernel(1410, 10), kernel(2410, 10), all_reduce(2450, 100, 1000)}));
  EXPECT_EQ(findings.steps, 1U);
  EXPECT_EQ(findings.step.buckets.size(), 1U);
  EXPECT_THAT(findings.notes, Contains(HasSubstr("2 of 3 steps have no all-reduce in backward")));
}

/// A step of two passes, each with kernels that forward and backward launch; the second exchanges.
std::vector<std::string> two_passes(bool marked) {
  std::vector<std::string> events = {event("user_annotation", "ProfilerStep#1", 0, 1000),
                                     event("user_annotation", "Optimizer.step#SGD.step", 950, 50),
                                     kernel(960, 20), all_reduce(800, 100, 1000)};
  for (const double at : {0.0, 500.0}) {
    events = events +
             std::vector{event("user_annotation", "DistributedDataParallel.forward", at + 50, 100),
                         kernel(at + 60, 80), kernel(at + 210, 180),
                         event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 200, 200)};
    if (marked) {
      events.push_back(event("user_annotation", "## backward ##", at + 200, at == 0 ? 210 : 200));
    }
  }
  return events;
}

TEST(ImportKinetoExchanges, OfSeveralPassesInAStepTheOneThatExchangesCounts) {
  for (const bool marked : {true, false}) {
    const KinetoFindings findings = found(list(two_passes(marked)));
    ASSERT_EQ(findings.step.buckets.size(), 1U) << marked;
    EXPECT_NEAR(findings.step.buckets[0].ready.base(), 100e-6, 1e-12) << "since that pass began";
    EXPECT_NEAR(findings.step.backward.base(), 200e-6, 1e-12) << marked;
    EXPECT_NEAR(findings.step.other().base(), 700e-6, 1e-12) << "the other pass too";
    EXPECT_THAT(lines_of(findings),
                Contains(HasSubstr("2 forward passes in a step (gradient accumulation)")));
  }
}

TEST(ImportKinetoExchanges, AForwardThatBackwardRepeatsBeginsNoPass) {
  const KinetoFindings findings = found(list(std::vector{
      event("user_annotation", "ProfilerStep#1", 0, 1000), event("user_annotation", "forward", 100, 300),
      event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 400, 200),
      event("cpu_op", "autograd::engine::evaluate_function: CheckpointBackward", 600, 300),
      event("user_annotation", "forward", 610, 100), kernel(410, 10), all_reduce(450, 100, 1000)}));
  EXPECT_NEAR(findings.step.backward.base(), 500e-6, 1e-12);
  EXPECT_EQ(findings.step.passes, 1U);
}

TEST(ImportKinetoExchanges, WhatIsThereInsteadIsSaid) {
  EXPECT_THAT(refused_model({}),
              HasSubstr("has neither all-reduces in backward nor shapes of gradients: expected"));
  const std::string late = all_reduce(930, 20, 1000, 1);
  EXPECT_THAT(refused_model({launch(920, 1), late}), HasSubstr(", but 1 all-reduce outside of it"));
  std::string eight = all_reduce(450, 20, 1000);
  eight.replace(eight.find("Float"), 5, "Float8_e4m3fn");
  EXPECT_THAT(refused_model({eight}), HasSubstr(", but 1 all-reduce of \"Float8_e4m3fn\""));
  for (const char* args : {"", R"("Collective name": "_reduce_scatter_base")"}) {
    const std::string scatter =
        event("kernel", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL()", 450, 20, args);
    EXPECT_THAT(refused_model({scatter, scatter}),
                HasSubstr(", but 2 reduce-scatters: sharding, as of FSDP"));
  }
}

}  // namespace
}  // namespace breakeven
