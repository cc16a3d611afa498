// Does merging gain on K80 nodes what was measured? V11: GoogLeNet on the cluster of arXiv 1811.11141, 10
// Gbit/s Ethernet. The trace's batch is not stated, so what the methods gain over each other is held, not
// their times.
#include <gtest/gtest.h>

#include <fstream>

#include "compressors/builtin.h"
#include "model/predict.h"

namespace breakeven {
namespace {

/// GoogLeNet, layer by layer (B-Caffe's logdata/tmpcomm.log); forward takes half of backward, as in the
/// authors' trace script. The log adds a layer's bias to its weight; both were exchanged (128 tensors), and a
/// bias has so few elements that only its start-up counts.
Workload googlenet() {
  std::ifstream file(std::string(BREAKEVEN_SOURCE_DIR) + "/tests/formula/data/googlenet_k80.csv");
  Workload workload;
  std::string line;
  std::getline(file, line);
  double elements = 0, backward = 0, measured = 0;
  char comma = 0;
  while (file >> elements >> comma >> backward >> comma >> measured) {
    workload.modules.push_back({"layer", 0, 0, Seconds::of(backward * 0.5e-6), Seconds::of(backward * 1e-6)});
    const std::size_t module = workload.modules.size() - 1;
    workload.tensors.push_back({"layer.weight", {static_cast<std::size_t>(elements) - 1}, module});
    workload.tensors.push_back({"layer.bias", {1}, module});
  }
  return workload;
}

/// All-reduces of `start` seconds and `per_byte` more a byte: fits of 200 to 500 KB of the cluster's OSU
/// logs.
Scenario cluster(std::size_t nodes, double start, double per_byte) {
  const double steps = 2 * (static_cast<double>(nodes) - 1);
  Scenario scenario;
  scenario.workload = googlenet();
  scenario.workers = nodes;
  scenario.fabric.offered = {Algorithm::ring};
  scenario.fabric.across = {"10GbE", BytesPerSecond::of(steps / (static_cast<double>(nodes) * per_byte)),
                            Seconds::of(start / steps), 1};
  return scenario;
}

double step(Scenario scenario, const std::string& schedule) {
  Registry registry;
  add_builtin(registry);
  scenario.schedule = make_schedule(schedule);
  return predict(scenario, *registry.make("none").compressor).step.base();
}

TEST(K80, MergingGainsWhatWasMeasured) {
  struct Row {
    std::size_t nodes;
    double start, per_byte;                      // of an all-reduce
    double merged, wait_free, at_the_end, near;  // images a second and node
  };
  for (const Row& row : {Row{2, 121e-6, 1.632e-9, 158.04, 149.66, 125.14, .06},
                         Row{4, 168e-6, 2.422e-9, 150.06, 149.82, 115.34, .10},
                         Row{8, 1112e-6, 1.995e-9, 151.36, 125.80, 111.16, .05}}) {
    SCOPED_TRACE(row.nodes);
    const Scenario scenario = cluster(row.nodes, row.start, row.per_byte);
    const double merged = step(scenario, "mgwfbp:small=0");
    EXPECT_GT(step(scenario, "wfbp"), merged);
    EXPECT_GT(step(scenario, "bsp"), step(scenario, "wfbp"));
    EXPECT_NEAR(step(scenario, "wfbp") / merged / (row.merged / row.wait_free), 1, row.near);
    EXPECT_NEAR(step(scenario, "bsp") / merged / (row.merged / row.at_the_end), 1, row.near);
  }
}

}  // namespace
}  // namespace breakeven
