// Do signs, their error feedback and the majority vote do what one element at a time would?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/simd/majority.h"
#include "compressors/simd/sign.h"
#include "tests/compressors/kernels.h"

namespace breakeven {
namespace {

using test::even_numbers;
using test::on_every_target;
using test::vector_of;
using test::Vectors;
using test::Workers;
using testing::Each;
using testing::Eq;

const std::vector<std::size_t> kSizes = {0, 1, 7, 8, 9, 31, 33, 63, 64, 65, 128, 1000, 4099};

bool bit(const std::vector<std::byte>& bits, std::size_t i) {
  return (bits[i / 8] >> (i % 8) & std::byte{1}) != std::byte{};
}
float sign(float value) {
  return value >= 0 ? 1.0F : -1.0F;
}
std::vector<std::byte> random_bytes(std::size_t n, std::uint64_t seed) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<std::byte>(random_at(seed, i));
  }
  return bytes;
}

TEST(SignKernel, PacksSignsAndAddsMagnitudesOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      std::vector<float> values = even_numbers(n + 1, n);
      if (n > 2) {
        values[1] = -0.0F;
        values[2] = 0.0F;
      }
      std::vector<std::byte> bits((n + 7) / 8 + 1, std::byte{0xa5});
      double sum = 0;
      for (std::size_t i = 1; i <= n; ++i) {
        sum += std::abs(static_cast<double>(values[i]));
      }
      EXPECT_EQ(pack_signs(std::span(values).subspan(1), bits.data()), sum) << n;
      for (std::size_t i = 0; i < (n + 7) / 8 * 8; ++i) {
        ASSERT_EQ(bit(bits, i), i < n && values[i + 1] >= 0) << n << ' ' << i;
      }
      EXPECT_EQ(bits.back(), std::byte{0xa5}) << n;
    }
  });
}

TEST(SignKernel, SumsAreTheSameOnEveryTarget) {
  std::vector<float> values(70001);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::tan(3.1 * (uniform_at(3, i) - 0.5)));
  }
  std::vector<std::byte> bits(values.size() / 8 + 1);
  const double sum = pack_signs(values, bits.data());
  on_every_target([&] { EXPECT_EQ(pack_signs(values, bits.data()), sum); });
}

TEST(SignKernel, NanIsNegativeAndMakesTheSumNan) {
  std::vector<float> values(40, 1.0F);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  on_every_target([&] {
    std::vector<std::byte> bits(5);
    EXPECT_TRUE(std::isnan(pack_signs(values, bits.data())));
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(bit(bits, i), i != 5);
    }
  });
}

TEST(SignKernel, FeedbackInOnePassIsTheTextbooksTwo) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      std::vector<float> kept(n + 1), error(n);
      kept.back() = 42;
      std::vector<std::byte> bits((n + 7) / 8);
      float last_scale = 0;
      for (std::uint64_t step = 0; step < 5; ++step) {
        const std::vector<float> values = even_numbers(n, 10 * n + step);
        const float scale = 0.7F + 0.1F * static_cast<float>(step);
        const double sum = pack_signs(values, last_scale, kept.data(), bits.data());
        double expected = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const float corrected = values[i] + error[i];
          ASSERT_EQ(kept[i], corrected) << n << ' ' << step << ' ' << i;
          ASSERT_EQ(bit(bits, i), corrected >= 0) << n << ' ' << step << ' ' << i;
          error[i] = corrected - scale * sign(corrected);
          expected += std::abs(static_cast<double>(corrected));
        }
        EXPECT_NEAR(sum, expected, 1e-5 * expected);
        last_scale = scale;
      }
      EXPECT_EQ(kept.back(), 42);
    }
  });
}

TEST(SignKernel, UnpacksAndAddsOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      const auto a = random_bytes(n / 8 + 2, n), b = random_bytes(n / 8 + 2, n + 1);
      std::vector<float> one(n + 2, 9), sum = one;
      unpack_signs(a.data(), 0.5F, std::span(one).subspan(1, n), n);
      Buffer<float> streamed(n + 1);
      unpack_signs(a.data(), 0.5F, streamed.span().first(n), std::size_t{1} << 30U);
      ASSERT_EQ(streamed[n], 0) << n;
      const ScaledSigns codes[] = {{a.data(), 0.5F}, {b.data(), 3}};
      add_signs(codes, 8, 0.25F, std::span(sum).subspan(1, n));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(one[i + 1], bit(a, i) ? 0.5F : -0.5F) << n << ' ' << i;
        ASSERT_EQ(streamed[i], one[i + 1]) << n << ' ' << i;
        const float other = bit(b, i + 8) ? 3.0F : -3.0F;
        ASSERT_EQ(sum[i + 1], ((bit(a, i + 8) ? 0.5F : -0.5F) + other) / 4) << n << ' ' << i;
      }
      for (const auto& guarded : {one, sum}) {
        EXPECT_EQ(guarded.front(), 9) << n;
        EXPECT_EQ(guarded.back(), 9) << n;
      }
    }
  });
}

TEST(SignKernel, BitsBecomeBytesAndBack) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      const auto bits = random_bytes(n / 8 + 1, n);
      std::vector<std::byte> bytes(n + 1, std::byte{7}), back((n + 7) / 8 + 1, std::byte{7});
      bits_to_bytes(bits.data(), std::span(bytes).first(n));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(bytes[i], bit(bits, i) ? std::byte{1} : std::byte{}) << n << ' ' << i;
      }
      bytes_to_bits(std::span(bytes).first(n), back.data());
      for (std::size_t i = 0; i < (n + 7) / 8 * 8; ++i) {
        ASSERT_EQ(bit(back, i), i < n && bit(bits, i)) << n << ' ' << i;
      }
      EXPECT_EQ(bytes.back(), std::byte{7});
      EXPECT_EQ(back.back(), std::byte{7});
    }
  });
}

TEST(Majority, CountsAsOneWouldByHandForAnyNumberOfVotes) {
  on_every_target([] {
    for (const std::size_t workers : {1U,  2U,  3U,  4U,  5U,  6U,  7U,  8U,  9U,  10U, 11U,
                                      12U, 13U, 14U, 15U, 16U, 17U, 31U, 32U, 33U, 64U, 257U}) {
      for (const std::size_t bytes : {0U, 1U, 5U, 64U, 131U}) {
        std::vector<std::vector<std::byte>> votes;
        std::vector<const std::byte*> places;
        for (std::size_t worker = 0; worker < workers; ++worker) {
          votes.push_back(random_bytes(bytes, 1000 * workers + worker));
        }
        for (const auto& vote : votes) {
          places.push_back(vote.data());
        }
        std::vector<std::byte> result(bytes + 1, std::byte{0x5a});
        majority(places, bytes, result.data());
        for (std::size_t i = 0; i < 8 * bytes; ++i) {
          std::size_t set = 0;
          for (const auto& vote : votes) {
            set += bit(vote, i) ? 1 : 0;
          }
          ASSERT_EQ(bit(result, i), 2 * set >= workers) << workers << " votes, bit " << i << ": " << set;
        }
        EXPECT_EQ(result.back(), std::byte{0x5a});
      }
    }
  });
}

/// The mean magnitude of one part, of numbers whose sum is exact.
float mean_magnitude(const std::vector<float>& values, std::size_t begin, std::size_t end) {
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    sum += std::abs(static_cast<double>(values[i]));
  }
  return static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(end - begin, 1)));
}

/// signsgd of one step, without feedback.
std::vector<float> voted(const Vectors& gradients, bool scaled, std::size_t parts) {
  const std::size_t n = gradients[0].size(), workers = gradients.size(), length = (n + parts - 1) / parts;
  std::vector<float> mean(n);
  for (std::size_t begin = 0; begin < n; begin += length) {
    const std::size_t end = std::min(n, begin + length);
    double scale = 0;
    for (const auto& gradient : gradients) {
      scale += scaled ? static_cast<double>(mean_magnitude(gradient, begin, end)) : 1;
    }
    for (std::size_t i = begin; i < end; ++i) {
      float balance = 0;
      for (const auto& gradient : gradients) {
        balance += sign(gradient[i]);
      }
      mean[i] = sign(balance) * static_cast<float>(scale / static_cast<double>(workers));
    }
  }
  return mean;
}

TEST(SignSgdKernel, IsTheMajoritysSignTimesTheMeanScale) {
  for (const char* pack : {"bits", "bytes"}) {
    for (const char* scale : {"none", "mean"}) {
      for (const char* exchange : {"all_gather", "all_to_all"}) {
        const std::string spec =
            std::string("signsgd:pack=") + pack + ",scale=" + scale + ",exchange=" + exchange;
        for (const std::size_t workers : {1U, 2U, 3U, 8U, 17U}) {
          for (const std::size_t n : {1U, 33U, 1000U, 70001U}) {
            Vectors gradients;
            for (std::size_t rank = 0; rank < workers; ++rank) {
              gradients.push_back(even_numbers(n, 100 * n + rank));
            }
            const std::size_t parts = std::string_view(exchange) == "all_to_all" ? workers : 1;
            const auto expected = voted(gradients, std::string_view(scale) == "mean", parts);
            const std::size_t threads = 1 + n % 3;
            const Vectors means = Workers(spec, vector_of(n), workers, threads).step(gradients);
            ASSERT_THAT(means, Each(Eq(expected))) << spec << ' ' << workers << " workers, " << n;
          }
        }
      }
    }
  }
}

TEST(SignSgdKernel, ATieIsPositive) {
  const auto mean = Workers("signsgd", vector_of(3), 2).step({{1, -1, -1}, {-2, 2, -2}})[0];
  EXPECT_THAT(mean, testing::ElementsAre(1, 1, -1));
}

TEST(SignSgdKernel, NanShowsThroughTheScale) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Vectors gradients = {{1, nan, 1}, {1, 1, 1}};
  const auto mean = Workers("signsgd:scale=mean", vector_of(3), 2).step(gradients)[0];
  for (const float value : mean) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(Workers("signsgd", vector_of(3), 1).step({{1, nan, 1}})[0], testing::ElementsAre(1, -1, 1));
}

/// The mean over `steps` steps of what a scheme makes of gradients that never change, and the largest
/// difference from their mean.
double drift(const std::string& spec, std::size_t workers, std::size_t n, int steps) {
  Vectors gradients;
  for (std::size_t rank = 0; rank < workers; ++rank) {
    gradients.push_back(even_numbers(n, rank));
  }
  Workers all(spec, vector_of(n), workers);
  std::vector<double> sums(n);
  for (int step = 0; step < steps; ++step) {
    const Vectors means = all.step(gradients);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i] += static_cast<double>(means[0][i]);
    }
  }
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double mean = 0;
    for (const auto& gradient : gradients) {
      mean += static_cast<double>(gradient[i]) / static_cast<double>(workers);
    }
    largest = std::max(largest, std::abs(sums[i] / steps - mean));
  }
  return largest;
}

TEST(SignFeedback, WhatIsLeftOutComesLater) {
  // The sum of all that was sent is the sum of the gradients less the residual of the last step, which stays
  // as small as it is, however many steps: here below 75 for a worker's, and as much for a server's.
  for (const int steps : {100, 800}) {
    for (const char* spec : {"signsgd:scale=mean,feedback=on", "signsgd:pack=bytes,scale=mean,feedback=on",
                             "signsgd:scale=mean,feedback=on,exchange=all_to_all"}) {
      EXPECT_LT(steps * drift(spec, 1, 300, steps), 75) << spec;
    }
    for (const std::size_t workers : {1U, 2U, 3U, 5U}) {
      EXPECT_LT(steps * drift("onebit", workers, 301, steps), 150) << workers << " workers";
    }
  }
  EXPECT_GT(drift("signsgd:scale=mean", 1, 300, 100), 1);
}

/// onebit's first step, in which all residuals are zero.
std::vector<double> one_bit(const Vectors& gradients) {
  const std::size_t n = gradients[0].size(), workers = gradients.size(), length = (n + workers - 1) / workers;
  std::vector<double> mean(n);
  for (std::size_t begin = 0; begin < n; begin += length) {
    const std::size_t end = std::min(n, begin + length);
    for (const auto& gradient : gradients) {
      const float scale = mean_magnitude(gradient, begin, end);
      for (std::size_t i = begin; i < end; ++i) {
        mean[i] += static_cast<double>(scale * sign(gradient[i])) / static_cast<double>(workers);
      }
    }
    double magnitude = 0;
    for (std::size_t i = begin; i < end; ++i) {
      magnitude += std::abs(mean[i]) / static_cast<double>(end - begin);
    }
    for (std::size_t i = begin; i < end; ++i) {
      mean[i] = mean[i] >= 0 ? magnitude : -magnitude;
    }
  }
  return mean;
}

TEST(OneBitKernel, CodesTwiceAndAllWorkersAgree) {
  for (const std::size_t workers : {1U, 2U, 3U, 8U}) {
    for (const std::size_t n : {1U, 33U, 1000U, 140001U}) {
      Vectors gradients;
      for (std::size_t rank = 0; rank < workers; ++rank) {
        gradients.push_back(even_numbers(n, 10 * n + rank));
      }
      const auto expected = one_bit(gradients);
      const Vectors means = Workers("onebit", vector_of(n), workers, 1 + n % 3).step(gradients);
      EXPECT_THAT(means, Each(Eq(means[0])));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_NEAR(means[0][i], expected[i], 2e-5) << workers << " workers, " << n << ", " << i;
      }
    }
  }
}

TEST(SignThreads, GiveTheSameBitsForAnyNumber) {
  const std::size_t n = 200003, workers = 3;
  Vectors gradients;
  for (std::size_t rank = 0; rank < workers; ++rank) {
    gradients.emplace_back(n);
    for (std::size_t i = 0; i < n; ++i) {
      gradients[rank][i] = static_cast<float>(uniform_at(rank, i) - 0.5);
    }
  }
  for (const char* spec : {"onebit", "signsgd:scale=mean,feedback=on", "signsgd:scale=mean,pack=bytes",
                           "signsgd:scale=mean,feedback=on,exchange=all_to_all,pack=bytes"}) {
    std::vector<Vectors> results;
    for (const std::size_t threads : {1U, 2U, 3U}) {
      Workers all(spec, vector_of(n), workers, threads);
      all.step(gradients);
      results.push_back(all.step(gradients));
    }
    EXPECT_EQ(results[0], results[1]) << spec;
    EXPECT_EQ(results[0], results[2]) << spec;
  }
}

}  // namespace
}  // namespace breakeven
