// Device profiles: any text is a device that prices work in finite time, or an error.
#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = read_or_refuse(read_device, data, size);
  if (!profile) {
    return 0;
  }
  const Device& device = profile->device;
  require(!device.name.empty(), "a device has a name");
  require_above_zero(device.memory, "memory");
  require_amount(device.capacity, "capacity");
  require_amount(device.launch, "launch");
  require_amount(device.host_link, "host_link");
  require_amount(device.peer.bandwidth, "peer bandwidth");
  require_amount(device.peer.latency, "peer latency");
  for (const double share : device.efficiency) {
    require(share > 0 && share <= 1, "an efficiency is a share");
  }
  Workload workload;
  add_tensor(workload, "weight", {1000, 1000}, 1e12);
  for (std::size_t i = 0; i < device.peak.size(); ++i) {
    if (device.peak[i]) {
      require_above_zero(*device.peak[i], "peak");
      const ComputeTimes times = estimate(device, workload, 64, static_cast<Precision>(i));
      require_above_zero(times.forward, "forward");
      require_above_zero(times.backward, "backward");
    }
  }
  Work work;
  work.touched = 1_MB;
  work.flops = 1e9;
  work.launches = 1000;
  require_above_zero(time(device, work), "time of a codec");
  return 0;
}
