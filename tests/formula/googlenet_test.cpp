// Do the schedules reach the times of the published GoogLeNet trace?
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::Layer;
using testing::on_10gbe;
using testing::plainly;
using testing::workload_of;

/// GoogLeNet on a K80, layer by layer: B-Caffe's logdata/tmpcomm.log, weight and bias together.
std::vector<Layer> googlenet() {
  std::ifstream file(std::string(BREAKEVEN_SOURCE_DIR) + "/tests/formula/data/googlenet_k80.csv");
  std::vector<Layer> layers;
  std::string line;
  std::getline(file, line);
  double elements = 0, backward = 0, measured = 0;
  char comma = 0;
  while (file >> elements >> comma >> backward >> comma >> measured) {
    layers.push_back({static_cast<std::size_t>(elements), backward * 1e-6});
  }
  return layers;
}

TEST(GoogLeNet, TheTraceIsWhole) {
  const Workload workload = workload_of(googlenet());
  EXPECT_EQ(workload.tensors.size(), 64U);
  EXPECT_EQ(workload.elements(), 13379136U);
  EXPECT_NEAR(workload.backward().base(), 201531.9e-6, 0.05e-6);
}

TEST(GoogLeNet, TheRegressionTableToItsPrintedDigits) {
  struct Row {
    std::size_t workers;
    double a, b, wfbp, bsp, greedy;
    std::size_t groups;
    double optimal;
    std::vector<double> speedups;
  };
  for (const Row& row : {
           Row{4, 2.7150e-4, 1.3460e-8, .30270, .48266, .30270, 10, .30270, {3.99, 2.51, 3.99, 3.99}},
           Row{8, 6.3350e-4, 1.5704e-8, .35187, .51304, .31516, 6, .31513, {6.87, 4.71, 7.67, 7.67}},
           Row{16, 1.3575e-3, 1.6826e-8, .41321, .52877, .33620, 6, .33448, {11.71, 9.15, 14.39, 14.46}},
           Row{32, 2.8055e-3, 1.7386e-8, .51339, .53772, .36054, 5, .34787, {18.84, 17.99, 26.83, 27.81}},
           Row{64, 5.7015e-3, 1.7667e-8, .70249, .54437, .40373, 3, .36610, {27.54, 35.54, 47.92, 52.85}},
       }) {
    SCOPED_TRACE(row.workers);
    const Workload workload = workload_of(googlenet());
    const Fabric fabric = on_10gbe({}, row.workers, "bsp").fabric;
    const auto all_reduce = [&](double size) {
      return transfer(fabric, Exchange::all_reduce, Bytes::of(size), {row.workers, 1}).time.base();
    };
    EXPECT_NEAR(all_reduce(0), row.a, 5e-9);
    EXPECT_NEAR((all_reduce(4e6) - all_reduce(0)) / 1e6, row.b, 5.1e-13);
    const double expected[] = {row.wfbp, row.bsp, row.greedy, row.optimal};
    const char* schedules[] = {"wfbp", "bsp", "mgwfbp:small=0", "optimal"};
    for (std::size_t i = 0; i < 4; ++i) {
      const Prediction prediction = plainly(on_10gbe(workload, row.workers, schedules[i]));
      EXPECT_NEAR(prediction.step.base(), expected[i], 5.1e-6) << schedules[i];
      const Seconds alone = workload.forward() + workload.backward();
      EXPECT_NEAR(static_cast<double>(row.workers) * (alone / prediction.step), row.speedups[i], 5.1e-3)
          << schedules[i];
      if (i == 2) {
        EXPECT_EQ(prediction.messages.size(), row.groups);
      }
    }
  }
}

}  // namespace
}  // namespace breakeven
