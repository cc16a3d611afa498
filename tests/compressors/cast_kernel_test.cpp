// Do casts, scaling and the uncompressed part do what one element at a time would?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/dense.h"
#include "compressors/half.h"
#include "compressors/simd/cast.h"
#include "compressors/simd/vector.h"
#include "tests/compressors/kernels.h"

namespace breakeven {
namespace {

using test::on_every_target;
using test::vector_of;
using test::Vectors;
using test::Workers;
using testing::Each;
using testing::Eq;

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    bits[i] = std::bit_cast<std::uint32_t>(values[i]);
  }
  return bits;
}

/// Every fp16 number with its neighbours and the ties between, and floats of all kinds.
std::vector<float> awkward_floats() {
  std::vector<float> values;
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const auto bits = std::bit_cast<std::uint32_t>(from_f16(static_cast<std::uint16_t>(half)));
    for (const std::uint32_t offset : {0U, 1U, 0U - 1U, 0x1000U, 0x1001U, 0xfffU}) {
      values.push_back(std::bit_cast<float>(bits + offset));
    }
  }
  for (std::uint64_t i = 0; i < 100000; ++i) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random_at(7, i))));
  }
  for (const std::uint32_t bits :
       {0x7f800000U, 0xff800000U, 0x7f800001U, 0xffc00000U, 0x7fffffffU, 1U, 0x80000001U, 0x007fffffU,
        0x477fefffU, 0x477ff000U, 0x33000000U, 0x33000001U, 0x7f7fffffU}) {
    values.push_back(std::bit_cast<float>(bits));
  }
  return values;
}

TEST(CastKernel, RoundsLikeTheScalarReferenceOnEveryTarget) {
  const std::vector<float> values = awkward_floats();
  on_every_target([&] {
    std::vector<std::uint16_t> f16(values.size()), bf16(values.size());
    cast_to_f16(values, 1, f16.data());
    cast_to_bf16(values, 1, bf16.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(f16[i], to_f16(values[i])) << std::hex << std::bit_cast<std::uint32_t>(values[i]);
      ASSERT_EQ(bf16[i], to_bf16(values[i])) << std::hex << std::bit_cast<std::uint32_t>(values[i]);
    }
  });
}

TEST(CastKernel, WidensEvery16BitNumberOnEveryTarget) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(i);
  }
  on_every_target([&] {
    std::vector<float> f16(halves.size()), bf16(halves.size());
    cast_from_f16(halves.data(), f16);
    cast_from_bf16(halves.data(), bf16);
    for (std::size_t i = 0; i < halves.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(f16[i]), std::bit_cast<std::uint32_t>(from_f16(halves[i]))) << i;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16[i]), std::bit_cast<std::uint32_t>(from_bf16(halves[i])))
          << i;
    }
  });
}

TEST(CastKernel, TouchesNothingButItsElementsAtAnySizeAndAlignment) {
  on_every_target([] {
    for (std::size_t n = 0; n < 140; ++n) {
      const std::size_t first = 1 + n % 3;
      std::vector<float> from(first + n, 3.0F), back(first + n + 2, 9.0F), scaled = back;
      std::vector<std::uint16_t> to(first + n + 2, 77);
      const std::span<const float> values(from.data() + first, n);
      cast_to_f16(values, 0.5F, to.data() + first);
      cast_from_f16(to.data() + first, std::span(back).subspan(first, n));
      scale(values, 0.5F, std::span(scaled).subspan(first, n));
      add(values, std::span(scaled).subspan(first, n));
      zero(std::span(from).subspan(first, n));
      for (std::size_t i = 0; i < first + n + 2; ++i) {
        const bool inside = i >= first && i < first + n;
        ASSERT_EQ(to[i], inside ? to_f16(1.5F) : 77) << n << ' ' << i;
        ASSERT_EQ(back[i], inside ? 1.5F : 9.0F) << n << ' ' << i;
        ASSERT_EQ(scaled[i], inside ? 4.5F : 9.0F) << n << ' ' << i;
        ASSERT_TRUE(i >= from.size() || from[i] == (inside ? 0.0F : 3.0F)) << n << ' ' << i;
      }
    }
  });
}

TEST(CastKernel, VectorsTooLargeForTheCachesComeOutTheSame) {
  const std::size_t n = (std::size_t{1} << 22U) + 77;
  Buffer<float> from(n), scaled(n), back(n);
  Buffer<std::uint16_t> halves(n);
  for (std::size_t i = 0; i < n; ++i) {
    from[i] = static_cast<float>(i % 4001) - 2000;
  }
  scale(from.span(), 0.25F, scaled.span());
  cast_to_bf16(scaled.span(), 4, halves.data());
  cast_from_bf16(halves.data(), back.span());
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(scaled[i], from[i] * 0.25F) << i;
    ASSERT_EQ(back[i], from_bf16(to_bf16(from[i]))) << i;
  }
  cast_to_f16(from.span(), 1, halves.data());
  cast_from_f16(halves.data(), back.span());
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(back[i], from[i]) << i;  // integers up to 2048 are fp16 numbers
  }
}

TEST(CastKernel, WorkersDivideBeforeTheSumSoThatItDoesNotOverflow) {
  const std::vector<float> gradient(100, 60000);
  EXPECT_THAT(Workers("fp16", vector_of(100), 4).step(Vectors(4, gradient))[3], Each(60000.0F));
  // The price: what is too small once divided is lost.
  const std::vector<float> small(100, 0x1p-24F);
  EXPECT_THAT(Workers("fp16", vector_of(100), 1).step(Vectors(1, small))[0], Each(0x1p-24F));
  EXPECT_THAT(Workers("fp16", vector_of(100), 2).step(Vectors(2, small))[0], Each(0.0F));
}

TEST(CastKernel, MeansAreWithinTheRoundingOfTheirType) {
  const std::size_t n = 70001, workers = 3;
  Vectors gradients;
  std::vector<double> mean(n), magnitude(n);
  for (std::size_t rank = 0; rank < workers; ++rank) {
    gradients.push_back(test::even_numbers(n, rank));
    for (std::size_t i = 0; i < n; ++i) {
      mean[i] += static_cast<double>(gradients[rank][i]) / workers;
      magnitude[i] += std::abs(static_cast<double>(gradients[rank][i])) / workers;
    }
  }
  for (const auto& [spec, unit] : {std::pair{"fp16", 0x1p-11}, std::pair{"bf16", 0x1p-8}}) {
    const Vectors means = Workers(spec, vector_of(n), workers).step(gradients);
    for (std::size_t i = 0; i < n; ++i) {
      // One rounding of each worker's share, and one of each of the two additions.
      ASSERT_NEAR(means[0][i], mean[i], 3.01 * unit * magnitude[i]) << spec << ' ' << i;
    }
    for (const std::size_t threads : {1U, 2U, 3U}) {
      const Vectors same = Workers(spec, vector_of(n), workers, threads).step(gradients);
      EXPECT_THAT(same, Each(Eq(means[0]))) << spec << " with " << threads << " threads";
    }
  }
}

TEST(CastKernel, NanAndInfinityStayVisible) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const char* spec : {"none", "fp16", "bf16"}) {
    const auto mean = Workers(spec, vector_of(3), 2).step({{nan, inf, 1}, {1, 1, 1}})[1];
    EXPECT_TRUE(std::isnan(mean[0])) << spec;
    EXPECT_EQ(mean[1], inf) << spec;
    EXPECT_EQ(mean[2], 1) << spec;
  }
}

TEST(NoneKernel, IsTheMeanAndSendsTheGradientFromWhereItLies) {
  const std::size_t n = 100003;
  Vectors gradients;
  std::vector<float> mean(n);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    gradients.push_back(test::even_numbers(n, rank));
    add(gradients[rank], mean);
  }
  scale(mean, 0.25F, mean);
  for (const std::size_t threads : {1U, 2U, 3U}) {
    const Vectors means = Workers("none", {{1000, 100}, {3, 1}}, 4, threads).step(gradients);
    for (const auto& one : means) {
      EXPECT_EQ(bits_of(one), bits_of(mean)) << threads;
    }
  }
  const auto compressor = test::registry().make("none").compressor;
  const auto kernel = compressor->kernel(vector_of(n), Worker{});
  EXPECT_EQ(static_cast<const void*>(kernel->encode(0, gradients[0]).data()), gradients[0].data());
}

TEST(NoneKernel, ThereIsNoneForWhatIsNotFp32) {
  for (const char* spec : {"none", "fp16", "bf16", "signsgd", "onebit"}) {
    const auto compressor = test::registry().make(spec).compressor;
    EXPECT_EQ(compressor->kernel(vector_of(10, Element::bf16), Worker{}), nullptr) << spec;
    EXPECT_NE(compressor->kernel(vector_of(10), Worker{}), nullptr) << spec;
  }
}

TEST(DensePart, GathersItsTensorsAndWritesNothingElse) {
  const std::vector<Shape> tensors = {{5, 1}, {300, 400}, {7, 1}, {2, 1}, {0, 9}, {3, 3}, {70000, 1}};
  const auto runs = runs_of(tensors, [](const Shape& shape) { return shape.is_vector(); });
  ASSERT_EQ(runs, (std::vector<breakeven::Run>{{0, 5}, {120005, 9}, {120023, 70000}}));
  const std::vector<float> gradient = test::even_numbers(elements(tensors), 1);
  for (const std::size_t count : {1U, 2U, 3U}) {
    Threads threads(count);
    DensePart dense(runs);
    const auto sent = dense.encode(gradient, threads);
    ASSERT_EQ(sent.size(), 4 * dense.elements());
    const Payload received(sent.begin(), sent.end());
    std::vector<float> mean(gradient.size(), 99);
    dense.decode(received, 2, mean, threads);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const bool is_dense = i < 5 || (i >= 120005 && i < 120014) || i >= 120023;
      ASSERT_EQ(mean[i], is_dense ? gradient[i] / 2 : 99) << i;
    }
  }
}

TEST(DensePart, NothingDenseSendsNothing) {
  Threads threads;
  DensePart dense;
  std::vector<float> mean(3, 1);
  EXPECT_TRUE(dense.encode(mean, threads).empty());
  dense.decode({}, 2, mean, threads);
  EXPECT_THAT(mean, Each(1.0F));
}

}  // namespace
}  // namespace breakeven
