// Layers, linear networks and the 10GbE of arXiv 1811.11141, for the tests of the schedules.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "compressors/builtin.h"
#include "model/predict.h"

namespace breakeven::testing {

using Sizes = std::vector<std::size_t>;
using Cost = std::function<Seconds(Bytes)>;

/// One tensor a module, forward order; forward takes half of backward (the trace script of arXiv 1811.11141).
struct Layer {
  std::size_t elements = 0;
  double backward = 0;
};
inline Workload workload_of(const std::vector<Layer>& layers, double forward = 0.5) {
  Workload workload;
  for (const Layer& layer : layers) {
    workload.modules.push_back(
        {"layer", 0, 0, Seconds::of(layer.backward * forward), Seconds::of(layer.backward)});
    workload.tensors.push_back({"layer.weight", {layer.elements}, workload.modules.size() - 1});
  }
  return workload;
}

/// An all-reduce of a seconds and b more a byte.
inline Cost line(double a, double b) {
  return [a, b](Bytes size) { return Seconds::of(a + b * size.base()); };
}
inline MessageCosts costs(Cost exchange, Cost encode = line(0, 0)) {
  return {std::move(exchange), std::move(encode)};
}
inline std::vector<Message> grouped(const Workload& workload, const std::string& schedule,
                                    const Cost& exchange) {
  return make_schedule(schedule).messages(workload, costs(exchange));
}

/// When the last message is through one channel, first come, first served.
inline double finish(const std::vector<Message>& messages, const Cost& exchange) {
  double free = 0;
  for (const Message& message : messages) {
    free = std::max(free, message.ready.base()) + exchange(bytes(message.tensors)).base();
  }
  return free;
}
inline Sizes tensors_of(const std::vector<Message>& messages) {
  Sizes counts;
  for (const Message& message : messages) {
    counts.push_back(message.tensors.size());
  }
  return counts;
}
inline std::vector<double> elements_of(const std::vector<Message>& messages) {
  std::vector<double> counts;
  for (const Message& message : messages) {
    counts.push_back(static_cast<double>(elements(message.tensors)));
  }
  return counts;
}

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  std::vector<Layer> layers(std::size_t low, std::size_t high) {
    std::vector<Layer> made(count(low, high));
    for (Layer& layer : made) {
      layer = {static_cast<std::size_t>(std::pow(10, real(1, 6))), std::pow(10, real(-4, -2))};
    }
    return made;
  }
  /// Start-ups from far below a layer's backward to far above.
  Cost network() { return line(std::pow(10, real(-5, -1.5)), std::pow(10, real(-10, -7))); }
  std::mt19937 engine;
};

/// The authors' 10GbE: alpha 45.25 us, beta 1.2/B with B = 9 * 2^30 / 8 B/s, gamma 160/(64e9) s a byte, as
/// one ring.
inline Scenario on_10gbe(Workload workload, std::size_t workers, const std::string& schedule) {
  const double beta = 1.2 / (9 * std::pow(2, 30) / 8), gamma = 160 / 64e9;
  Scenario scenario;
  scenario.workload = std::move(workload);
  scenario.fabric.across = {"10GbE", BytesPerSecond::of(1 / (beta + gamma / 2)), Seconds::of(45.25e-6), 1};
  scenario.fabric.offered = {Algorithm::ring};
  scenario.workers = workers;
  scenario.schedule = make_schedule(schedule);
  return scenario;
}
inline Prediction plainly(const Scenario& scenario) {
  static const Registry registry = [] {
    Registry made;
    add_builtin(made);
    return made;
  }();
  return predict(scenario, *registry.make("none").compressor);
}

}  // namespace breakeven::testing
