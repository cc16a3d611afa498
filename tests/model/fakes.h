// Small compressors and scenarios that model tests share.
#pragma once

#include <memory>

#include "model/compressor.h"
#include "model/scenario.h"

namespace breakeven::testing {

/// One all-reduce of `ratio` of the bytes, with known codec times per message.
class Fake final : public Compressor {
 public:
  Fake(double ratio, Seconds encode, Seconds decode, Exchange exchange = Exchange::all_reduce)
      : ratio_(ratio), encode_(encode), decode_(decode), exchange_(exchange) {}
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Round round;
    round.exchange = exchange_;
    round.payload = bytes(tensors) * ratio_;
    round.encode.known = encode_;
    round.decode.known = decode_;
    round.encode.origin = round.decode.origin = Origin::measured;
    return {round};
  }

 private:
  double ratio_;
  Seconds encode_, decode_;
  Exchange exchange_;
};
inline Fake plain() {
  return {1, {}, {}};
}

/// `tensors` tensors of `elements` each, one a module; backward evenly spread.
inline Scenario scenario(std::size_t tensors, std::size_t elements, double backward, double gamma = 1) {
  Scenario scenario;
  scenario.workload = plain_workload("test", tensors * elements, tensors);
  set_times(scenario.workload, Seconds::of(backward / 2), Seconds::of(backward));
  scenario.fabric.across = {"network", 1_GBps, 10_us, 1};
  scenario.fabric.inside = {"link", 100_GBps, 1_us, 1};
  scenario.fabric.offered = {Algorithm::ring};
  scenario.workers = 8;
  scenario.device.memory = 900_GBps;
  scenario.device.host_link = 10_GBps;
  scenario.schedule = make_schedule("wfbp");
  scenario.overlap.gamma = gamma;
  return scenario;
}

}  // namespace breakeven::testing
