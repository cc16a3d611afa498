// Do all schedules cope with the smallest, the emptiest and the largest of workloads?
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tests/model/schedule_cases.h"

namespace breakeven {
namespace {

using testing::plain;
using testing::Random;
using testing::step;

// ---- degenerate inputs ----

/// Every schedule with its defaults on `workload`.
template <class Body>
void for_every_default(const Workload& workload, Body body) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    SCOPED_TRACE(kind.name);
    Scenario scenario = testing::scenario(1, 1, 0);
    scenario.workload = workload;
    scenario.algorithm = Algorithm::ring;
    scenario.schedule = make_schedule(kind.name);
    body(scenario);
  }
}
Workload of_sizes(const std::vector<std::size_t>& elements, double forward, double backward) {
  Workload workload;
  for (const std::size_t size : elements) {
    workload.modules.push_back({"layer", 0, 0, Seconds::of(forward), Seconds::of(backward)});
    workload.tensors.push_back({"layer.weight", {size}, workload.modules.size() - 1});
  }
  return workload;
}
double ring(const Scenario& scenario, double elements) {
  return transfer(scenario.fabric, Exchange::all_reduce, Bytes::of(4 * elements), scenario.group())
      .time.base();
}

TEST(Degenerate, OneTensorIsOneMessageAfterBackward) {
  for_every_default(of_sizes({10000}, 0.01, 0.02), [](const Scenario& scenario) {
    const Prediction prediction = predict(scenario, plain());
    ASSERT_EQ(prediction.messages.size(), 1U);
    ASSERT_NEAR((prediction.step - prediction.messages[0].delay).base(), 0.03 + ring(scenario, 10000), 1e-12);
  });
}

TEST(Degenerate, NothingToSendIsComputeAlone) {
  Workload no_tensors = of_sizes({1, 1}, 0.01, 0.02);
  no_tensors.tensors.clear();
  for (const Workload& workload : {no_tensors, Workload{}}) {
    for_every_default(workload, [&](const Scenario& scenario) {
      ASSERT_EQ(step(scenario), (workload.forward() + workload.backward()).base());
    });
  }
}

TEST(Degenerate, EmptyTensorsCostStartUpsAtMost) {
  for_every_default(of_sizes({0, 0, 0}, 0.01, 0.02), [](const Scenario& scenario) {
    const Prediction prediction = predict(scenario, plain());
    ASSERT_EQ(prediction.payload, Bytes{});
    ASSERT_GE(prediction.step.base(), 0.09 - 1e-12);
    ASSERT_LE(prediction.step.base(), 0.09 + 0.005 + 3 * ring(scenario, 0) + 1e-12);
  });
}

TEST(Degenerate, EqualReadyTimesAreTheSumOfTheExchanges) {
  // No backward left: whatever the groups, what is sent takes its time, and forward hides part of it at most.
  for_every_default(of_sizes({3000, 50000, 7, 20000}, 0.001, 0), [](const Scenario& scenario) {
    const Prediction prediction = predict(scenario, plain());
    double sum = 0;
    for (const Message& message : prediction.messages) {
      ASSERT_EQ(message.ready, Seconds{});
      sum += ring(scenario, static_cast<double>(elements(message.tensors)));
    }
    if (scenario.schedule.sending.overlaps_forward) {
      ASSERT_LE(prediction.step.base(), 0.004 + sum + 1e-12);
      ASSERT_GE(prediction.step.base(), std::max(0.004, sum) - 1e-12);
    } else {
      ASSERT_NEAR(prediction.step.base(), 0.004 + sum, 1e-12);
    }
  });
}

TEST(Degenerate, OneWorkerWaitsForNobody) {
  for_every_default(of_sizes({3000, 50000, 7, 20000}, 0.001, 0.02), [](Scenario scenario) {
    scenario.workers = 1;
    scenario.overlap.message = 1_ms;
    ASSERT_NEAR(step(scenario), 0.084, 1e-12);
  });
}

// ---- many pieces ----

TEST(ManyPieces, LargeModelsEndInEveryScheduleAndSendEverything) {
  // As many tensors as ResNet-50 and BERT-Large have, thousands of slices.
  struct Model {
    std::size_t tensors, elements;
  };
  for (const Model& model : {Model{161, 25557032}, Model{398, 336232258}}) {
    Random random(static_cast<unsigned>(model.tensors));
    std::vector<double> weights(model.tensors);
    std::generate(weights.begin(), weights.end(), [&] { return random.log(0, 4); });
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::size_t> sizes(model.tensors);
    std::transform(weights.begin(), weights.end(), sizes.begin(), [&](double weight) {
      return static_cast<std::size_t>(weight / all * static_cast<double>(model.elements));
    });
    for_every_default(of_sizes(sizes, 0.0005, 0.001), [&](Scenario scenario) {
      for (const Algorithm algorithm : {Algorithm::ring, Algorithm::parameter_server}) {
        scenario.algorithm = algorithm;
        const Prediction prediction = predict(scenario, plain());
        ASSERT_EQ(prediction.payload, scenario.workload.gradient_bytes());
        std::set<std::size_t> sent;
        for (const Span& span : prediction.spans) {
          if (span.activity == Activity::exchange) {
            sent.insert(span.message);
          }
        }
        ASSERT_EQ(sent.size(), prediction.messages.size());
        ASSERT_GE(prediction.step.base(), 0.0015 * static_cast<double>(model.tensors) * (1 - 1e-12));
      }
    });
  }
}

TEST(ManyPieces, ThePriorityOfTheFirstLayersLetsForwardBeginSooner) {
  // A large first layer, and larger ones behind it whose messages are still queued when it is ready.
  Scenario scenario = testing::scenario(1, 1, 0);
  scenario.workload = of_sizes({2000000, 4000000, 4000000}, 0.005, 0.005);
  scenario.algorithm = Algorithm::parameter_server;
  const double by_priority = step(scenario, "bytescheduler:partition=100000,credit=1");
  EXPECT_LT(by_priority, step(scenario, "bytescheduler:partition=100000,credit=1000000000") - 0.004);
  EXPECT_LT(by_priority, step(scenario, "byteps:partition=400000B") - 0.009);
}

}  // namespace
}  // namespace breakeven
