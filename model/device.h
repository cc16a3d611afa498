// What one worker computes on: turns device-free work into seconds.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/compressor.h"
#include "model/fabric.h"
#include "model/workload.h"

namespace breakeven {

enum class Precision { fp32, tf32, fp16, bf16 };
std::string_view name(Precision precision);

struct Device {
  std::string name;
  BytesPerSecond memory;                                 ///< bandwidth of the device's memory
  Bytes capacity;                                        ///< of that memory; zero: not known
  std::array<std::optional<PerSecond>, 4> peak{};        ///< floating-point operations by Precision
  std::array<double, 4> efficiency{0.5, 0.4, 0.4, 0.4};  ///< share of the peak that training reaches
  Seconds launch;                                        ///< start of one kernel
  BytesPerSecond host_link;                              ///< to the host's memory, one direction, as used
  Level peer;                                            ///< link to the other workers of the node
  std::optional<Architecture> architecture;              ///< for NCCL's cost model, as is the next
  std::optional<PeerLink> peers;
};

/// known, else launches * launch + max(touched / memory, flops / peak fp32).
Seconds time(const Device& device, const Work& work);

struct ComputeTimes {
  Seconds forward, backward;
};
/// FLOPs of the batch over peak times efficiency. Throws Error when the device has no such precision.
ComputeTimes estimate(const Device& device, const Workload& workload, double batch, Precision precision);

}  // namespace breakeven
