// Are the best buckets with a scheme each the best? Against every mix there is, on small workloads.
#include "model/scheme_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "model/mixer.h"
#include "tests/model/fakes.h"

namespace breakeven {
namespace {

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  double power(double low, double high) { return std::pow(10, real(low, high)); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  std::mt19937 engine;
};

/// `rounds` rounds that each send a share of the bytes and take a fixed and a growing time to code.
class Rounds final : public Compressor {
 public:
  Rounds(std::size_t rounds, double ratio, double fixed, double growing)
      : rounds_(rounds), ratio_(ratio), fixed_(fixed), growing_(growing) {}
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Round round;
    round.exchange = Exchange::all_reduce;
    round.payload = bytes(tensors) * ratio_;
    round.encode.known = round.decode.known = Seconds::of(fixed_ + growing_ * bytes(tensors).base());
    return Plan(rounds_, round);
  }

 private:
  std::size_t rounds_;
  double ratio_, fixed_, growing_;
};

struct Case {
  Scenario scenario;
  std::vector<std::unique_ptr<Compressor>> schemes;
  std::vector<Choice> choices;
};

/// Plain all-reduce and two schemes, with codecs or without.
Case random_case(Random& random, std::size_t tensors, bool codes) {
  Case made;
  made.scenario = testing::scenario(1, 1, 1, random.count(0, 1) == 0 ? 1 : random.real(1, 1.5));
  Workload& workload = made.scenario.workload;
  workload.modules.clear();
  workload.tensors.clear();
  for (std::size_t i = 0; i < tensors; ++i) {
    workload.modules.push_back({"m", 0, 0, Seconds::of(1e-3), Seconds::of(random.power(-4, -2))});
    workload.tensors.push_back({"t", {static_cast<std::size_t>(random.power(2, 6.5))}, i});
  }
  made.scenario.overlap.gamma_codec = random.real(1, 1.3);
  made.schemes.push_back(std::make_unique<Rounds>(1, 1, 0, 0));
  made.choices.push_back({made.schemes[0].get(), Placement::serial});
  for (int i = 0; i < 2; ++i) {
    // A share of the bytes, and now and then more of them: only worth it where it codes nothing else.
    const std::size_t rounds = codes ? random.count(1, 2) : 1;
    made.schemes.push_back(std::make_unique<Rounds>(rounds, random.power(-2, 0.1),
                                                    codes ? random.power(-5, -3) : 0,
                                                    codes ? random.power(-12, -9.5) : 0));
    made.choices.push_back(
        {made.schemes.back().get(), static_cast<Placement>(random.count(0, codes ? 2 : 1))});
  }
  return made;
}

/// The shortest step of all mixes: every division, every choice for each of its buckets.
double exhaustive(Case& made) {
  Mixer mixer(made.scenario, made.choices);
  const std::size_t tensors = made.scenario.workload.tensors.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t cuts = 0; cuts < std::size_t{1} << (tensors - 1); ++cuts) {
    Mix mix;
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= tensors; ++end) {
      if (end == tensors || (cuts >> (end - 1) & 1U) != 0) {
        mix.ranges.emplace_back(begin, end);
        begin = end;
      }
    }
    const auto all = static_cast<std::size_t>(std::pow(made.choices.size(), mix.ranges.size()));
    for (std::size_t code = 0; code < all; ++code) {
      mix.choices.clear();
      for (std::size_t left = code; mix.choices.size() < mix.ranges.size(); left /= made.choices.size()) {
        mix.choices.push_back(left % made.choices.size());
      }
      mixer.run(mix);
      least = std::min(least, mix.step);
    }
  }
  return least;
}

/// One choice everywhere in the plan's own buckets, by predict().
Seconds alone_in(const Case& made, const MixedStep& step, std::size_t choice) {
  Scenario scenario = made.scenario;
  scenario.schedule = {};
  scenario.schedule.messages = [&](const Workload&, const MessageCosts&) { return step.messages; };
  return predict(scenario, *made.choices[choice].compressor, made.choices[choice].placement).step;
}

TEST(SchemePlan, WithoutCodecsNoMixEndsSooner) {
  constexpr unsigned kSeed = 5;
  Random random(kSeed);
  for (int i = 0; i < 60; ++i) {
    Case made = random_case(random, random.count(1, 6), false);
    const SchemePlan plan = plan_schemes(made.scenario, made.choices);
    EXPECT_TRUE(plan.exact);
    EXPECT_NEAR(plan.best.parts.backward_and_sync().base() / exhaustive(made), 1, 1e-9)
        << "seed " << kSeed << ", case " << i;
  }
}

TEST(SchemePlan, WithCodecsFewMixesEndSoonerAndThoseByLittle) {
  constexpr unsigned kSeed = 60;
  Random random(kSeed);
  int missed = 0;
  double worst = 1;
  for (int i = 0; i < 60; ++i) {
    Case made = random_case(random, random.count(2, 6), true);
    const SchemePlan plan = plan_schemes(made.scenario, made.choices);
    EXPECT_FALSE(plan.exact);
    const double found = plan.best.parts.backward_and_sync().base() / exhaustive(made);
    EXPECT_GE(found, 1 - 1e-9) << "seed " << kSeed << ", case " << i;
    missed += found > 1 + 1e-9 ? 1 : 0;
    worst = std::max(worst, found);
  }
  EXPECT_LE(missed, 2);
  EXPECT_LE(worst, 1.01);
}

TEST(SchemePlan, IsNeverWorseThanOneChoiceInTheSameBuckets) {
  constexpr unsigned kSeed = 7;
  Random random(kSeed);
  int mixed = 0;
  for (int i = 0; i < 60; ++i) {
    const Case made = random_case(random, random.count(2, 24), i % 4 != 0);
    const SchemePlan plan = plan_schemes(made.scenario, made.choices);
    const Seconds step = plan.best.parts.step();
    ASSERT_EQ(plan.best.choices.size(), plan.best.messages.size());
    const auto& chosen = plan.best.choices;
    mixed += std::any_of(chosen.begin(), chosen.end(), [&](std::size_t c) { return c != chosen[0]; }) ? 1 : 0;
    for (std::size_t choice = 0; choice < made.choices.size(); ++choice) {
      SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i) + ", choice " +
                   std::to_string(choice));
      EXPECT_LE(step, alone_in(made, plan.best, choice) * (1 + 1e-9));
      EXPECT_LE(step, plan.alone[choice].parts.step() * (1 + 1e-9));
      EXPECT_LE(plan.alone[choice].parts.step(), plan.usual[choice].parts.step() * (1 + 1e-9));
    }
    EXPECT_LE(step, plan.ddp.parts.step() * (1 + 1e-9));
  }
  EXPECT_GT(mixed, 10) << "hardly any case mixes";
}

TEST(SchemePlan, OneChoiceEverywhereIsWhatPredictSays) {
  constexpr unsigned kSeed = 8;
  Random random(kSeed);
  for (int i = 0; i < 40; ++i) {
    const Case made = random_case(random, random.count(2, 12), true);
    const SchemePlan plan = plan_schemes(made.scenario, made.choices);
    for (std::size_t choice = 0; choice < made.choices.size(); ++choice) {
      const Seconds said = alone_in(made, plan.usual[choice], choice);
      EXPECT_NEAR(plan.usual[choice].parts.step() / said, 1, 1e-12) << "seed " << kSeed << ", case " << i;
    }
  }
}

}  // namespace
}  // namespace breakeven
