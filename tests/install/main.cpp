// Asks the installed library one question, whose answer is known by hand.
#include <cstdio>

#include "compressors/builtin.h"
#include "model/predict.h"
#include "model/registry.h"
#include "profiles/catalogue.h"

int main() {
  using namespace breakeven;
  Registry registry;
  add_builtin(registry);

  Scenario scenario;
  scenario.workload = plain_workload("25 million gradients", 25'000'000);
  set_times(scenario.workload, 10_ms, 20_ms);
  scenario.fabric.across = {.name = "network", .bandwidth = 10_Gbps, .latency = 50_us};
  scenario.workers = 4;
  scenario.algorithm = Algorithm::ring;
  scenario.schedule = make_schedule("bsp");
  const Candidate plain = registry.make("none");

  // 10 ms + 20 ms + 2 (4 - 1) 50 us + 2 (4 - 1) / 4 100 MB / 1.25 GB/s
  std::printf("step %.4f ms\n", predict(scenario, *plain.compressor).step.base() * 1e3);
  std::printf("resnet50 %zu gradients\n", Catalogue().model("resnet50").workload.elements());
}
