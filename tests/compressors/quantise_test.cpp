// Do the vector parts of quantisers do what one element at a time would, on every target?
#include "compressors/simd/quantise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compressors/simd/pack.h"
#include "compressors/simd/statistics.h"
#include "compressors/trial/guarded.h"
#include "tests/compressors/blocks.h"
#include "tests/compressors/fleet.h"

namespace breakeven::test {
namespace {

using testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::size_t kSizes[] = {1, 7, 8, 33, 63, 64, 65, 129, 1000, 1111};
constexpr std::size_t kBlocks[] = {1, 7, 64, 100, 128, 512, 5000};

TEST(BlockStatistics, AreThoseOfEachBlock) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      Misaligned data(made(n, GradientKind::heavy_tailed, n));
      const std::span<const float> values = data.span();
      for (const std::size_t block : kBlocks) {
        const std::size_t blocks = (n + block - 1) / block;
        std::vector<float> low(blocks), high(blocks), largest(blocks), squares(blocks);
        extents(values, block, low.data(), high.data());
        largest_magnitudes(values, block, largest.data());
        sums_of_squares(values, block, squares.data());
        for (std::size_t b = 0; b < blocks; ++b) {
          const Reference of = reference_of(values.subspan(b * block, std::min(block, n - b * block)));
          EXPECT_EQ(low[b], of.low);
          EXPECT_EQ(high[b], of.high);
          EXPECT_EQ(largest[b], of.largest);
          EXPECT_NEAR(squares[b], of.squares, 1e-5 * of.squares);
        }
      }
    }
  });
}

TEST(BlockStatistics, SpanBlocksOfOneSign) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      std::vector<float> above = made(n, GradientKind::normal, n), below(n);
      for (std::size_t i = 0; i < n; ++i) {
        above[i] = std::fabs(above[i]) + 1;
        below[i] = -above[i];
      }
      const Reference of = reference_of(above);
      float low = 0, high = 0;
      extents(above, n, &low, &high);
      EXPECT_EQ(low, of.low);
      EXPECT_EQ(high, of.high);
      extents(below, n, &low, &high);
      EXPECT_EQ(low, -of.high);
      EXPECT_EQ(high, -of.low);
      for (const float zero : {0.0F, -0.0F}) {
        extents(std::vector<float>(n, zero), n, &low, &high);
        EXPECT_EQ(low, 0);
        EXPECT_EQ(high, 0);
      }
    }
  });
}

TEST(BlockStatistics, ShowWhatIsNotFinite) {
  on_every_target([] {
    for (const float bad : {kNaN, -kNaN, kInf, -kInf}) {
      for (const std::size_t at : {0U, 5U, 17U, 64U, 99U}) {
        std::vector<float> values(100, -0.5F);
        values[at] = bad;
        float low = 0, high = 0, largest = 0, squares = 0;
        extents(values, 100, &low, &high);
        largest_magnitudes(values, 100, &largest);
        sums_of_squares(values, 100, &squares);
        const Moments all = moments(values, values[0]);
        EXPECT_TRUE(std::isnan(low) && std::isnan(high));
        EXPECT_FALSE(std::isfinite(largest) || std::isfinite(squares) || std::isfinite(all.largest));
      }
    }
  });
}

TEST(Moments, AreThoseOfDifferencesToTheOrigin) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      Misaligned data(made(n, GradientKind::normal, n));
      const Moments of = moments(data.span(), 0.25F);
      double sum = 0, squares = 0, largest = 0.25;  // the origin's
      for (const float value : data.span()) {
        sum += static_cast<double>(value) - 0.25;
        squares += (static_cast<double>(value) - 0.25) * (static_cast<double>(value) - 0.25);
        largest = std::max<double>(largest, std::fabs(value));
      }
      EXPECT_NEAR(of.sum, sum, 1e-5 * std::fabs(sum));
      EXPECT_NEAR(of.squares, squares, 1e-5 * squares);
      EXPECT_EQ(of.largest, largest);
    }
  });
}

TEST(Nearest, IsTheScalarReferenceOnEveryTarget) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      Misaligned data(made(n, GradientKind::heavy_tailed, n));
      for (const std::size_t block : kBlocks) {
        std::vector<Scaling> scalings((n + block - 1) / block);
        for (std::size_t b = 0; b < scalings.size(); ++b) {
          const Reference of = reference_of(data.span().subspan(b * block, std::min(block, n - b * block)));
          const auto low = static_cast<float>(of.low), high = static_cast<float>(of.high);
          scalings[b] = {low, high > low ? 200 / (high - low) : 0};  // some levels are cut off at the top
        }
        std::vector<std::uint8_t> codes(n + 1, 77), expected(n + 1, 77);
        quantise_nearest(data.span(), block, scalings.data(), 9, 190, codes.data());
        for (std::size_t i = 0; i < n; ++i) {
          const Scaling scaling = scalings[i / block];
          const float level = (data.span()[i] - scaling.low) * scaling.inverse;
          expected[i] =
              scaling.inverse == 0 ? 9 : static_cast<std::uint8_t>(std::nearbyint(std::min(level, 190.0F)));
        }
        EXPECT_EQ(codes, expected) << n << " by " << block;
      }
    }
  });
}

TEST(Nearest, TiesGoToTheEvenCode) {
  const std::vector<float> values = {0, 0.5F, 1.5F, 2.5F, 253.5F, 254.5F, 300};
  const Scaling scaling = {0, 1};
  on_every_target([&] {
    std::vector<std::uint8_t> codes(values.size());
    quantise_nearest(values, values.size(), &scaling, 0, 255, codes.data());
    EXPECT_THAT(codes, ElementsAre(0, 0, 2, 2, 254, 254, 255));
  });
}

/// Multiples of 2^-12 up to 1 and an inverse that is a power of two: no target rounds anything.
std::vector<float> exact(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(static_cast<int>(random_at(3, i) % 8193) - 4096) * 0x1p-12F;
  }
  return values;
}

TEST(Chance, DrawsTheSameOnEveryTargetWhereverTheRangeBegins) {
  const std::size_t n = 1111;
  const std::vector<float> values = exact(n);
  const std::vector<Scaling> scalings(n, Scaling{0, 64});
  std::vector<std::uint8_t> expected(n), clipped(n);
  std::vector<std::uint16_t> words(n);
  quantise_by_chance(values, 100, scalings.data(), 64, false, {12345, 0}, expected.data());
  quantise_by_chance(values, 100, scalings.data(), 32, true, {12345, 0}, clipped.data());
  quantise_by_chance(values, 100, scalings.data(), 64, {12345, 0}, words.data());
  on_every_target([&] {
    for (const std::size_t from : {0U, 1U, 16U, 33U, 64U, 100U, 1000U}) {
      Misaligned data(std::span<const float>(values).subspan(from));
      const std::size_t rest = n - from;
      std::vector<std::uint8_t> codes(rest);
      quantise_by_chance(data.span(), rest, scalings.data(), 64, false, {12345, from}, codes.data());
      EXPECT_TRUE(
          std::equal(codes.begin(), codes.end(), expected.begin() + static_cast<std::ptrdiff_t>(from)));
      quantise_by_chance(data.span(), 9, scalings.data(), 32, true, {12345, from}, codes.data());
      EXPECT_TRUE(
          std::equal(codes.begin(), codes.end(), clipped.begin() + static_cast<std::ptrdiff_t>(from)));
      std::vector<std::uint16_t> wide(rest);
      quantise_by_chance(data.span(), 64, scalings.data(), 64, {12345, from}, wide.data());
      EXPECT_TRUE(std::equal(wide.begin(), wide.end(), words.begin() + static_cast<std::ptrdiff_t>(from)));
    }
  });
  std::vector<std::uint8_t> other(n);
  quantise_by_chance(values, n, scalings.data(), 64, false, {12346, 0}, other.data());
  EXPECT_NE(other, expected);
}

TEST(Chance, TakesOneOfTheTwoNearestCodesAsOftenAsTheMeanNeeds) {
  constexpr std::size_t kDraws = 200000;
  const Scaling scaling = {0, 64};
  for (const float value : {0.0F, 0.001F, -0.3F, 0.7501F, 0.999F, -1.0F, 1.0F}) {
    const std::vector<float> values(kDraws, value);
    const double level = 64 + 64 * static_cast<double>(value);
    const auto expect_mean = [&](const auto& codes, double resolution) {
      double sum = 0;
      for (const auto code : codes) {
        ASSERT_LE(std::fabs(code - level), 1) << value;
        sum += code;
      }
      const double fraction = level - std::floor(level);
      const double deviation = std::sqrt(fraction * (1 - fraction) / kDraws);
      EXPECT_NEAR(sum / kDraws, level, 4.5 * deviation + resolution) << value;
    };
    std::vector<std::uint8_t> bytes(kDraws);
    quantise_by_chance(values, kDraws, &scaling, 64, false, {99, 0}, bytes.data());
    expect_mean(bytes, 0x1p-15);
    std::vector<std::uint16_t> words(kDraws);
    quantise_by_chance(values, kDraws, &scaling, 64, {99, 0}, words.data());
    expect_mean(words, 0x1p-7);
  }
}

TEST(Chance, ClipsToTheOutermostLevels) {
  const std::vector<float> values = {-1e30F, -1.5F, -1, 0, 1, 1.001F, 7, 1e30F};
  const Scaling scaling = {0, 1};
  on_every_target([&] {
    for (std::uint64_t key = 0; key < 100; ++key) {
      std::vector<std::uint8_t> codes(values.size());
      quantise_by_chance(values, values.size(), &scaling, 1, true, {key, 0}, codes.data());
      EXPECT_THAT(codes, ElementsAre(0, 0, 0, 1, 2, 2, 2, 2));
    }
  });
}

TEST(Dither, HasNoCorrelationBetweenNeighboursOrKeys) {
  constexpr std::size_t kDraws = 1U << 18U;
  const std::vector<float> halves(kDraws, 0.5F);
  const Scaling scaling = {0, 1};
  const auto signs = [&](std::uint64_t key) {
    std::vector<std::uint8_t> codes(kDraws);
    quantise_by_chance(halves, kDraws, &scaling, 1, false, {random_at(5, key), 0}, codes.data());
    std::vector<int> drawn(kDraws);
    std::transform(codes.begin(), codes.end(), drawn.begin(), [](int code) { return 2 * code - 3; });
    return drawn;
  };
  const double bound = 5 / std::sqrt(static_cast<double>(kDraws));
  const std::vector<int> one = signs(1), other = signs(2);
  for (std::size_t lag = 0; lag <= 80; ++lag) {
    double with_itself = 0, with_other = 0;
    for (std::size_t i = lag; i < kDraws; ++i) {
      with_itself += one[i] * one[i - lag];
      with_other += one[i] * other[i - lag];
    }
    EXPECT_NEAR(with_itself / kDraws, lag == 0 ? 1 : 0, bound) << lag;
    EXPECT_NEAR(with_other / kDraws, 0, bound) << lag;
  }
}

template <class Code>
void expect_decoded(std::size_t n, std::size_t block) {
  std::vector<Code> codes(n);
  std::vector<Levels> levels((n + block - 1) / block);
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<Code>(random_at(1, i));
    levels[i / block] = {static_cast<float>(i) / 8, static_cast<float>(1 + i % 3) / 4};  // sums are exact
  }
  const auto meaning = [&](std::size_t i) {
    return levels[i / block].low + levels[i / block].step * (static_cast<float>(codes[i]) - 100);
  };
  for (const Decode mode : {Decode::set, Decode::add, Decode::stream}) {
    for (const std::size_t offset : {std::size_t{0}, std::size_t{4}}) {
      Guarded memory(n * sizeof(float), {.offset = offset, .pattern = 0x5a});
      const std::vector<float> before(n, 2);
      memory.fill(std::as_bytes(std::span(before)));
      dequantise(mode, codes.data(), block, levels.data(), 100, memory.floats());
      end_stream();
      EXPECT_EQ(memory.damage(), "");
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(memory.floats()[i], meaning(i) + (mode == Decode::add ? 2 : 0)) << i << " of " << n;
      }
    }
  }
}

TEST(Dequantise, SetsOrAddsWhatTheCodesMean) {
  on_every_target([] {
    for (const std::size_t n : kSizes) {
      for (const std::size_t block : kBlocks) {
        expect_decoded<std::uint8_t>(n, block);
        expect_decoded<std::uint16_t>(n, block);
      }
    }
  });
}

template <class Code>
void expect_packed(std::size_t n, unsigned bits) {
  std::vector<Code> codes(n), back(n + 1, 55);
  for (std::size_t i = 0; i < n; ++i) {
    codes[i] = static_cast<Code>(random_at(bits, i) & ((1U << bits) - 1));
  }
  Guarded packed(packed_bytes(n, bits), {.pattern = 0xa5});
  pack(codes.data(), n, bits, packed.bytes().data());
  EXPECT_EQ(packed.damage(), "");
  for (std::size_t bit = 0; bit < 8 * packed_bytes(n, bits); ++bit) {
    const unsigned code = bit / bits < n ? codes[bit / bits] : 0U;
    ASSERT_EQ(std::to_integer<unsigned>(packed.bytes()[bit / 8]) >> bit % 8 & 1U, code >> bit % bits & 1U)
        << n << " codes of " << bits << " bits, bit " << bit;
  }
  unpack(packed.bytes().data(), n, bits, back.data());
  EXPECT_EQ(back[n], 55);
  back.pop_back();
  EXPECT_EQ(back, codes) << n << " codes of " << bits << " bits";
}

TEST(Pack, LeavesNoGapsAndComesBack) {
  on_every_target([] {
    for (const std::size_t n : {0U, 1U, 3U, 7U, 8U, 63U, 64U, 65U, 127U, 128U, 200U}) {
      for (unsigned bits = 1; bits <= 16; ++bits) {
        bits <= 8 ? expect_packed<std::uint8_t>(n, bits) : expect_packed<std::uint16_t>(n, bits);
      }
    }
  });
}

}  // namespace
}  // namespace breakeven::test
