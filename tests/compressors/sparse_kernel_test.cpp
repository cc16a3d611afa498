// Do the sparse schemes send the elements that they say, and keep the others?
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "compressors/random.h"
#include "tests/compressors/fleet.h"
#include "tests/compressors/positions.h"

namespace breakeven::test {
namespace {

TEST(Sparse, ResultsDoNotDependOnThreadsOrTarget) {
  const std::size_t n = 150001;
  std::vector<std::vector<float>> gradients;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    gradients.push_back(made(n, seed < 2 ? GradientKind::heavy_tailed : GradientKind::with_nan, seed));
  }
  for (const char* spec :
       {"topk", "topk:ratio=10%,index=u32,value=f16", "topk:ratio=40%,feedback=off", "topk:select=threshold",
        "topk:select=threshold,rounds=2,ratio=20%", "randomk", "randomk:ratio=20%,feedback=off",
        "randomk:seed=own", "randomk:seed=own,ratio=30%,feedback=off,index=u32", "dgc:sample=100%",
        "dgc:ratio=0.1%,rounds=5,index=u32", "gtopk", "gtopk:ratio=10%,index=u64,value=f16"}) {
    Fleet one(spec, vector_of(n), 2);
    one.step({gradients[0], gradients[1]});
    one.step({gradients[2], gradients[3]});
    ASSERT_TRUE(same_bits(one.mean(0), one.mean(1))) << spec;
    for (const std::size_t threads : {2U, 3U}) {
      Fleet more(spec, vector_of(n), 2, threads);
      more.step({gradients[0], gradients[1]});
      more.step({gradients[2], gradients[3]});
      EXPECT_EQ(one.payloads(), more.payloads()) << spec << " " << threads;
      EXPECT_TRUE(same_bits(one.mean(), more.mean())) << spec << " " << threads;
    }
    if (!std::string(spec).starts_with("dgc")) {  // whose momentum rounds once or twice
      on_every_target([&] {
        Fleet other(spec, vector_of(n), 2);
        other.step({gradients[0], gradients[1]});
        other.step({gradients[2], gradients[3]});
        EXPECT_EQ(one.payloads(), other.payloads()) << spec;
        EXPECT_TRUE(same_bits(one.mean(), other.mean())) << spec;
      });
    }
  }
}

TEST(Sparse, TheMeanIsThatOfWhatWasSent) {
  const std::size_t n = 40001, workers = 3;
  std::vector<std::vector<float>> gradients;
  for (std::uint64_t seed = 0; seed < workers; ++seed) {
    gradients.push_back(made(n, GradientKind::normal, seed));
  }
  for (const char* spec :
       {"topk:ratio=20%,index=u32", "randomk:ratio=20%,seed=own,index=u32", "dgc:ratio=20%,index=u32"}) {
    Fleet fleet(spec, vector_of(n), workers);
    fleet.step(gradients);
    const std::size_t values = std::string(spec).starts_with("dgc") ? 1 : 0;
    std::vector<double> sum(n);
    for (std::size_t rank = 0; rank < workers; ++rank) {
      const auto positions = fleet.sent<std::uint32_t>(values + 1, rank);
      const auto sent = fleet.sent<float>(values, rank);
      for (std::size_t i = 0; i < positions.size(); ++i) {
        sum[positions[i]] += sent[i];
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(fleet.mean()[i], sum[i] / workers, 1e-6 * std::abs(sum[i]) + 1e-9) << spec << " " << i;
    }
  }
}

TEST(Sparse, DecodingWritesTheMeanAndNothingElse) {
  const std::size_t n = 20001, guard = 64;
  for (const char* spec : {"topk:index=u32", "topk:value=f16", "randomk", "randomk:seed=own", "dgc", "gtopk",
                           "gtopk:index=u64"}) {
    const auto compressor = registry().make(spec).compressor;
    const auto plan = plan_of(spec, vector_of(n), 2);
    const auto kernel = compressor->kernel(vector_of(n), {0, 2, 7, 2});
    kernel->encode(0, made(n, GradientKind::normal));
    std::vector<float> memory(n + 2 * guard, 42.0F);
    for (std::size_t round = 0; round < plan.size(); ++round) {
      // Any bytes: positions in any order and anywhere.
      Payload noise(static_cast<std::size_t>(plan[round].payload.base()) *
                    (plan[round].exchange == Exchange::all_gather ? 2 : 1));
      for (std::size_t i = 0; i < noise.size(); ++i) {
        noise[i] = static_cast<std::byte>(random_at(round, i / (1 + i % 3)));
      }
      kernel->decode(round, noise, std::span(memory).subspan(guard, n));
    }
    for (std::size_t i = 0; i < guard; ++i) {
      ASSERT_EQ(memory[i], 42.0F) << spec;
      ASSERT_EQ(memory[guard + n + i], 42.0F) << spec;
    }
  }
}

TEST(Sparse, HaveKernelsForFp32Only) {
  for (const char* spec : {"topk", "randomk", "randomk:seed=own", "dgc", "gtopk"}) {
    const auto compressor = registry().make(spec).compressor;
    EXPECT_EQ(compressor->kernel(vector_of(10, Element::bf16), {}), nullptr) << spec;
    EXPECT_NE(compressor->kernel(Message{{0, 4}}, {}), nullptr) << spec;
  }
}

TEST(RandomK, DrawsDistinctPositionsAsLikelyAsEachOther) {
  for (const auto& [n, ratio] : {std::pair{1000U, "3.7%"}, {1000U, "66.7%"}, {33U, "10%"}, {64U, "100%"}}) {
    Fleet fleet(std::string("randomk:seed=own,index=u32,feedback=off,ratio=") + ratio, vector_of(n));
    const std::vector<float> gradient = made(n, GradientKind::normal);
    std::vector<double> drawn(n);
    constexpr int kSteps = 4000;
    std::size_t k = 0;
    for (int step = 0; step < kSteps; ++step) {
      fleet.step({gradient});
      const auto positions = fleet.sent<std::uint32_t>(1);
      k = positions.size();
      ASSERT_TRUE(std::is_sorted(positions.begin(), positions.end(), std::less_equal<>()));
      ASSERT_LT(positions.back(), n);
      ASSERT_EQ(fleet.sent<float>(0), at(gradient, positions));
      for (const std::uint32_t position : positions) {
        drawn[position] += 1;
      }
    }
    const double share = static_cast<double>(k) / n;
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(drawn[i], kSteps * share, 5 * std::sqrt(kSteps * share * (1 - share)) + 1e-9)
          << n << " " << i;
    }
  }
}

TEST(RandomK, SharesPositionsOrNot) {
  const std::size_t n = 5000;
  const std::vector<float> gradient(n, 1.0F);
  const auto sent_at = [](const std::vector<float>& mean) {
    return std::count_if(mean.begin(), mean.end(), [](float value) { return value != 0; });
  };
  Fleet shared("randomk:ratio=2%,feedback=off", vector_of(n), 2),
      own("randomk:ratio=2%,feedback=off,seed=own", vector_of(n), 2);
  shared.step({gradient, gradient});
  own.step({gradient, gradient});
  EXPECT_EQ(sent_at(shared.mean()), 100);
  EXPECT_GT(sent_at(own.mean()), 150);
  const std::vector<float> before = shared.mean();
  shared.step({gradient, gradient});
  EXPECT_NE(shared.mean(), before);
}

TEST(RandomK, KeepsWhatItDoesNotSend) {
  const std::size_t n = 40000;
  for (const char* seed : {"shared", "own"}) {
    Fleet fleet(std::string("randomk:ratio=7%,seed=") + seed, vector_of(n), 1, 2);
    std::vector<float> residual(n);
    for (int step = 0; step < 5; ++step) {
      std::vector<float> gradient(n);
      for (std::size_t i = 0; i < n; ++i) {
        gradient[i] = static_cast<float>(1 + random_at(9, i) % 100);
        residual[i] += gradient[i];
      }
      fleet.step({gradient});
      std::size_t sent = 0;
      for (std::size_t i = 0; i < n; ++i) {
        if (fleet.mean()[i] != 0) {
          ASSERT_EQ(fleet.mean()[i], residual[i]);
          residual[i] = 0;
          ++sent;
        }
      }
      EXPECT_EQ(sent, n * 7 / 100);
    }
  }
}

TEST(Dgc, SendsTheLargestOfMomentumsSum) {
  const std::size_t n = 8000, k = 80;
  on_every_target([&] {
    Fleet fleet("dgc:ratio=1%,sample=100%,index=u32", vector_of(n));
    std::vector<float> velocity(n), sum(n);
    for (std::uint64_t step = 1; step < 6; ++step) {
      const std::vector<float> gradient = made(n, GradientKind::heavy_tailed, step);
      fleet.step({gradient});
      for (std::size_t i = 0; i < n; ++i) {
        velocity[i] = 0.9F * velocity[i] + gradient[i];
        sum[i] += velocity[i];
      }
      const Positions positions = largest(sum, k);
      ASSERT_EQ(fleet.sent<std::uint64_t>(0).front(), k);
      ASSERT_EQ(fleet.sent<std::uint32_t>(2), positions);
      for (std::size_t i = 0; i < k; ++i) {
        ASSERT_NEAR(fleet.sent<float>(1)[i], sum[positions[i]], 1e-5 * std::abs(sum[positions[i]]));
        velocity[positions[i]] = sum[positions[i]] = 0;
      }
    }
  });
}

TEST(Dgc, SaysHowManyEntriesAreReal) {
  const std::size_t n = 30000, k = 300;
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    Fleet fleet("dgc:ratio=1%,sample=1%,index=u32", vector_of(n));
    const std::vector<float> gradient = made(n, GradientKind::normal, seed);
    fleet.step({gradient});
    const std::size_t count = fleet.sent<std::uint64_t>(0).front();
    ASSERT_GE(count, 1U);
    ASSERT_LE(count, k);
    const auto positions = fleet.sent<std::uint32_t>(2);
    ASSERT_EQ(Positions(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(count)),
              largest(gradient, count));
    const auto values = fleet.sent<float>(1);
    for (std::size_t i = count; i < k; ++i) {
      ASSERT_EQ(values[i], 0);
      ASSERT_EQ(positions[i], 0U);
    }
  }
}

TEST(Dgc, CountsCorrectABadSample) {
  const std::size_t n = 100000, k = 1000;
  std::size_t low = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<float> gradient = made(n, GradientKind::heavy_tailed, seed);
    const auto count = [&](const std::string& rounds) {
      Fleet fleet("dgc:sample=0.1%,rounds=" + rounds, vector_of(n));
      fleet.step({gradient});
      return fleet.sent<std::uint64_t>(0).front();
    };
    low += count("1") < k * 7 / 10 ? 1 : 0;
    EXPECT_GE(count("11"), k * 7 / 10) << seed;
  }
  EXPECT_GT(low, 0U);
}

}  // namespace
}  // namespace breakeven::test
