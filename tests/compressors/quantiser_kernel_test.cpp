// Do quantisers code as one element at a time would, on every target, and what do they promise of the mean?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "compressors/half.h"
#include "compressors/simd/pack.h"
#include "compressors/simd/quantise.h"
#include "compressors/simd/statistics.h"
#include "compressors/trial/guarded.h"
#include "tests/compressors/fleet.h"

namespace breakeven::test {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::size_t kSizes[] = {1, 7, 8, 33, 63, 64, 65, 129, 1000, 1111};
constexpr std::size_t kBlocks[] = {1, 7, 64, 100, 128, 512, 5000};

/// Some elements, at an address that is a multiple of 4 only, and nothing behind them.
class Misaligned {
 public:
  explicit Misaligned(std::span<const float> values) : memory_(values.size() + 1) {
    std::copy(values.begin(), values.end(), memory_.begin() + 1);
  }
  [[nodiscard]] std::span<float> span() { return std::span(memory_).subspan(1); }

 private:
  std::vector<float> memory_;
};

struct Reference {
  double low = 0, high = 0, largest = 0, squares = 0;
};
Reference reference_of(std::span<const float> block) {
  Reference of{block[0], block[0], 0, 0};
  for (const float value : block) {
    of.low = std::min<double>(of.low, value);
    of.high = std::max<double>(of.high, value);
    of.largest = std::max<double>(of.largest, std::fabs(value));
    of.squares += static_cast<double>(value) * value;
  }
  return of;
}

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

TEST(BlockStatistics, ShowWhatIsNotFinite) {
  on_every_target([] {
    for (const float bad : {kNaN, -kNaN, kInf, -kInf}) {
      for (const std::size_t at : {0, 5, 17, 64, 99}) {
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
    for (const std::size_t from : {0, 1, 16, 33, 64, 100, 1000}) {
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
    for (const std::size_t n : {0, 1, 3, 7, 8, 63, 64, 65, 127, 128, 200}) {
      for (unsigned bits = 1; bits <= 16; ++bits) {
        bits <= 8 ? expect_packed<std::uint8_t>(n, bits) : expect_packed<std::uint16_t>(n, bits);
      }
    }
  });
}

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
    for (const std::size_t threads : {2, 3}) {
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
  for (const std::size_t block : {8, 100, 512, 3000}) {
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
    for (const std::size_t threads : {1, 2}) {
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
  for (const std::size_t workers : {2, 5, 8}) {
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
