// When does MG-WFBP become one message after backward, as it did on BERT (arXiv 2005.13247: MG-WFBP and BSP
// differ by less than 0.1 %)?
#include <gtest/gtest.h>

#include <algorithm>

#include "profiles/catalogue.h"
#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::on_10gbe;
using testing::plainly;

/// The authors' all-reduce of 32 workers over 10GbE: 3 * 1.3476 ms and 0.8643 ns a byte (MG-WFBP's
/// distributed_optimizer.py), at the throughput of one GPU in the plots of ddl-benchmarks.
Scenario with_startup(const char* model, double batch, double throughput, double startup) {
  Scenario scenario = on_10gbe(Catalogue().model(model).workload, 32, "bsp");
  const double compute = batch / throughput;
  set_times(scenario.workload, Seconds::of(compute / 3), Seconds::of(compute * 2 / 3));
  scenario.fabric.across.latency = Seconds::of(startup / 62);
  scenario.fabric.across.bandwidth = BytesPerSecond::of(2 * 31.0 / 32 / 8.643301e-10);
  return scenario;
}
constexpr double kStartup = 3 * 0.0013476410788581382;

double step(Scenario scenario, const char* schedule) {
  scenario.schedule = make_schedule(schedule);
  return plainly(scenario).step.base();
}

/// The longest that backward takes from one gradient to the next one.
double longest_gap(const Workload& workload) {
  const std::vector<Seconds> ready = module_ready(workload);
  double gap = 0;
  for (std::size_t i = 1; i < workload.tensors.size(); ++i) {
    gap = std::max(gap, (ready[workload.tensors[i - 1].module] - ready[workload.tensors[i].module]).base());
  }
  return gap;
}

TEST(Collapse, V7MgWfbpOfBertLargeIsBsp) {
  const Scenario scenario = with_startup("bert-large-s64", 8, 49, kStartup);
  EXPECT_NEAR(step(scenario, "mgwfbp") / step(scenario, "bsp"), 1, 1e-9);
  // Not with the start-up of a faster network.
  const Scenario faster = with_startup("bert-large-s64", 8, 49, kStartup / 20);
  EXPECT_LT(step(faster, "mgwfbp"), step(faster, "bsp"));
}

/// BERT-Base at batch 64 collapsed too. Its backward split by FLOPs, which gives nothing to what is bound by
/// memory, has gaps above 4.04 ms: the rule collapses at once where the start-up is above them.
TEST(Collapse, V7MgWfbpOfBertBaseIsBspAboveItsLongestGap) {
  const double gap = longest_gap(with_startup("bert-base-s64", 64, 212.8, kStartup).workload);
  const Scenario above = with_startup("bert-base-s64", 64, 212.8, gap * (1 + 1e-6));
  EXPECT_NEAR(step(above, "mgwfbp") / step(above, "bsp"), 1, 1e-9);
  const Scenario below = with_startup("bert-base-s64", 64, 212.8, kStartup);
  EXPECT_GT(gap, kStartup);
  EXPECT_LT(step(below, "mgwfbp"), step(below, "bsp"));
}

}  // namespace
}  // namespace breakeven
