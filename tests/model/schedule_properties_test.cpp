// What holds for every schedule, whatever the workload, the network and its parameters?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/verdict.h"
#include "tests/model/schedule_cases.h"

namespace breakeven {
namespace {

using testing::Fake;
using testing::for_every_kind;
using testing::is;
using testing::kRounding;
using testing::plain;
using testing::Random;
using testing::step;

// ---- messages ----

std::vector<std::size_t> sizes(const std::vector<Message>& messages) {
  std::vector<std::size_t> all;
  for (const Message& message : messages) {
    for (const Shape& shape : message.tensors) {
      all.push_back(shape.elements());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(EverySchedule, SendsEveryTensorOnceAndNoneBeforeItExists) {
  for_every_kind(300, [](const Scenario& scenario, Random&) {
    const Workload& workload = scenario.workload;
    const std::vector<Message> messages = predict(scenario, plain()).messages;
    const std::vector<Seconds> ready = module_ready(workload);
    std::vector<std::size_t> by_module(workload.modules.size());
    std::size_t sum = 0;
    for (const Message& message : messages) {
      ASSERT_FALSE(message.tensors.empty());
      ASSERT_EQ(message.ready, ready[message.module]) << "the first module's gradient is the last to exist";
      ASSERT_GE(message.delay, Seconds{});
      by_module[message.module] += elements(message.tensors);
      sum += elements(message.tensors);
    }
    ASSERT_EQ(sum, workload.elements());
    std::vector<std::size_t> expected_by_module(workload.modules.size());
    std::vector<std::size_t> whole;
    for (const Tensor& tensor : workload.tensors) {
      expected_by_module[tensor.module] += tensor.elements();
      whole.push_back(tensor.elements());
    }
    const bool one_tensor_a_message = is(scenario, {"wfbp", "p3", "bytescheduler", "byteps"});
    ASSERT_TRUE(!one_tensor_a_message || by_module == expected_by_module);
    if (!is(scenario, {"equal", "p3", "bytescheduler", "byteps"})) {  // these cut, and drop what is empty
      std::sort(whole.begin(), whole.end());
      ASSERT_EQ(sizes(messages), whole);
    }
  });
}

// ---- time ----

double longest_delay(const Prediction& prediction) {
  double delay = 0;
  for (const Message& message : prediction.messages) {
    delay = std::max(delay, message.delay.base());
  }
  return delay;
}

/// Compute, slowed all the time, and all messages one after the other.
double in_a_row(const Scenario& scenario, const Prediction& prediction) {
  const Workload& workload = scenario.workload;
  double sum = workload.other.base() + (workload.forward() + workload.backward()).base() *
                                           scenario.overlap.gamma * scenario.overlap.gamma_codec;
  for (const Span& span : prediction.spans) {
    const bool computes = span.activity == Activity::forward || span.activity == Activity::backward;
    sum += computes ? 0 : (span.end - span.begin).base();
  }
  return sum + longest_delay(prediction);
}

TEST(EverySchedule, KeepsResourcesApartAndIsBetweenTheBounds) {
  for_every_kind(300, [](const Scenario& given, Random& random) {
    Scenario scenario = given;
    scenario.overlap.placement = random.one_of(
        {Placement::serial, Placement::hook, Placement::blocking, Placement::stream, Placement::host});
    const Fake coded(random.real(0.01, 1), Seconds::of(random.log(-6, -3)), Seconds::of(random.log(-6, -3)));
    const Fake uncoded = plain();
    const Prediction prediction = predict(scenario, random.one_in(2) ? uncoded : coded);
    std::array<std::vector<Span>, kResources> by_resource;
    for (const Span& span : prediction.spans) {
      by_resource[static_cast<std::size_t>(span.resource)].push_back(span);
      if (span.resource == Resource::network) {
        const Message& message = prediction.messages[span.message];
        ASSERT_GE(span.begin.base() * kRounding + 1e-12, (message.ready + message.delay).base());
      }
    }
    const Breakdown& parts = prediction.parts;
    const Seconds period = parts.forward + parts.backward_and_sync();  // to the end of the next forward pass
    for (auto& spans : by_resource) {
      std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
      });
      double busy = 0;
      for (std::size_t i = 0; i < spans.size(); ++i) {
        busy += (spans[i].end - spans[i].begin).base();
        ASSERT_LE(spans[i].end.base(), period.base() * kRounding + 1e-12);
        ASSERT_TRUE(i == 0 || spans[i].begin.base() >= spans[i - 1].end.base() - 1e-12);
      }
      ASSERT_LE(busy, period.base() * kRounding + 1e-12);
    }
    ASSERT_EQ(prediction.step, parts.step());
    for (const Seconds part : {parts.slowdown, parts.exposed_codec, parts.exposed_communication}) {
      ASSERT_GE(part, Seconds{});
    }
    const Seconds alone =
        scenario.workload.forward() + scenario.workload.backward() + scenario.workload.other;
    ASSERT_GE(parts.step().base() * kRounding, alone.base());
    ASSERT_GE(parts.step().base() * kRounding, step_without_network(scenario).base());
    ASSERT_LE(parts.step().base(), in_a_row(scenario, prediction) * kRounding + 1e-12);
  });
}

TEST(EverySchedule, TakesAllItsExchangesToTheNetwork) {
  for_every_kind(300, [](const Scenario& given, Random&) {
    Scenario scenario = given;
    const Prediction prediction = predict(scenario, plain());
    double spans = 0, work = 0;
    for (const Span& span : prediction.spans) {
      spans += span.activity == Activity::exchange ? (span.end - span.begin).base() : 0;
      work += span.activity == Activity::backward ? (span.end - span.begin).base() : 0;
    }
    ASSERT_NEAR(spans, prediction.parts.communication.base(), 1e-11 + spans * 1e-11);
    ASSERT_GE(work * kRounding + 1e-12, scenario.workload.backward().base());
    ASSERT_LE(work, scenario.workload.backward().base() * scenario.overlap.gamma * kRounding + 1e-12);
    // As many payload bytes as the gradient has, split or whole.
    ASSERT_EQ(prediction.payload, scenario.workload.gradient_bytes());
  });
}

/// What bsp takes. An all-gather that belongs to the forward pass cannot hide behind what backward does after
/// the last gradient, so that there nothing of it is hidden.
double bsp(const Scenario& scenario) {
  if (!scenario.schedule.sending.splits) {
    return step(scenario, "bsp");
  }
  const Seconds whole = transfer(scenario.fabric, Exchange::all_reduce, scenario.workload.gradient_bytes(),
                                 scenario.group(), scenario.algorithm)
                            .time;
  const bool sends = !scenario.workload.tensors.empty() && scenario.workers > 1;
  return (step_without_network(scenario) + (sends ? whole + scenario.overlap.message : Seconds{})).base();
}

/// A message costs a start-up and its bytes; nothing slows compute.
Scenario linear(Scenario scenario) {
  scenario.algorithm = Algorithm::ring;
  scenario.overlap.gamma = 1;
  scenario.overlap.placement = {};
  return scenario;
}

TEST(EverySchedule, LosesToBspAtMostItsStartUpsAndItsClock) {
  for_every_kind(300, [](const Scenario& given, Random&) {
    const Scenario scenario = linear(given);
    const Prediction prediction = predict(scenario, plain());
    const Seconds ring =
        transfer(scenario.fabric, Exchange::all_reduce, {}, scenario.group(), Algorithm::ring).time;
    const Seconds software = scenario.workers > 1 ? scenario.overlap.message : Seconds{};
    const Seconds startup = ring + software * (scenario.schedule.sending.splits ? 2 : 1);
    const Seconds bsp_startup = scenario.workload.tensors.empty() ? Seconds{} : ring + software;
    ASSERT_LE(prediction.step.base(), (bsp(scenario) - bsp_startup.base() + longest_delay(prediction) +
                                       static_cast<double>(prediction.messages.size()) * startup.base()) *
                                          kRounding);
  });
}

TEST(EverySchedule, WithoutStartUpsOnlyTheClockLosesToBsp) {
  for_every_kind(300, [](const Scenario& given, Random&) {
    Scenario scenario = linear(given);
    scenario.fabric.across.latency = scenario.fabric.inside.latency = {};
    scenario.overlap.message = {};
    if (!is(scenario, {"horovod"})) {
      ASSERT_LE(step(scenario), bsp(scenario) * kRounding);
    }
  });
}

TEST(EverySchedule, OptimalIsNeverSlowerThanWhatWaitsForEveryMessage) {
  for_every_kind(300, [](const Scenario& given, Random&) {
    Scenario scenario = given;
    scenario.fabric.full_duplex = false;
    if (is(scenario, {"ddp", "bsp", "wfbp", "fusion", "horovod", "mgwfbp", "asc", "omgs", "optimal"})) {
      ASSERT_LE(step(scenario, "optimal"), step(scenario) * kRounding);
    }
  });
}

TEST(EverySchedule, MoreBandwidthIsNeverSlowerForFixedMessages) {
  // Not where messages depend on the network, nor with priorities: a network that is free sooner may begin
  // with a message that an important one then waits for.
  for_every_kind(300, [](const Scenario& given, Random& random) {
    const Scenario scenario = given;
    if (scenario.schedule.weighs_costs || scenario.schedule.sending.priority) {
      return;
    }
    Scenario faster = scenario;
    const double factor = random.real(1, 10);
    faster.fabric.across.bandwidth *= factor;
    faster.fabric.inside.bandwidth *= factor;
    ASSERT_LE(step(faster), step(scenario) * kRounding);
  });
}

TEST(EverySchedule, BestMergingIsFasterWithMoreBandwidth) {
  for_every_kind(300, [](const Scenario& given, Random& random) {
    if (is(given, {"optimal"})) {
      Scenario scenario = given;
      const double before = step(scenario);
      scenario.fabric.across.bandwidth *= random.real(1, 10);
      ASSERT_LE(step(scenario), before * kRounding);
    }
  });
}

}  // namespace
}  // namespace breakeven
