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

constexpr std::size_t kCount = 7;

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

std::vector<std::byte> step_by_step(const BlockConstants& constants, std::span<const float> values,
                                    std::size_t size, const Dither& dither) {
  const BlockFormat& format = constants.format();
  Payload payload(constants, size);
  std::vector<Scaling> scalings(kCount, constants.scaling(constants.receive(payload.bytes.data())));
  if (format.constants != Constants::given) {
    std::vector<float> firsts(kCount), seconds(kCount);
    constants.summarise(values, size, firsts.data(), seconds.data());
    for (std::size_t b = 0; b < kCount; ++b) {
      scalings[b] = constants.scaling(
          constants.settle({firsts[b], seconds[b]}, payload.bytes.data() + b * constants.bytes()));
    }
  }
  std::vector<std::uint8_t> codes(values.size());
  if (format.rounding == Rounding::nearest) {
    const std::uint32_t top = format.zero > 0 ? 2 * format.zero : (1U << format.bits) - 1;
    quantise_nearest(values, size, scalings.data(), format.zero, top, codes.data());
  } else {
    const bool clip = format.rounding == Rounding::clipped_chance;
    quantise_by_chance(values, size, scalings.data(), format.zero, clip, dither, codes.data());
  }
  pack(codes.data(), codes.size(), format.bits, payload.bytes.data() + payload.codes);
  return payload.content();
}

std::vector<std::byte> in_one_go(const BlockConstants& constants, std::span<const float> values,
                                 std::size_t size, const Dither& dither, bool stream) {
  Payload payload(constants, size);
  encode_blocks(constants, {values.data(), kCount, size, payload.bytes.data(),
                            payload.bytes.data() + payload.codes, dither, stream});
  return payload.content();
}

TEST(EncodeBlocks, GivesWhatItsStepsGivePastTheCachesOrNot) {
  on_every_target([] {
    for (const BlockFormat& format : formats()) {
      const BlockConstants constants(format);
      for (const std::size_t size : {64U, 512U, 1024U, 4096U}) {
        Misaligned data(made(kCount * size, GradientKind::heavy_tailed, size));
        std::fill_n(data.span().begin(), size, 0.0F);
        data.span()[3 * size + 5] = std::numeric_limits<float>::infinity();
        const Dither dither = {7, 640};
        const std::vector<std::byte> expected = step_by_step(constants, data.span(), size, dither);
        for (const bool stream : {false, true}) {
          EXPECT_EQ(in_one_go(constants, data.span(), size, dither, stream), expected)
              << format.bits << " bits, " << size;
        }
      }
    }
  });
}

}  // namespace
}  // namespace breakeven::test
