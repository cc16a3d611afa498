// Does top-k send the largest elements, and keep the others?
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "compressors/half.h"
#include "compressors/random.h"
#include "tests/compressors/fleet.h"
#include "tests/compressors/positions.h"

namespace breakeven::test {
namespace {

/// Vectors that mislead a sample, or have nothing that separates them.
std::vector<std::vector<float>> awkward(std::size_t n) {
  std::vector<std::vector<float>> all;
  for (const GradientKind kind : gradient_kinds()) {
    all.push_back(made(n, kind));
  }
  std::vector<float> ramp(n), levels(n), cluster(n), mostly_zero(n), nan(n);
  for (std::size_t i = 0; i < n; ++i) {
    ramp[i] = static_cast<float>(i) * (i % 2 == 0 ? 1.0F : -1.0F);
    levels[i] = static_cast<float>(random_at(3, i) % 7) - 3.0F;
    // As many large elements as 1 % of all, side by side where no line is sampled.
    cluster[i] = i >= n / 2 && i < n / 2 + n / 100 ? 5.0F + static_cast<float>(i) : 1e-3F;
    mostly_zero[i] = random_at(4, i) % 1000 == 0 ? 1.0F + static_cast<float>(i) : -0.0F;
    nan[i] = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<float> down(ramp.rbegin(), ramp.rend());
  all.insert(all.end(), {ramp, down, levels, cluster, mostly_zero, nan});
  return all;
}

TEST(TopK, KeepsTheLargestAndOfEqualOnesTheFirst) {
  for (const std::size_t n : {1U, 7U, 8U, 33U, 256U, 4099U, 65537U, 150000U}) {
    std::vector<std::string> ratios = {"0.1%", "1%", "10%"};
    if (n < 5000) {
      ratios.insert(ratios.end(), {"99%", "100%"});
    }
    for (const std::vector<float>& vector : awkward(n)) {
      const Positions ranked = ranking(vector);
      for (const std::string& ratio : ratios) {
        on_every_target([&] {
          Fleet fleet("topk:index=u32,feedback=off,ratio=" + ratio, vector_of(n));
          fleet.step({vector});
          const auto positions = fleet.sent<std::uint32_t>(1);
          ASSERT_EQ(positions, first_of(ranked, positions.size())) << n << " " << ratio;
          ASSERT_TRUE(same_bits(fleet.sent<float>(0), at(vector, positions))) << n << " " << ratio;
        });
      }
    }
  }
}

TEST(TopK, DoesNotMindWhereTheGradientLies) {
  const std::size_t n = 9001;
  for (std::size_t offset = 0; offset < 17; ++offset) {
    std::vector<float> memory = made(n + 17, GradientKind::normal);
    const std::span<const float> gradient = std::span<const float>(memory).subspan(offset, n);
    Fleet fleet("topk:index=u32,feedback=off,ratio=3%", vector_of(n));
    const auto bytes = fleet.kernel().encode(0, gradient);
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    const std::vector<float> copy(gradient.begin(), gradient.end());
    EXPECT_EQ(values, at(copy, largest(copy, values.size()))) << offset;
  }
}

TEST(TopK, OfEveryTensorTakesItsOwn) {
  const Message message = {{100, 1}, {20000, 1}, {0, 3}, {1, 1}, {50, 40}};
  const std::vector<float> gradient = made(elements(message), GradientKind::heavy_tailed);
  for (const std::size_t threads : {1U, 3U}) {
    Fleet fleet("topk:index=u32,feedback=off,ratio=2%,scope=tensor", message, 1, threads);
    fleet.step({gradient});
    Positions expected;
    std::size_t first = 0;
    for (const std::size_t n : {100U, 20000U, 1U, 2000U}) {
      const std::vector<float> tensor(gradient.begin() + static_cast<std::ptrdiff_t>(first),
                                      gradient.begin() + static_cast<std::ptrdiff_t>(first + n));
      for (const std::uint32_t position : largest(tensor, std::max<std::size_t>(1, n / 50))) {
        expected.push_back(static_cast<std::uint32_t>(first) + position);
      }
      first += n;
    }
    EXPECT_EQ(fleet.sent<std::uint32_t>(1), expected);
  }
}

TEST(TopK, KeepsWhatItDoesNotSend) {
  for (const bool half : {false, true}) {
    on_every_target([&] {
      const std::size_t n = 10007;
      Fleet fleet(std::string("topk:ratio=2%,value=") + (half ? "f16" : "gradient"), vector_of(n));
      std::vector<float> residual(n);
      for (std::uint64_t step = 1; step < 5; ++step) {
        const std::vector<float> gradient = made(n, GradientKind::heavy_tailed, step);
        fleet.step({gradient});
        for (std::size_t i = 0; i < n; ++i) {
          residual[i] += gradient[i];
        }
        const Positions positions = largest(residual, n / 50);
        const auto wide = fleet.sent<std::uint64_t>(1);
        ASSERT_EQ(Positions(wide.begin(), wide.end()), positions);
        std::vector<float> values = at(residual, positions);
        if (half) {
          for (float& value : values) {
            value = from_f16(to_f16(value));
          }
        }
        ASSERT_EQ(at(fleet.mean(), positions), values);
        for (std::size_t i = 0; i < positions.size(); ++i) {
          residual[positions[i]] -= values[i];
        }
      }
    });
  }
}

TEST(TopK, ForgetsAnInfinityOnceItIsSent) {
  for (const char* value : {"gradient", "f16"}) {
    Fleet fleet(std::string("topk:ratio=2%,value=") + value, vector_of(100));
    std::vector<float> gradient(100, 0.0F);
    gradient[3] = std::numeric_limits<float>::infinity();
    gradient[7] = std::numeric_limits<float>::quiet_NaN();
    fleet.step({gradient});
    EXPECT_EQ(fleet.mean()[3], gradient[3]);
    EXPECT_TRUE(std::isnan(fleet.mean()[7]));
    std::vector<float> next(100, 0.0F);
    next[50] = next[51] = 1;
    fleet.step({next});
    EXPECT_EQ(fleet.mean(), next) << value;
  }
}

TEST(TopK, ByBisectionComesToTheSameWithManyRounds) {
  for (const std::size_t n : {5U, 1000U, 70001U}) {
    for (const std::vector<float>& vector : awkward(n)) {
      on_every_target([&] {
        Fleet exact("topk:ratio=1%", vector_of(n)),
            found("topk:ratio=1%,select=threshold,rounds=200", vector_of(n));
        exact.step({vector});
        found.step({vector});
        EXPECT_EQ(exact.payloads(), found.payloads()) << n;
      });
    }
  }
}

TEST(TopK, ByOneBisectionFillsUpInOrder) {
  const std::size_t n = 40000;
  std::vector<float> vector(n);
  for (std::size_t i = 0; i < n; ++i) {
    vector[i] = i % 1000 == 999 ? -8.0F : 1.0F + static_cast<float>(i % 2);  // 40 large ones; k is 400
  }
  for (const std::size_t threads : {1U, 2U}) {
    Fleet fleet("topk:index=u32,ratio=1%,select=threshold,rounds=1", vector_of(n), 1, threads);
    fleet.step({vector});
    Positions expected(360);
    std::iota(expected.begin(), expected.end(), 0U);
    for (std::uint32_t i = 999; i < n; i += 1000) {
      expected.push_back(i);
    }
    EXPECT_EQ(fleet.sent<std::uint32_t>(1), expected);
  }
}

}  // namespace
}  // namespace breakeven::test
