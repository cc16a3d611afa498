// What holds for every schedule, whatever the workload, the network and its parameters?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "model/predict.h"
#include "model/verdict.h"
#include "tests/model/fakes.h"

namespace breakeven {
namespace {

using testing::Fake;
using testing::plain;

constexpr double kRounding = 1 + 1e-11;

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  double log(double low, double high) { return std::pow(10, real(low, high)); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  bool one_in(std::size_t cases) { return count(1, cases) == 1; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[count(0, values.size() - 1)];
  }
  std::mt19937 engine;
};

/// Modules of none to three tensors; empty tensors, and modules that take no time, among them.
Workload random_workload(Random& random) {
  Workload workload;
  workload.gradient = random.one_of({Element::f32, Element::bf16});
  const std::size_t modules = random.count(1, 15);
  for (std::size_t m = 0; m < modules; ++m) {
    const auto time = [&] { return Seconds::of(random.one_in(5) ? 0 : random.log(-5, -1.5)); };
    workload.modules.push_back({"module", 0, 0, time(), time()});
    for (std::size_t tensors = random.count(0, 3); tensors > 0; --tensors) {
      const std::size_t elements = random.one_in(8) ? 0 : static_cast<std::size_t>(random.log(0, 5.3));
      workload.tensors.push_back({"module.tensor", {elements}, m});
    }
  }
  workload.other = Seconds::of(random.real(0, 0.01));
  return workload;
}

/// Each parameter its default, or something that these small workloads feel.
std::string random_spec(const ScheduleKind& kind, Random& random) {
  std::string params;
  for (const Param& param : kind.params) {
    if (random.one_in(4)) {
      continue;
    }
    params += (params.empty() ? "" : ",") + param.name + "=";
    switch (param.kind) {
      case Param::Kind::bytes:
        params += std::to_string(static_cast<std::size_t>(random.log(3.5, 6.5))) + "B";
        break;
      case Param::Kind::time:
        params += std::to_string(random.count(1, 20000)) + "us";
        break;
      default:
        params += std::to_string(static_cast<std::size_t>(random.log(3, 6)));
        break;
    }
  }
  return join_spec(kind.name, params);
}

Scenario random_scenario(const ScheduleKind& kind, Random& random) {
  Scenario scenario = testing::scenario(1, 1, 0);
  scenario.workload = random_workload(random);
  scenario.workers_per_node = random.one_of<std::size_t>({1, 1, 2, 8});
  scenario.workers = scenario.workers_per_node * random.count(1, 12);
  scenario.fabric.across.bandwidth = BytesPerSecond::of(random.log(7, 11));
  scenario.fabric.across.latency = Seconds::of(random.one_in(4) ? 0 : random.log(-6, -3));
  scenario.fabric.servers = random.count(0, 8);
  scenario.fabric.full_duplex = !random.one_in(3);
  scenario.fabric.offered = {Algorithm::ring, Algorithm::double_tree};
  scenario.algorithm =
      random.one_of({Algorithm::automatic, Algorithm::ring, Algorithm::parameter_server, Algorithm::byteps});
  scenario.overlap.message = Seconds::of(random.one_in(2) ? 0 : random.log(-6, -3));
  scenario.overlap.gamma = random.one_in(2) ? 1 : random.real(1, 1.5);
  scenario.overlap.gamma_codec = random.real(1, 2);
  scenario.overlap.host = scenario.device;
  scenario.schedule = make_schedule(random_spec(kind, random), scenario.workload.gradient);
  return scenario;
}

/// Calls body(scenario, random) for `cases` seeds of every row of schedule_kinds().
template <class Body>
void for_every_kind(unsigned cases, Body body) {
  for (const ScheduleKind& kind : schedule_kinds()) {
    for (unsigned seed = 0; seed < cases; ++seed) {
      Random random(seed);
      const Scenario scenario = random_scenario(kind, random);
      SCOPED_TRACE(scenario.schedule.spec + ", seed " + std::to_string(seed));
      body(scenario, random);
      if (::testing::Test::HasFatalFailure()) {
        return;
      }
    }
  }
}

bool is(const Scenario& scenario, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const char* kind) { return split_spec(scenario.schedule.spec).name == kind; });
}
double step(const Scenario& scenario, const Compressor& compressor = plain()) {
  return predict(scenario, compressor).step.base();
}
double step(Scenario scenario, const char* schedule) {
  scenario.schedule = make_schedule(schedule, scenario.workload.gradient);
  return step(scenario);
}

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
    scenario.overlap.placement =
        random.one_of({Placement::serial, Placement::hook, Placement::stream, Placement::host});
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
    scenario.overlap.gamma = 1;
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
      scenario.overlap.gamma = 1;
      const double before = step(scenario);
      scenario.fabric.across.bandwidth *= random.real(1, 10);
      ASSERT_LE(step(scenario), before * kRounding);
    }
  });
}

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
