// Does gTop-k's tree come to what a plain one comes to, and is nothing lost but what its authors lose?
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "compressors/half.h"
#include "compressors/simd/magnitude.h"
#include "tests/compressors/fleet.h"

namespace breakeven::test {
namespace {

using testing::Each;
using testing::ElementsAre;

using Sparse = std::map<std::size_t, float>;

/// The k of largest magnitude, of equal ones the first.
Sparse largest(const Sparse& all, std::size_t k) {
  std::vector<std::pair<std::size_t, float>> ranked(all.begin(), all.end());
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return magnitude(a.second) > magnitude(b.second); });
  ranked.resize(k);
  return {ranked.begin(), ranked.end()};
}

/// All workers' steps, entry by entry.
class PlainTree {
 public:
  PlainTree(std::size_t n, std::size_t k, std::size_t workers, bool feedback)
      : k_(k), feedback_(feedback), residuals_(workers, std::vector<float>(n)) {}

  std::vector<float> step(const std::vector<std::vector<float>>& gradients) {
    const std::size_t workers = residuals_.size(), n = residuals_.front().size();
    std::vector<Sparse> own;
    for (std::size_t rank = 0; rank < workers; ++rank) {
      std::vector<float>& sum = residuals_[rank];
      Sparse all;
      for (std::size_t i = 0; i < n; ++i) {
        sum[i] = feedback_ ? sum[i] + gradients[rank][i] : gradients[rank][i];
        all[i] = sum[i];
      }
      own.push_back(largest(all, k_));
    }
    std::vector<Sparse> held = own;
    for (std::size_t distance = 1; distance < workers; distance *= 2) {
      for (std::size_t rank = 0; rank + distance < workers; rank += 2 * distance) {
        for (const auto& [position, value] : held[rank + distance]) {
          const auto [entry, added] = held[rank].try_emplace(position, value);
          entry->second += added ? 0.0F : value;
        }
        held[rank] = largest(held[rank], k_);
      }
    }
    std::vector<float> mean(n);
    for (const auto& [position, value] : held[0]) {
      mean[position] += value * (1.0F / static_cast<float>(workers));
      for (std::size_t rank = 0; rank < workers; ++rank) {
        if (own[rank].contains(position)) {
          residuals_[rank][position] = 0;
        }
      }
    }
    return mean;
  }

 private:
  std::size_t k_;
  bool feedback_;
  std::vector<std::vector<float>> residuals_;
};

TEST(GTopK, ComesToThePlainTreesMeanWithAnyNumberOfWorkers) {
  const auto check = [](std::size_t n, const std::string& ratio, std::size_t k, std::size_t workers,
                        GradientKind kind, bool feedback) {
    SCOPED_TRACE(std::to_string(n) + " " + ratio + " " + std::to_string(workers) + " " +
                 std::string(name(kind)));
    Fleet fleet("gtopk:ratio=" + ratio + (feedback ? "" : ",feedback=off"), vector_of(n), workers);
    PlainTree plain(n, k, workers, feedback);
    for (std::uint64_t step = 0; step < 3; ++step) {
      std::vector<std::vector<float>> gradients;
      for (std::size_t rank = 0; rank < workers; ++rank) {
        gradients.push_back(made(n, kind, 100 * step + rank));
      }
      fleet.step(gradients);
      const std::vector<float> mean = plain.step(gradients);
      for (std::size_t rank = 0; rank < workers; ++rank) {
        ASSERT_EQ(fleet.mean(rank), mean);
      }
    }
  };
  for (const std::size_t workers : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 13U}) {
    for (const GradientKind kind : {GradientKind::normal, GradientKind::heavy_tailed, GradientKind::constant,
                                    GradientKind::zero, GradientKind::one_hot, GradientKind::denormal}) {
      check(1, "1%", 1, workers, kind, true);
      check(50, "10%", 5, workers, kind, true);
      check(50, "100%", 50, workers, kind, true);
      on_every_target([&] { check(700, "30%", 210, workers, kind, workers % 2 == 0); });
    }
  }
}

TEST(GTopK, OfTwoWorkersSendsEverythingInTime) {
  // Sums of these numbers are exact, also in f16.
  for (const char* spec : {"gtopk:ratio=10%", "gtopk:ratio=10%,value=f16,index=u64"}) {
    const std::size_t n = 300;
    Fleet fleet(spec, vector_of(n), 2);
    std::vector<std::vector<float>> gradients = {even_numbers(n, 1), even_numbers(n, 2)};
    std::vector<float> sum(n), got(n);
    for (std::size_t i = 0; i < n; ++i) {
      sum[i] = gradients[0][i] + gradients[1][i];
    }
    for (int step = 0; step < 100; ++step) {
      fleet.step(gradients);
      for (std::size_t i = 0; i < n; ++i) {
        got[i] += 2 * fleet.mean()[i];
      }
      gradients.assign(2, std::vector<float>(n));
    }
    EXPECT_EQ(got, sum) << spec;
    EXPECT_THAT(fleet.mean(), Each(0.0F)) << spec;
  }
}

TEST(GTopK, KeepsTheErrorOfRounding) {
  const std::size_t n = 1000;
  Fleet fleet("gtopk:ratio=100%,value=f16", vector_of(n));
  const std::vector<float> gradient = made(n, GradientKind::normal);
  fleet.step({gradient});
  const std::vector<float> first = fleet.mean();
  fleet.step({std::vector<float>(n)});
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(first[i], from_f16(to_f16(gradient[i])));
    ASSERT_EQ(fleet.mean()[i], from_f16(to_f16(gradient[i] - first[i])));
  }
}

TEST(GTopK, ForgetsAnInfinityOnceItIsSent) {
  for (const char* value : {"gradient", "f16"}) {
    Fleet fleet(std::string("gtopk:ratio=2%,value=") + value, vector_of(100), 2);
    std::vector<float> gradient(100), other(100);
    gradient[3] = std::numeric_limits<float>::infinity();
    other[7] = std::numeric_limits<float>::quiet_NaN();
    fleet.step({gradient, other});
    EXPECT_EQ(fleet.mean(1)[3], gradient[3]);
    EXPECT_TRUE(std::isnan(fleet.mean(1)[7]));
    std::vector<float> next(100);
    next[50] = next[51] = 1;
    fleet.step({next, next});
    EXPECT_EQ(fleet.mean(), next) << value;
  }
}

TEST(GTopK, SendsPositionsAndValuesAsOneMessageALevelAndThenToAll) {
  const auto distances = [](const Plan& plan) {
    std::vector<std::size_t> all;
    for (const Round& round : plan) {
      EXPECT_EQ(round.exchange, round.distance > 0 ? Exchange::tree_step : Exchange::broadcast);
      all.push_back(round.distance);
    }
    return all;
  };
  EXPECT_THAT(distances(plan_of("gtopk", vector_of(4000), 1)), ElementsAre(0));
  EXPECT_THAT(distances(plan_of("gtopk", vector_of(4000), 2)), ElementsAre(1, 0));
  EXPECT_THAT(distances(plan_of("gtopk", vector_of(4000), 5)), ElementsAre(1, 2, 4, 0));
  EXPECT_THAT(distances(plan_of("gtopk", vector_of(4000), 8)), ElementsAre(1, 2, 4, 0));
  EXPECT_THAT(payloads(plan_of("gtopk", vector_of(4999), 4)), ElementsAre(32, 32, 32));
  EXPECT_THAT(payloads(plan_of("gtopk:index=u64", vector_of(4999), 4)), Each(48));
  EXPECT_THAT(payloads(plan_of("gtopk:value=f16", vector_of(4999), 4)), Each(24));
  EXPECT_THAT(payloads(plan_of("gtopk", vector_of(4999, Element::bf16), 4)), Each(24));
}

TEST(GTopK, MergesAtEveryLevelWithTheWorkOfTwoSelections) {
  const double n = 1e6, k = 1e3, width = 4, entry = 8, passes = 5;
  const Plan plan = plan_of("gtopk", vector_of(1000000), 8);
  EXPECT_EQ(plan[0].encode.touched.base(), (passes + 3) * n * width + k * entry);
  for (const std::size_t round : {1U, 2U, 3U}) {
    EXPECT_EQ(plan[round].encode.touched.base(), passes * 2 * k * width + 5 * k * entry) << round;
    EXPECT_EQ(plan[round].encode.elements, 2 * k);
  }
  EXPECT_EQ(plan[2].decode.touched, Bytes{});
  EXPECT_EQ(plan[3].decode.touched.base(), n * width + k * (entry + 2 * width));
  EXPECT_EQ(plan_of("gtopk:feedback=off", vector_of(1000000), 8)[0].encode.touched.base(),
            passes * n * width + k * entry);
}

}  // namespace
}  // namespace breakeven::test
