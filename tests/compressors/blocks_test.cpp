// Does coding whole blocks in one go give what its steps give one by one, on every target?
#include "compressors/simd/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/simd/pack.h"
#include "tests/compressors/blocks.h"
#include "tests/compressors/fleet.h"

namespace breakeven::test {
namespace {

using Constants = BlockFormat::Constants;
using Rounding = BlockFormat::Rounding;

constexpr std::size_t kCount = 7;  // blocks
constexpr Dither kDither = {7, 640};

std::vector<BlockFormat> formats() {
  std::vector<BlockFormat> all;
  for (const unsigned bits : {8U, 4U, 2U}) {
    const std::uint32_t zero = (1U << (bits - 1)) - 1;
    for (const auto& [constants, rounding] :
         {std::pair(Constants::extent, Rounding::nearest), std::pair(Constants::magnitude, Rounding::nearest),
          std::pair(Constants::norm, Rounding::chance),
          std::pair(Constants::given, Rounding::clipped_chance)}) {
      all.push_back({.bits = bits,
                     .zero = constants == Constants::extent ? 0 : zero,
                     .constants = constants,
                     .rounding = rounding});
    }
  }
  return all;
}

/// Constants, then codes from the next cache line on.
struct Payload {
  Payload(const BlockConstants& constants, std::size_t size)
      : codes((kCount * constants.bytes() + 63) / 64 * 64),
        bytes(codes + packed_bytes(kCount * size, constants.format().bits)) {
    constants.send(0.5F, bytes.data());
  }
  [[nodiscard]] std::vector<std::byte> content() const { return {bytes.span().begin(), bytes.span().end()}; }

  std::size_t codes;
  Buffer<std::byte> bytes;
};

/// Of each block, or one for all of them.
std::vector<Scaling> settle(const BlockConstants& constants, std::span<const float> values, std::size_t size,
                            bool one, std::byte* to) {
  std::vector<Scaling> scalings(kCount, constants.scaling(constants.receive(to)));
  if (constants.format().constants == Constants::given) {
    return scalings;
  }
  std::vector<float> firsts(kCount), seconds(kCount);
  constants.summarise(values, one ? values.size() : size, firsts.data(), seconds.data());
  for (std::size_t b = 0; b < kCount; ++b) {
    scalings[b] =
        one && b > 0
            ? scalings[0]
            : constants.scaling(constants.settle({firsts[b], seconds[b]}, to + b * constants.bytes()));
  }
  return scalings;
}

std::vector<std::byte> step_by_step(const BlockConstants& constants, std::span<const float> values,
                                    std::size_t size, bool one) {
  const BlockFormat& format = constants.format();
  Payload payload(constants, size);
  const std::vector<Scaling> scalings = settle(constants, values, size, one, payload.bytes.data());
  std::vector<std::uint8_t> codes(values.size());
  if (format.rounding == Rounding::nearest) {
    const std::uint32_t top = format.zero > 0 ? 2 * format.zero : (1U << format.bits) - 1;
    quantise_nearest(values, size, scalings.data(), format.zero, top, codes.data());
  } else {
    const bool clip = format.rounding == Rounding::clipped_chance;
    quantise_by_chance(values, size, scalings.data(), format.zero, clip, kDither, codes.data());
  }
  pack(codes.data(), codes.size(), format.bits, payload.bytes.data() + payload.codes);
  return payload.content();
}

std::vector<std::byte> in_one_go(const BlockConstants& constants, std::span<const float> values,
                                 std::size_t size, bool one, bool stream) {
  Payload payload(constants, size);
  if (one) {
    settle(constants, values, size, true, payload.bytes.data());
  }
  encode_blocks(constants, {.values = values.data(),
                            .count = kCount,
                            .size = size,
                            .constants = payload.bytes.data(),
                            .codes = payload.bytes.data() + payload.codes,
                            .dither = kDither,
                            .settled = one,
                            .stream = stream});
  return payload.content();
}

TEST(EncodeBlocks, GivesWhatItsStepsGivePastTheCachesOrNot) {
  on_every_target([] {
    for (const BlockFormat& format : formats()) {
      const BlockConstants constants(format);
      for (const std::size_t size : {64U, 512U, 1024U, 4096U}) {
        Misaligned data(made(kCount * size, GradientKind::heavy_tailed, size));
        std::fill_n(data.span().begin(), size, 0.0F);
        for (const bool one : {true, false}) {
          if (!one && format.constants == Constants::given) {
            continue;
          }
          const std::vector<std::byte> expected = step_by_step(constants, data.span(), size, one);
          for (const bool stream : {false, true}) {
            EXPECT_EQ(in_one_go(constants, data.span(), size, one, stream), expected)
                << format.bits << " bits, " << size;
          }
          data.span()[3 * size + 5] = std::numeric_limits<float>::infinity();  // all of one block is NaN
        }
      }
    }
  });
}

}  // namespace
}  // namespace breakeven::test
