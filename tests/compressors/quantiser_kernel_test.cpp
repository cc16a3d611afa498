// What do the quantisers send, what do they promise of the mean, and do they keep it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "compressors/half.h"
#include "tests/compressors/blocks.h"
#include "tests/compressors/fleet.h"

namespace breakeven::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

const std::vector<std::string>& specs() {
  static const std::vector<std::string> all = {
      "int8:vectors=code,min_size=0",
      "int8:vectors=code,min_size=0,exchange=all_gather,scale=f16",
      "int8:vectors=code,min_size=0,zero_point=off,block=100",
      "int4:vectors=code,min_size=0",
      "int4:vectors=code,min_size=0,zero_point=off,scale=f16,block=8",
      "int4:vectors=code,min_size=0,block=1000000,exchange=all_gather",
      "qsgd",
      "qsgd:bits=2,bucket=1",
      "qsgd:bits=3,bucket=100",
      "qsgd:bits=4,bucket=0",
      "qsgd:bits=11,bucket=70000",
      "qsgd:bits=16",
      "terngrad",
      "terngrad:pack=2bit"};
  return all;
}

TEST(Quantisers, SendAndGiveTheSameForAnyNumberOfThreadsAndAlignment) {
  const std::size_t n = 200001;
  const std::vector<std::vector<float>> gradients = {made(n, GradientKind::normal, 1),
                                                     made(n, GradientKind::heavy_tailed, 2)};
  for (const std::string& spec : specs()) {
    Fleet one(spec, vector_of(n), 2, 1);
    one.step(gradients);
    EXPECT_TRUE(same_bits(one.mean(0), one.mean(1))) << spec;
    for (const std::size_t threads : {2U, 3U}) {
      Fleet more(spec, vector_of(n), 2, threads);
      more.step(gradients);
      EXPECT_EQ(more.payloads(), one.payloads()) << spec;
      EXPECT_TRUE(same_bits(more.mean(), one.mean())) << spec;
    }
    Fleet other(spec, vector_of(n), 1), moved(spec, vector_of(n), 1);
    other.step({gradients[0]});
    Misaligned gradient(gradients[0]), mean(std::vector<float>(n, 1.0F));
    Payload last;
    for (std::size_t round = 0; round < other.payloads().size(); ++round) {
      const auto sent = moved.kernel().encode(round, gradient.span());
      last.assign(sent.begin(), sent.end());
      EXPECT_EQ(last, other.payloads()[round][0]) << spec;
      moved.kernel().decode(round, last, mean.span());
    }
    EXPECT_TRUE(same_bits({mean.span().begin(), mean.span().end()}, other.mean())) << spec;
  }
}

TEST(Quantisers, ShowWhatIsNotFiniteWhereverItGoes) {
  const std::size_t n = 4096;
  for (const std::string& spec : specs()) {
    for (const float bad : {kNaN, kInf, -kInf}) {
      std::vector<float> gradient = made(n, GradientKind::normal);
      gradient[1500] = bad;
      Fleet fleet(spec, vector_of(n), 2);
      fleet.step({gradient, made(n, GradientKind::normal, 2)});
      EXPECT_TRUE(std::isnan(fleet.mean()[1500])) << spec << " " << bad;
      EXPECT_TRUE(same_bits(fleet.mean(0), fleet.mean(1))) << spec;
    }
  }
  // Beside its block nothing changes.
  std::vector<float> gradient = made(n, GradientKind::normal);
  gradient[1500] = kNaN;
  Fleet fleet("qsgd:bucket=100", vector_of(n));
  fleet.step({gradient});
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(std::isnan(fleet.mean()[i]), i / 100 == 15) << i;
  }
}

TEST(Quantisers, TakeMessagesOfNothing) {
  for (const std::string& spec : specs()) {
    for (const Message& message : {Message{}, Message{{0, 1}, {0, 7}}}) {
      const auto kernel = registry().make(spec).compressor->kernel(message, {});
      EXPECT_NE(kernel, nullptr) << spec;
    }
    EXPECT_EQ(registry().make(spec).compressor->kernel(vector_of(9, Element::bf16), {}), nullptr) << spec;
  }
}

/// The largest error of a block-scaled code, in elements' own units, by block.
void expect_within_half_a_step(const std::string& spec, std::size_t block, double levels, bool zero_point,
                               double slack) {
  const std::size_t n = 10007;
  const std::vector<float> gradient = made(n, GradientKind::heavy_tailed);
  Fleet fleet(spec + ",exchange=all_gather,vectors=code,block=" + std::to_string(block), vector_of(n));
  fleet.step({gradient});
  for (std::size_t first = 0; first < n; first += block) {
    const Reference of = reference_of(std::span(gradient).subspan(first, std::min(block, n - first)));
    const double step = zero_point ? (of.high - of.low) / levels : of.largest / levels;
    for (std::size_t i = first; i < std::min(n, first + block); ++i) {
      ASSERT_NEAR(fleet.mean()[i], gradient[i], step * 0.5001 + slack * of.largest) << spec << " " << i;
    }
  }
}

TEST(BlockScaled, ErrsByHalfAStep) {
  for (const std::size_t block : {8U, 100U, 512U, 3000U}) {
    expect_within_half_a_step("int8:min_size=0", block, 255, true, 1e-6);
    expect_within_half_a_step("int8:zero_point=off", block, 127, false, 1e-6);
    expect_within_half_a_step("int4:min_size=0", block, 15, true, 1e-6);
    expect_within_half_a_step("int4:zero_point=off", block, 7, false, 1e-6);
  }
  expect_within_half_a_step("int4:zero_point=off,scale=f16", 512, 7, false, 1e-3);
}

TEST(BlockScaled, SixteenBitConstantsStillSpanTheirBlock) {
  // Far from zero: a minimum rounded up, or a step rounded down, would leave elements outside.
  std::vector<float> gradient(512);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = 1000.3F + static_cast<float>(uniform_at(4, i));
  }
  Fleet fleet("int8:scale=f16,exchange=all_gather,vectors=code,min_size=0", vector_of(512));
  fleet.step({gradient});
  const auto constants = fleet.sent<std::uint16_t>(0);
  const float low = from_f16(constants[0]), step = from_f16(constants[1]);
  const auto [least, most] = std::minmax_element(gradient.begin(), gradient.end());
  EXPECT_LE(low, *least);
  EXPECT_GE(low + 255 * step, *most);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(fleet.mean()[i], gradient[i], step * 0.51);
  }
}

TEST(BlockScaled, KeepsZerosConstantsAndExtremes) {
  for (const char* spec : {"int8:vectors=code,min_size=0", "int4:vectors=code,min_size=0,zero_point=off"}) {
    Fleet zeros(spec, vector_of(1000), 3);
    zeros.step(Vectors(3, std::vector<float>(1000)));
    EXPECT_THAT(zeros.mean(), Each(0.0F)) << spec;
    Fleet small(spec, vector_of(1000), 1);
    small.step({made(1000, GradientKind::denormal)});
    EXPECT_THAT(small.mean(), Each(testing::FloatNear(0, 1e-28F))) << spec;
  }
  Fleet constant("int8:vectors=code,min_size=0", vector_of(1000), 4);
  constant.step(Vectors(4, std::vector<float>(1000, 0.1F)));
  EXPECT_THAT(constant.mean(), Each(0.1F));
  // With a step alone zero is a code: elements that are zero stay so, in any block.
  std::vector<float> sparse(1000);
  sparse[3] = 0.37F;
  Fleet spike("int8:vectors=code,min_size=0,zero_point=off", vector_of(1000), 1);
  spike.step({sparse});
  EXPECT_EQ(std::count(spike.mean().begin(), spike.mean().end(), 0.0F), 999);
  EXPECT_NEAR(spike.mean()[3], 0.37F, 1e-6);
}

TEST(BlockScaled, BlocksRunOverTheCodedTensorsAsIfNothingLayBetweenThem) {
  const Message message = {
      {40, 50}, {700, 1}, {30, 40}, {2, 3}, {64, 64}};  // vectors and six elements are dense
  const std::size_t n = elements(message);
  const std::vector<float> gradient = made(n, GradientKind::normal);
  std::vector<float> joined(gradient.begin(), gradient.begin() + 2000);
  joined.insert(joined.end(), gradient.begin() + 2700, gradient.begin() + 3900);
  joined.insert(joined.end(), gradient.begin() + 3906, gradient.end());
  for (const char* spec : {"int4:block=300", "int8", "int8:exchange=all_gather,block=4000"}) {
    for (const std::size_t threads : {1U, 2U}) {
      Fleet apart(spec, message, 3, threads), together(spec, {{joined.size() / 2, 2}}, 3, threads);
      apart.step(Vectors(3, gradient));
      together.step(Vectors(3, joined));
      for (std::size_t round = 0; round < together.payloads().size(); ++round) {
        EXPECT_EQ(apart.payloads()[round + 1], together.payloads()[round]) << spec;
      }
      std::vector<float> means(apart.mean().begin(), apart.mean().begin() + 2000);
      means.insert(means.end(), apart.mean().begin() + 2700, apart.mean().begin() + 3900);
      means.insert(means.end(), apart.mean().begin() + 3906, apart.mean().end());
      EXPECT_EQ(means, together.mean()) << spec;
      for (std::size_t i = 2000; i < 2700; ++i) {
        ASSERT_NEAR(apart.mean()[i], gradient[i], 1e-6);
      }
    }
  }
}

TEST(BlockScaled, MeansOfSeveralWorkersAreWithinBothRoundings) {
  const std::size_t n = 5003;
  for (const std::size_t workers : {2U, 5U, 8U}) {
    Vectors gradients;
    double most = 0;
    for (std::size_t rank = 0; rank < workers; ++rank) {
      gradients.push_back(made(n, GradientKind::normal, 10 + rank));
      most = std::max(most, reference_of(gradients.back()).largest);
    }
    for (const char* spec :
         {"int8:vectors=code,block=64", "int8:vectors=code,block=64,exchange=all_gather"}) {
      Fleet fleet(spec, vector_of(n), workers);
      fleet.step(gradients);
      for (std::size_t i = 0; i < n; ++i) {
        double mean = 0;
        for (const auto& gradient : gradients) {
          mean += gradient[i] / static_cast<double>(workers);
        }
        ASSERT_NEAR(fleet.mean()[i], mean, 2 * most / 255 * 1.01) << spec;
      }
      for (std::size_t rank = 1; rank < workers; ++rank) {
        EXPECT_TRUE(same_bits(fleet.mean(rank), fleet.mean(0)));
      }
    }
  }
}

TEST(BlockScaled, WritesLargeMessagesAroundTheCaches) {
  const std::size_t n = (1U << 22U) + 4321;  // above 16 MiB
  std::vector<float> gradient(n);
  for (std::size_t i = 0; i < n; ++i) {
    gradient[i] = static_cast<float>(i * 2654435761U % 1024) - 512;  // 512 of them hold few extremes
  }
  Fleet fleet("int8:vectors=code,block=1024,exchange=all_gather", vector_of(n), 1, 2);
  fleet.step({gradient});
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_LE(std::fabs(fleet.mean()[i] - gradient[i]), 1023 / 255.0 * 0.51) << i;
  }
}

/// The means of `steps` steps are, on average, the gradient: every element within 5 deviations, which are at
/// most half a step of its block.
void expect_unbiased(const std::string& spec, std::span<const float> gradient, std::span<const double> step,
                     double resolution) {
  constexpr int kSteps = 400;
  const std::size_t n = gradient.size();
  Fleet fleet(spec, vector_of(n));
  std::vector<double> sum(n);
  for (int k = 0; k < kSteps; ++k) {
    fleet.step({{gradient.begin(), gradient.end()}});
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LE(std::fabs(fleet.mean()[i] - gradient[i]), step[i] * (1 + 1e-5)) << spec << " " << i;
      sum[i] += fleet.mean()[i];
    }
  }
  double whole = 0, wanted = 0, variance = 0;
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_NEAR(sum[i] / kSteps, gradient[i], step[i] * (5 * 0.5 / std::sqrt(kSteps) + resolution))
        << spec << " " << i;
    whole += sum[i] / kSteps;
    wanted += gradient[i];
    variance += step[i] * step[i] / 4 / kSteps;
  }
  EXPECT_NEAR(whole, wanted, 5 * std::sqrt(variance)) << spec;
}

TEST(Qsgd, IsUnbiasedWithinOneLevelOfItsBucketsNorm) {
  const std::size_t n = 700, bucket = 128;
  const std::vector<float> gradient = made(n, GradientKind::heavy_tailed);
  for (const unsigned bits : {2U, 3U, 4U, 8U, 11U, 16U}) {
    std::vector<double> step(n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t first = i / bucket * bucket;
      const Reference of = reference_of(std::span(gradient).subspan(first, std::min(bucket, n - first)));
      step[i] = std::sqrt(of.squares) / ((1U << (bits - 1)) - 1);
    }
    // Chances are multiples of 2^-15, and of 2^-7 above 8 bits.
    expect_unbiased("qsgd:bits=" + std::to_string(bits), gradient, step, bits > 8 ? 0x1p-7 : 0x1p-14);
  }
}

TEST(Qsgd, SendsNormsThenLevelsInOrder) {
  std::vector<float> gradient(300);
  gradient[0] = 3;
  gradient[1] = -4;
  gradient[130] = -2;
  Fleet fleet("qsgd:bits=8,bucket=128", vector_of(300));
  fleet.step({gradient});
  const auto norms = fleet.sent<float>(0);
  EXPECT_THAT(std::vector<float>(norms.begin(), norms.begin() + 3), ElementsAre(5, 2, 0));
  const auto codes = fleet.sent<std::uint8_t>(0);
  EXPECT_NEAR(codes[12], 127 + 127 * 0.6, 1);
  EXPECT_NEAR(codes[13], 127 - 127 * 0.8, 1);
  EXPECT_EQ(codes[12 + 130], 0);  // the whole norm: the outermost level
  EXPECT_EQ(std::count(codes.begin() + 12, codes.end(), 127), 297);
  EXPECT_EQ(fleet.mean()[130], -2);
}

TEST(Qsgd, DrawsAnewForEveryStepAndWorker) {
  const std::vector<float> gradient = made(1000, GradientKind::normal);
  Fleet fleet("qsgd:bits=4", vector_of(1000), 2);
  fleet.step({gradient, gradient});
  const Payload first = fleet.payloads()[0][0];
  EXPECT_NE(first, fleet.payloads()[0][1]);
  fleet.step({gradient, gradient});
  EXPECT_NE(first, fleet.payloads()[0][0]);
}

TEST(TernGrad, SendsThreeLevelsUpToTheClippedMagnitude) {
  const std::size_t n = 100003;
  const std::vector<float> gradient = made(n, GradientKind::normal);
  double sum = 0, squares = 0, largest = 0;
  for (const float value : gradient) {
    sum += value;
    squares += static_cast<double>(value) * value;
    largest = std::max<double>(largest, std::fabs(value));
  }
  const double clip = 2.5 * std::sqrt(squares / n - sum / n * (sum / n));
  ASSERT_LT(clip, largest);
  for (const char* spec : {"terngrad", "terngrad:pack=2bit"}) {
    Fleet fleet(spec, vector_of(n));
    fleet.step({gradient});
    float scale = 0;
    std::memcpy(&scale, fleet.payloads()[0][0].data(), sizeof(scale));
    EXPECT_NEAR(scale, clip, 1e-5 * clip);
    double kept = 0, wanted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const float value = fleet.mean()[i];
      ASSERT_TRUE(value == 0 || value == scale || value == -scale) << value;
      ASSERT_GE(value * gradient[i], 0);
      if (std::fabs(gradient[i]) >= scale) {
        ASSERT_EQ(std::fabs(value), scale);
      }
      kept += std::fabs(value);
      wanted += std::min<double>(std::fabs(gradient[i]), scale);
    }
    EXPECT_NEAR(kept / n, wanted / n, 5 * 0.5 * scale / std::sqrt(n)) << spec;
  }
}

TEST(TernGrad, IsUnbiasedWhereNothingIsClipped) {
  std::vector<float> gradient(500);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = static_cast<float>(2 * uniform_at(8, i) - 1);  // 1.7 deviations at most
  }
  const double largest = reference_of(gradient).largest;
  for (const char* spec : {"terngrad", "terngrad:pack=2bit"}) {
    expect_unbiased(spec, gradient, std::vector<double>(gradient.size(), largest), 0x1p-14);
  }
}

TEST(TernGrad, ClipsAGradientWithoutDeviationToNothing) {
  Fleet fleet("terngrad", vector_of(100));
  fleet.step({std::vector<float>(100, 0.1F)});
  EXPECT_THAT(fleet.mean(), Each(0.0F));
}

}  // namespace
}  // namespace breakeven::test
