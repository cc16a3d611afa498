// Every schedule on random workloads and networks, for the tests of what always holds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "model/predict.h"
#include "tests/model/fakes.h"

namespace breakeven::testing {

inline constexpr double kRounding = 1 + 1e-11;

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
inline Workload random_workload(Random& random) {
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
inline std::string random_spec(const ScheduleKind& kind, Random& random) {
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

inline Scenario random_scenario(const ScheduleKind& kind, Random& random) {
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

inline bool is(const Scenario& scenario, std::initializer_list<const char*> kinds) {
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const char* kind) { return split_spec(scenario.schedule.spec).name == kind; });
}
inline double step(const Scenario& scenario, const Compressor& compressor = plain()) {
  return predict(scenario, compressor).step.base();
}
inline double step(Scenario scenario, const char* schedule) {
  scenario.schedule = make_schedule(schedule, scenario.workload.gradient);
  return step(scenario);
}

}  // namespace breakeven::testing
