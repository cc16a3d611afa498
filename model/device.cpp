#include "model/device.h"

#include <algorithm>

#include "model/error.h"

namespace breakeven {

std::string_view name(Precision precision) {
  constexpr std::array<std::string_view, 4> names = {"fp32", "tf32", "fp16", "bf16"};
  return names[static_cast<std::size_t>(precision)];
}

Seconds time(const Device& device, const Work& work) {
  if (work.known) {
    return *work.known;
  }
  // Roofline: the slower of memory and arithmetic, after the launches.
  const Seconds memory = work.touched == Bytes{} ? Seconds{} : work.touched / device.memory;
  const std::optional<PerSecond> peak = device.peak[static_cast<std::size_t>(Precision::fp32)];
  const Seconds arithmetic = peak && work.flops > 0 ? Seconds::of(work.flops / peak->base()) : Seconds{};
  return work.launches * device.launch + std::max(memory, arithmetic);
}

ComputeTimes estimate(const Device& device, const Workload& workload, double batch, Precision precision) {
  const auto index = static_cast<std::size_t>(precision);
  const std::optional<PerSecond> peak = device.peak[index];
  if (!peak) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < device.peak.size(); ++i) {
      if (device.peak[i]) {
        known.emplace_back(name(static_cast<Precision>(i)));
      }
    }
    throw Error(Fault::value, {}, device.name + " has no " + std::string(name(precision)) + " peak",
                one_of(known));
  }
  const double rate = peak->base() * device.efficiency[index];
  return {Seconds::of(batch * workload.forward_flops() / rate),
          Seconds::of(batch * workload.backward_flops() / rate)};
}

}  // namespace breakeven
