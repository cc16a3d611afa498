// Is the what-if simulator of arXiv 2006.10103 whole? Its grid case by case, what the paper published of it,
// its batches, its table of additions, and the measurement that beats its bound.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "compressors/builtin.h"
#include "model/predict.h"
#include "profiles/grid_runner.h"

namespace breakeven {
namespace {

const std::vector<std::string> kModels = {"resnet50", "resnet101", "vgg16_bn"};

/// The rows of a file in data/, without its head.
std::vector<std::vector<std::string>> rows_of(const std::string& name) {
  std::ifstream file(std::string(BREAKEVEN_SOURCE_DIR) + "/tests/formula/data/" + name);
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) {
      rows.back().push_back(cell);
    }
  }
  return rows;
}

const Registry& registry() {
  static const Registry all = [] {
    Registry made;
    add_builtin(made);
    return made;
  }();
  return all;
}

OptionValues options(const std::string& model, const std::string& workers, const std::string& gbit) {
  return {{"model", model},
          {"device", "v100"},
          {"batch", "32"},
          {"workers", workers},
          {"fabric", "whatif-v100"},
          {"bandwidth", gbit + "Gbit/s"},
          {"algorithm", "ring"},
          {"schedule", "fusion:bytes=64MiB,timeout=5ms"},
          {"gamma", "1"}};
}
Breakdown step(const OptionValues& values, const std::string& scheme = "none") {
  static const Catalogue catalogue;
  return predict(resolve(values, catalogue).scenario, *registry().make(scheme).compressor).parts;
}
Seconds alone(const Breakdown& parts) {
  return parts.forward + parts.backward + parts.other;
}
double scaling(const Breakdown& parts) {
  return alone(parts) / parts.step();
}
double scaling(const std::string& model, const std::string& workers, const std::string& gbit,
               const std::string& ratio) {
  return scaling(step(options(model, workers, gbit), "ideal:ratio=" + ratio));
}

TEST(WhatIf, EveryCaseOfItsGrid) {
  // data/whatif.csv: the authors' simulator on their inputs, in event time; 32 workers by a restatement of it
  // that agrees with the others to 1e-13.
  struct Expected {
    double sync, overhead, scaling;
  };
  std::map<std::string, Expected> expected;
  for (const auto& row : rows_of("whatif.csv")) {
    expected[row[0] + "," + row[1] + "," + row[2] + "," + row[3]] = {std::stod(row[4]), std::stod(row[5]),
                                                                     std::stod(row[6])};
  }
  ASSERT_EQ(expected.size(), 270U);
  const Catalogue catalogue;
  const Catalogue::Text text = catalogue.sweep("whatif2020");
  const GridPlan plan(read_grid(text.json, text.where), catalogue, registry());
  ASSERT_EQ(plan.rows(), 270U);
  GridRunner runner(plan, catalogue, registry());
  for (std::size_t i = 0; i < plan.points(); ++i) {
    const GridPlan::Point point = plan.point(i);
    const OptionValues values = plan.values(point);
    const double backward = step(values).backward.base();
    const std::vector<GridRow>& rows = runner.run(point);
    for (std::size_t s = 0; s < rows.size(); ++s) {
      const std::string scheme = plan.schemes(point.of_case)[s];
      const std::string bandwidth = values.at("bandwidth");
      const std::string ratio = scheme == "ideal" ? "10" : scheme.substr(scheme.find('=') + 1);
      const std::string key = values.at("model") + "," + values.at("workers") + "," + ratio + "," +
                              bandwidth.substr(0, bandwidth.find(' '));
      ASSERT_TRUE(expected.contains(key)) << key;
      const Expected& one = expected.at(key);
      const double overhead = rows[s].step.base() * (1 - rows[s].scaling);
      EXPECT_NEAR(rows[s].scaling / one.scaling, 1, 1e-6) << key;
      EXPECT_NEAR(overhead / one.overhead, 1, 1e-6) << key;
      EXPECT_NEAR((backward + overhead) / one.sync, 1, 1e-6) << key;
      expected.erase(key);
    }
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_TRUE(runner.take_warnings().empty());
}

TEST(WhatIf, WhatThePaperPublishedOfIt) {
  // Figures 6(a), 8(a), 8(b), read off: 64 GPUs; the paper's VGG16 has batch normalisation.
  struct Point {
    const char *model, *gbit, *ratio;
    double percent;
  };
  for (const Point& point : std::vector<Point>{
           {"resnet50", "1", "1", 8.0},     {"resnet50", "10", "1", 54.0},   {"resnet50", "25", "1", 91.2},
           {"resnet50", "40", "1", 99.7},   {"resnet50", "100", "1", 99.7},  {"resnet50", "10", "1", 54.1},
           {"resnet50", "10", "2", 82.1},   {"resnet101", "10", "1", 49.6},  {"resnet101", "10", "2", 78.7},
           {"resnet101", "10", "5", 99.4},  {"vgg16_bn", "10", "1", 20.1},   {"vgg16_bn", "10", "2", 36.6},
           {"vgg16_bn", "10", "5", 72.2},   {"vgg16_bn", "10", "10", 99.2},  {"vgg16_bn", "10", "50", 99.3},
           {"vgg16_bn", "10", "100", 99.2}, {"vgg16_bn", "100", "1", 99.2},  {"vgg16_bn", "100", "2", 99.2},
           {"vgg16_bn", "100", "5", 99.2},  {"vgg16_bn", "100", "10", 99.2}, {"vgg16_bn", "100", "50", 99.2},
           {"vgg16_bn", "100", "100", 99.2}}) {
    EXPECT_NEAR(scaling(point.model, "64", point.gbit, point.ratio) * 100, point.percent, 1)
        << point.model << " " << point.gbit << " " << point.ratio;
  }
}

TEST(WhatIf, ItsFusedBatches) {
  const Catalogue catalogue;
  std::map<std::string, std::vector<Message>> messages;
  for (const std::string& model : kModels) {
    const Scenario scenario = resolve(options(model, "16", "1"), catalogue).scenario;
    messages[model] = scenario.schedule.messages(scenario.workload, {});
  }
  EXPECT_EQ(messages["resnet50"].size(), 12U);
  EXPECT_EQ(messages["resnet101"].size(), 20U);
  EXPECT_EQ(messages["vgg16_bn"].size(), 15U);
  std::map<std::string, std::size_t> next;
  for (const auto& row : rows_of("whatif_fused_batches.csv")) {
    const std::size_t i = next[row[0]]++;
    ASSERT_LT(i, messages[row[0]].size()) << row[0];
    const Message& message = messages[row[0]][i];
    EXPECT_NEAR(message.ready.base() / std::stod(row[1]), 1, 1e-9) << row[0] << " " << i;
    EXPECT_EQ(bytes(message.tensors).base(), std::stod(row[2])) << row[0] << " " << i;
  }
  for (const std::string& model : kModels) {
    EXPECT_EQ(next[model], messages[model].size());
  }
}

TEST(WhatIf, ItsTensorsAndTimes) {
  struct Row {
    std::string model;
    std::size_t tensors;
    double bytes, backward, alone;
  };
  for (const Row& row : {Row{"resnet50", 161, 102228128, 0.06480656729804143, 0.12808580219559176},
                         Row{"resnet101", 314, 178196640, 0.10640676286485456, 0.19200599479476405},
                         Row{"vgg16_bn", 58, 553463968, 0.11162048445807563, 0.19452352295080985}}) {
    const Workload workload = resolve(options(row.model, "16", "1"), Catalogue()).scenario.workload;
    EXPECT_EQ(workload.tensors.size(), row.tensors);
    EXPECT_EQ(workload.modules.size(), row.tensors) << "each gradient has a time of its own";
    EXPECT_EQ(workload.gradient_bytes().base(), row.bytes);
    EXPECT_NEAR(workload.backward().base() / row.backward, 1, 1e-12);
    EXPECT_NEAR((workload.forward() + workload.backward() + workload.other).base() / row.alone, 1, 1e-9);
  }
}

TEST(WhatIf, AdditionsAreInterpolatedAndClamped) {
  const AdditionTable additions = Catalogue().fabric("whatif-v100").fabric.additions;
  ASSERT_EQ(additions.points.size(), 25U);
  EXPECT_DOUBLE_EQ(additions.at(Bytes{}).base(), 1.04448e-5);
  EXPECT_DOUBLE_EQ(additions.at(40_B).base(), 1.04448e-5);
  EXPECT_DOUBLE_EQ(additions.at(1000_MB).base(), 2.43368e-3);
  EXPECT_NEAR(additions.at(3172_B).base(), 1.04849e-5, 1e-10);
}

TEST(WhatIf, WorkedExamples) {
  const Breakdown slow = step(options("resnet50", "64", "1"));
  EXPECT_NEAR((slow.backward + slow.step() - alone(slow)).base(), 1.62311, 5e-6);
  // The last batch alone is exposed: 31.97 us on the network, 63 additions of 10.485 us.
  const Breakdown fast = step(options("resnet50", "64", "100"));
  EXPECT_NEAR(fast.exposed_communication.base(), 692.5e-6, 5e-8);
}

TEST(WhatIf, ScalingRisesWithBandwidthAndRatioAndFallsWithWorkers) {
  for (const std::string& model : kModels) {
    double last = 0;
    for (const char* gbit : {"1", "10", "25", "40", "100"}) {
      const double here = scaling(model, "64", gbit, "1");
      EXPECT_GT(here, last) << model << " " << gbit;
      last = here;
    }
    last = 0;
    for (const char* ratio : {"1", "2", "5", "10", "50", "100"}) {
      const double here = scaling(model, "64", "10", ratio);
      EXPECT_GT(here, last) << model << " " << ratio;
      last = here;
    }
    last = 1;
    for (const char* workers : {"8", "16", "32", "64", "128"}) {
      const double here = scaling(model, workers, "100", "1");
      EXPECT_LT(here, last) << model << " " << workers;
      last = here;
    }
  }
}

/// Servers of 8 GPUs, between which only the network counts.
Scenario servers(const std::string& workers, const std::string& gbit, const std::string& algorithm) {
  OptionValues values = options("resnet50", workers, gbit);
  values["workers-per-node"] = "8";
  values["intra-bandwidth"] = "1e6GB/s";
  values["intra-latency"] = "0s";
  values["algorithm"] = algorithm;
  return resolve(values, Catalogue()).scenario;
}
double percent(const Scenario& scenario) {
  return scaling(predict(scenario, *registry().make("none").compressor).parts) * 100;
}
/// Without what additions take, which only rings pay here.
double network_alone(Scenario scenario) {
  scenario.fabric.additions = {};
  return percent(scenario);
}

TEST(WhatIf, TwoServersBeatTheRingBecauseATreeIsThere) {
  // Measured with two servers: 13.2 % at 1 Gbit/s, 68.6 % at 10 (figure 3, read off). A ring allows 7.98 and
  // 57.2 %; between two nodes each link of NCCL's trees carries the gradient once, which allows 14.4 and
  // 84.8 %.
  struct Row {
    const char* gbit;
    double measured, ring, tree;
  };
  for (const Row& row : {Row{"1", 13.2, 7.98, 14.4}, Row{"10", 68.6, 57.2, 84.8}}) {
    const double ring = percent(servers("16", row.gbit, "ring"));
    const double tree = percent(servers("16", row.gbit, "double-tree"));
    EXPECT_NEAR(ring, row.ring, 0.05) << row.gbit;
    EXPECT_NEAR(tree, row.tree, 0.3) << row.gbit << ": that bound counts a ring's additions too";
    EXPECT_LT(ring, row.measured) << row.gbit;
    EXPECT_GT(tree, row.measured) << row.gbit;
    // From three nodes on an inner node of the trees sends to two others: the ring is the bound again.
    for (const char* workers : {"32", "64"}) {
      EXPECT_LT(network_alone(servers(workers, row.gbit, "double-tree")),
                network_alone(servers(workers, row.gbit, "ring")))
          << row.gbit << " " << workers;
    }
  }
}

TEST(WhatIf, NcclsChoiceExplainsTwoServers) {
  Scenario scenario = servers("16", "1", "auto");
  scenario.fabric.offered = {Algorithm::ring, Algorithm::double_tree};
  EXPECT_GT(percent(scenario), 13.2);
}

TEST(WhatIf, CompressionIsNotNeededAt100GbitAndHelpsAt10) {
  for (const std::string& model : kModels) {
    EXPECT_GT(scaling(model, "64", "100", "1"), 0.99) << model;
  }
  EXPECT_GT(scaling("resnet50", "64", "10", "3"), 0.98);
  EXPECT_GT(scaling("resnet101", "64", "10", "5"), 0.99);
  EXPECT_LT(scaling("vgg16_bn", "64", "10", "5"), 0.73) << "twofold to fivefold is not enough for VGG";
}

TEST(WhatIf, WhatTheNetworkMeasuredIsFarBelowTheBound) {
  // Figure 1 at 64 GPUs and 100 Gbit/s: the finding that the network is not fully used.
  for (const auto& [model, measured] :
       {std::pair{"resnet50", 0.714}, std::pair{"resnet101", 0.667}, std::pair{"vgg16_bn", 0.601}}) {
    EXPECT_GT(scaling(model, "64", "100", "1"), measured + 0.2) << model;
  }
}

}  // namespace
}  // namespace breakeven
