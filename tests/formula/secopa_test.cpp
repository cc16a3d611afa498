// Does the price of a plan equal what HiPress' planner says: when is a tensor worth compressing, and in how
// many parts? mark14wu/hipress@aa1b594 src/SeCoPa/SeCoPa.py, its cost functions and the values that it
// prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "compressors/builtin.h"
#include "model/codec.h"
#include "model/predict.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

/// max(least, slope*x + start) milliseconds for x fp32 elements.
struct Cost {
  double slope, start, least;
  [[nodiscard]] double at(double x) const { return std::max(least, slope * x + start); }
};
struct Servers {
  std::size_t nodes;
  Cost gather, broadcast;
};
const std::vector<Servers> kServers = {
    {4, {2.7156e-6, .4193, .15573}, {2.7157e-6, .22156, .1482}},
    {8, {6.1167e-6, .80768, .28778}, {6.1172e-6, .27285, .29666}},
    {16, {1.2937e-5, 1.4406, .59503}, {1.2915e-5, .45538, .58353}},
};
constexpr Cost kRingStep{8.5005e-7, .20337, .09766};
constexpr double kRatio = 1.0 / 16;
constexpr double kWidth = 4;  // bytes of an element

enum class Way { servers, ring };

/// The whole cost as a curve: flat up to where the line passes the least time, then the line.
Curve curve_of(const Cost& cost, double scale = 1) {
  const double line = std::max(0.0, (cost.least - cost.start) / cost.slope) / scale;
  const auto point = [&](double elements) {
    return Curve::Point{elements, Seconds::of(cost.at(elements * scale) * 1e-3)};
  };
  return {{point(line), point(line + 1e9)}};
}
CodecCosts codec() {
  CodecCosts costs;
  costs.encode = curve_of({1.4133e-8, .058938, .05408});
  costs.decode = curve_of({6.2041e-9, .13956, .07287}, kRatio);  // of compressed elements
  return costs;
}

/// A ring step is a latency and a bandwidth. Gather and broadcast have least times: a table, fine enough for
/// its interpolation to keep six digits.
Fabric fabric_of(std::size_t nodes) {
  Fabric fabric;
  fabric.across = {"network", BytesPerSecond::of(kWidth / (kRingStep.slope * 1e-3)),
                   Seconds::of(kRingStep.start * 1e-3), 1};
  fabric.offered = {Algorithm::ring};
  Table table{Exchange::push_pull, nodes, 0, {}};
  const auto servers =
      std::find_if(kServers.begin(), kServers.end(), [&](const Servers& one) { return one.nodes == nodes; });
  for (double elements = 1; elements < 1e9; elements *= 1.01) {
    table.points.push_back(
        {Bytes::of(elements * kWidth),
         Seconds::of((servers->gather.at(elements) + servers->broadcast.at(elements)) * 1e-3)});
  }
  fabric.tables = {table};
  return fabric;
}

/// CaSync: a tensor in `parts`, each coded and exchanged by itself and all at once. One round states the
/// longest way through: what one link carries and what one node codes.
class Parts final : public Compressor {
 public:
  Parts(Way way, std::size_t parts, bool compressed) : way_(way), parts_(parts), compressed_(compressed) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const auto n = static_cast<double>(workers);
    const auto k = static_cast<double>(parts_);
    const double part = static_cast<double>(elements(tensors)) / k;
    const double sent = part * kWidth * (compressed_ ? kRatio : 1);
    Round round;
    if (way_ == Way::ring) {  // 2(n-1) steps of a part each: an all-reduce sends 1/n of its payload a step
      round.exchange = Exchange::all_reduce;
      round.payload = Bytes::of(sent * n);
    } else {  // the parts' servers work side by side
      round.exchange = Exchange::push_pull;
      round.payload = Bytes::of(sent);
    }
    round.encode.elements = round.decode.elements = compressed_ ? part : 0;
    round.encode.repeats = way_ == Way::ring ? n : std::min(k + 1, n);
    round.decode.repeats = way_ == Way::ring ? n : std::min(n - 1 + k, 2 * (n - 1));
    return {round};
  }

 private:
  Way way_;
  std::size_t parts_;
  bool compressed_;
};

/// `elements` exchanged after everything else.
Scenario exchange_of(std::size_t elements, std::size_t nodes) {
  Scenario scenario;
  scenario.workload = plain_workload("tensor", elements);
  scenario.workers = nodes;
  scenario.schedule = make_schedule("bsp");
  scenario.fabric = fabric_of(nodes);
  return scenario;
}
double milliseconds(const Scenario& scenario, const Compressor& compressor) {
  return predict(scenario, compressor).step.base() * 1e3;
}

struct Best {
  double time = 0;  // ms
  std::size_t parts = 0;
};
/// In as many parts, up to one a node, as take the least time.
Best best(Way way, std::size_t elements, std::size_t nodes, bool compressed) {
  const Scenario scenario = exchange_of(elements, nodes);
  Best found;
  for (std::size_t parts = 1; parts <= nodes; ++parts) {
    const auto timed = with_costs(std::make_shared<Parts>(way, parts, compressed), codec());
    const double time = milliseconds(scenario, *timed);
    if (found.parts == 0 || time < found.time) {
      found = {time, parts};
    }
  }
  return found;
}

struct Printed {
  std::size_t elements, nodes;
  Way way;
  double plain, compressed;              // ms
  std::size_t plain_parts, coded_parts;  // 0: not stated
};
const std::vector<Printed> kPrinted = {
    {36864, 4, Way::servers, .691, 1.331, 4, 1},          {36864, 4, Way::ring, 1.267, 2.018, 0, 0},
    {36864, 16, Way::servers, 2.054, 4.406, 0, 0},        {36864, 16, Way::ring, 6.160, 9.281, 0, 0},
    {589824, 4, Way::servers, 1.442, 1.535, 0, 0},        {589824, 4, Way::ring, 1.972, 2.070, 0, 0},
    {589824, 16, Way::servers, 2.849, 4.936, 0, 0},       {589824, 16, Way::ring, 7.041, 9.344, 0, 0},
    {2359296, 4, Way::servers, 3.844, 1.949, 0, 4},       {2359296, 4, Way::ring, 4.228, 2.236, 0, 0},
    {2359296, 16, Way::servers, 5.708, 5.841, 0, 0},      {2359296, 16, Way::ring, 9.861, 9.546, 0, 0},
    {16777216, 4, Way::servers, 23.421, 3.385, 0, 0},     {16777216, 4, Way::ring, 22.612, 3.595, 0, 0},
    {16777216, 16, Way::servers, 29.004, 8.961, 0, 12},   {16777216, 16, Way::ring, 32.841, 11.192, 0, 0},
    {102760448, 4, Way::servers, 140.172, 11.947, 0, 0},  {102760448, 4, Way::ring, 132.247, 11.696, 0, 0},
    {102760448, 16, Way::servers, 167.931, 18.930, 0, 0}, {102760448, 16, Way::ring, 169.885, 21.006, 0, 0},
};

TEST(SeCoPa, PricesEveryTensorAsItPrints) {
  for (const Printed& row : kPrinted) {
    const Best plain = best(row.way, row.elements, row.nodes, false);
    const Best coded = best(row.way, row.elements, row.nodes, true);
    const auto where = ::testing::Message() << row.elements << " elements, " << row.nodes << " nodes, "
                                            << (row.way == Way::ring ? "ring" : "servers");
    EXPECT_NEAR(plain.time, row.plain, 5e-4) << where;
    EXPECT_NEAR(coded.time, row.compressed, 5e-4) << where;
    EXPECT_EQ(coded.time < plain.time, row.compressed < row.plain) << where;
    if (row.plain_parts != 0) {
      EXPECT_EQ(plain.parts, row.plain_parts) << where;
    }
    if (row.coded_parts != 0) {
      EXPECT_EQ(coded.parts, row.coded_parts) << where;
    }
  }
}

TEST(SeCoPa, ChoosesTheLineOfItsSamplePlan) {
  const Best plain = best(Way::servers, 1048576, 4, false);
  const Best coded = best(Way::servers, 1048576, 4, true);
  EXPECT_NEAR(plain.time, 2.0646, 5e-5);
  EXPECT_NEAR(coded.time, 1.7042, 5e-5);
  EXPECT_EQ(coded.parts, 1U);
}

TEST(SeCoPa, CompressesVgg19FromThePublishedSizeOn) {
  const Workload vgg19 = Catalogue().model("vgg19").workload;
  const auto smallest = [&](Way way, std::size_t nodes) {
    std::optional<std::size_t> least;
    for (const Tensor& tensor : vgg19.tensors) {
      const std::size_t size = tensor.elements();
      if ((!least || size < *least) &&
          best(way, size, nodes, true).time < best(way, size, nodes, false).time) {
        least = size;
      }
    }
    return least.value_or(0);
  };
  EXPECT_EQ(smallest(Way::servers, 4), 1179648U);
  EXPECT_EQ(smallest(Way::ring, 4), 1179648U);
  EXPECT_EQ(smallest(Way::servers, 8), 2359296U);
  EXPECT_EQ(smallest(Way::ring, 8), 1179648U);
  EXPECT_EQ(smallest(Way::servers, 16), 4096000U);
  EXPECT_EQ(smallest(Way::ring, 16), 2359296U);
}

TEST(SeCoPa, OnePartANodeIsThePlainRing) {
  Registry registry;
  add_builtin(registry);
  const Scenario scenario = exchange_of(589824, 16);
  const double plain = milliseconds(scenario, *registry.make("none").compressor);
  EXPECT_NEAR(plain, 7.041, 5e-4);
  EXPECT_NEAR(milliseconds(scenario, Parts(Way::ring, 16, false)), plain, 1e-12);
}

TEST(SeCoPa, TheCatalogueHasItsCodecCosts) {
  const CodecProfile profile = Catalogue().codec("hipress");
  ASSERT_EQ(profile.costs.size(), 1U);
  for (const double elements : {1e3, 36864.0, 1048576.0, 16777216.0, 102760448.0}) {
    EXPECT_NEAR(profile.costs[0].encode.at(elements).base() * 1e3, codec().encode.at(elements).base() * 1e3,
                1e-6);
    EXPECT_NEAR(profile.costs[0].decode.at(elements).base() * 1e3, codec().decode.at(elements).base() * 1e3,
                1e-6);
  }
}

}  // namespace
}  // namespace breakeven
