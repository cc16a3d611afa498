// Are the best buckets the best? Against every division there is, on small workloads, by the timeline.
#include "model/bucket_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace breakeven {
namespace {

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  std::mt19937 engine;
};

/// Modules of one or two tensors, some with no time of their own and some with no tensor.
Workload random_workload(Random& random, std::size_t modules) {
  Workload workload;
  for (std::size_t m = 0; m < modules; ++m) {
    const double time = random.count(0, 4) == 0 ? 0 : std::pow(10, random.real(-4, -2));
    workload.modules.push_back({"m", 0, 0, {}, Seconds::of(time)});
    for (std::size_t t = random.count(m == 0 ? 1 : 0, 2); t > 0; --t) {
      workload.tensors.push_back({"t", {static_cast<std::size_t>(std::pow(10, random.real(1, 6)))}, m});
    }
  }
  return workload;
}

Seconds over(const Workload& workload, const std::vector<Message>& messages, const MessageCosts& costs) {
  std::vector<Chain> chains;
  for (const Message& message : messages) {
    Chain chain;
    chain.ready = message.ready;
    chain.stages.push_back(
        {Resource::network, Activity::exchange, costs.exchange(bytes(message.tensors)), 0});
    chains.push_back(chain);
  }
  return run_timeline(chains, workload.backward(), {costs.gamma, 1}).backward_and_sync();
}

/// The gradients, last tensor first, cut wherever `cuts` has a bit (it has 64).
std::vector<Message> divided(const Workload& workload, std::size_t cuts) {
  std::vector<Message> messages(1);
  const std::vector<Seconds> ready = module_ready(workload);
  for (std::size_t i = workload.tensors.size(); i-- > 0;) {
    const Tensor& tensor = workload.tensors[i];
    messages.back().tensors.push_back(workload.shape(tensor));
    messages.back().ready = std::max(messages.back().ready, ready[tensor.module]);
    if (i > 0 && i <= 64 && (cuts >> (i - 1) & 1U) != 0) {
      messages.emplace_back();
    }
  }
  return messages;
}

constexpr Seconds kUnbounded = Seconds::of(std::numeric_limits<double>::infinity());

TEST(BucketPlan, NoDivisionEndsSooner) {
  constexpr unsigned kSeed = 17;
  Random random(kSeed);
  for (int i = 0; i < 400; ++i) {
    const Workload workload = random_workload(random, random.count(1, 6));
    const double startup = std::pow(10, random.real(-6, -2));
    const double slope = std::pow(10, random.real(-10, -8));
    // Half of them with a price that falls at a size, as between two algorithms or in a measured table.
    const double step = random.count(0, 1) == 0 ? 0 : random.real(-0.5, 0.5);
    MessageCosts costs{[=](Bytes size) {
                         const double time = startup + slope * size.base();
                         return Seconds::of(size.base() > 1e5 ? time * (1 + step) : time);
                       },
                       {}};
    costs.gamma = i % 3 == 0 ? 1 : random.real(1, 2);
    Seconds least = kUnbounded;
    for (std::size_t cuts = 0; cuts < std::size_t{1} << (workload.tensors.size() - 1); ++cuts) {
      least = std::min(least, over(workload, divided(workload, cuts), costs));
    }
    EXPECT_NEAR(over(workload, best_buckets(workload, costs), costs) / least, 1, 1e-9)
        << "seed " << kSeed << ", case " << i;
  }
}

TEST(BucketPlan, NoneOfManyDivisionsOfManyTensorsEndsSooner) {
  constexpr unsigned kSeed = 23;
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const std::size_t count = random.count(20, 60);
    const Workload workload = random_workload(random, count);
    const double startup = std::pow(10, random.real(-6, -2)), slope = std::pow(10, random.real(-10, -8));
    MessageCosts costs{[=](Bytes size) { return Seconds::of(startup + slope * size.base()); },
                       [](Bytes) { return Seconds{}; }};
    costs.gamma = random.real(1, 2);
    const Seconds best = over(workload, best_buckets(workload, costs), costs) * (1 - 1e-12);
    for (const char* method : {"mgwfbp", "asc", "wfbp", "ddp", "bsp"}) {
      EXPECT_GE(over(workload, make_schedule(method).messages(workload, costs), costs), best)
          << method << ", seed " << kSeed << ", case " << i;
    }
    for (int division = 0; division < 50; ++division) {
      std::size_t cuts = 0;
      for (std::size_t bucket = random.count(0, 9); bucket-- > 0;) {
        cuts |= std::size_t{1} << random.count(0, count - 2);
      }
      EXPECT_GE(over(workload, divided(workload, cuts), costs), best)
          << cuts << ", seed " << kSeed << ", case " << i;
    }
  }
}

TEST(BucketPlan, WeighsTheSlowdownOfBackward) {
  // Two tensors, at 1 s and 4 s; a message takes 2 s and nothing by size. Apart, the first hides but slows
  // backward; while it is under way, 2 s of the clock are 1 s of backward: 1 + 2 + 2 + 2 s.
  Workload workload;
  workload.modules = {{"a", 0, 0, {}, 3_s}, {"b", 0, 0, {}, 1_s}};
  workload.tensors = {{"a.w", {1}, 0}, {"b.w", {1}, 1}};
  const MessageCosts costs{[](Bytes) { return 2_s; }, {}, 2};
  EXPECT_EQ(best_buckets(workload, costs).size(), 1U);
  EXPECT_EQ(over(workload, divided(workload, 0), costs), 6_s);
  EXPECT_EQ(over(workload, divided(workload, 1), costs), 7_s);
}

}  // namespace
}  // namespace breakeven
