// Does a model profile that we write read back as it was?
#include <gtest/gtest.h>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

void expect_equal(const ModelProfile& a, const ModelProfile& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.summary, b.summary);
  EXPECT_EQ(a.source, b.source);
  ASSERT_EQ(a.workload.tensors.size(), b.workload.tensors.size());
  for (std::size_t i = 0; i < a.workload.tensors.size(); ++i) {
    EXPECT_EQ(a.workload.tensors[i].name, b.workload.tensors[i].name);
    EXPECT_EQ(a.workload.tensors[i].dims, b.workload.tensors[i].dims);
    EXPECT_EQ(a.workload.tensors[i].module, b.workload.tensors[i].module);
  }
  ASSERT_EQ(a.workload.modules.size(), b.workload.modules.size());
  for (std::size_t i = 0; i < a.workload.modules.size(); ++i) {
    EXPECT_EQ(a.workload.modules[i].name, b.workload.modules[i].name);
    EXPECT_EQ(a.workload.modules[i].forward_flops, b.workload.modules[i].forward_flops);
    EXPECT_EQ(a.workload.modules[i].backward_flops, b.workload.modules[i].backward_flops);
  }
  ASSERT_EQ(a.timings.size(), b.timings.size());
  for (std::size_t i = 0; i < a.timings.size(); ++i) {
    EXPECT_EQ(a.timings[i].device, b.timings[i].device);
    EXPECT_EQ(a.timings[i].precision, b.timings[i].precision);
    EXPECT_EQ(a.timings[i].batch, b.timings[i].batch);
    EXPECT_EQ(a.timings[i].forward, b.timings[i].forward);
    EXPECT_EQ(a.timings[i].backward, b.timings[i].backward);
    EXPECT_EQ(a.timings[i].other, b.timings[i].other);
    EXPECT_EQ(a.timings[i].gaps, b.timings[i].gaps);
    EXPECT_EQ(a.timings[i].origin, b.timings[i].origin);
    EXPECT_EQ(a.timings[i].source, b.timings[i].source);
  }
}

ModelProfile example() {
  ModelProfile profile;
  profile.name = profile.workload.name = "mine";
  profile.source = "made up";
  add_tensor(profile.workload, "a.weight", {2, 5}, 10);
  add_tensor(profile.workload, "a.bias", {2}, 0.5);
  add_tensor(profile.workload, "scale", {}, 0, "b");
  Timing timing;
  timing.device = "v100";
  timing.batch = 8;
  timing.forward = Seconds::of(0.01);
  timing.backward = Seconds::of(0.02);
  timing.gaps = {Seconds::of(0.005), Seconds{}, Seconds::of(0.015)};
  timing.source = "a stopwatch";
  profile.timings = {timing};
  return profile;
}

TEST(WriteModel, IsShortAndReadable) {
  EXPECT_EQ(write_model(example()), R"({
  "schema": 1,
  "name": "mine",
  "source": "made up",
  "timings": [
    {
      "device": "v100",
      "precision": "fp32",
      "batch": 8,
      "forward": "10 ms",
      "backward": "20 ms",
      "gaps": ["5 ms", "0 ns", "15 ms"],
      "origin": "measured",
      "source": "a stopwatch"
    }
  ],
  "tensors": [
    ["a.weight", "2x5", 10.5],
    ["a.bias", "2", 0],
    ["scale", "1", 0, "b"]
  ]
}
)");
}

TEST(WriteModel, EveryModelOfTheCatalogueReadsBackTheSameValues) {
  const Catalogue catalogue;
  for (const std::string& name : catalogue.names("models")) {
    SCOPED_TRACE(name);
    const ModelProfile profile = catalogue.model(name);
    expect_equal(profile, read_model(write_model(profile), "written"));
  }
}

TEST(WriteModel, RefusesWhatNoProfileCanState) {
  const auto refused = [](void (*spoil)(Workload&)) {
    ModelProfile profile = example();
    spoil(profile.workload);
    return failure([&] { (void)write_model(profile); });
  };
  EXPECT_EQ(refused([](Workload& w) { w = {}; }),
            "value model profile: has no tensors: expected each tensor once");
  EXPECT_EQ(refused([](Workload& w) { w.tensors[1].name = "a.weight"; }),
            "value model profile: the tensor \"a.weight\" is there twice: expected each tensor once");
  EXPECT_EQ(refused([](Workload& w) {
              w.tensors[1].dims = {3, 0};
            }),
            "value model profile: the tensor \"a.bias\" is empty: expected dimensions above 0");
  EXPECT_EQ(
      refused([](Workload& w) { w.tensors[0].module = 1; }),
      "value model profile: the tensor \"a.weight\" is not among those of its module: expected modules in "
      "forward order");
  EXPECT_EQ(refused([](Workload& w) {
              w.modules.push_back({"c", 0, 0, {}, {}});
            }),
            "value model profile: the module \"c\" has no tensor: expected modules with tensors");
  EXPECT_EQ(refused([](Workload& w) { w.modules[1].name = "a"; }),
            "value model profile: two modules in a row are named \"a\": expected one of them");
}

}  // namespace
}  // namespace breakeven
