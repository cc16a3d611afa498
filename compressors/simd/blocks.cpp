#include "compressors/simd/blocks.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/blocks.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/pack-inl.h"
#include "compressors/simd/quantise-inl.h"
#include "compressors/simd/statistics-inl.h"
#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Constants = BlockFormat::Constants;

/// Blocks are looked at, then coded, by tiles that stay in the first cache meanwhile. At 4 KiB the machine
/// fetches the next one in time; half of that, twice that and looking one tile ahead were all slower. It
/// follows accesses in their order: looking at the next block while one is coded took half as long again.
constexpr std::size_t kTile = 1024;
constexpr std::size_t kBlocks = kTile / kGroup;

/// The machine's own fetching ends with the page. With AVX-512 it had the next tile in time all the same, and
/// was disturbed by more; without, coding waited for half of its time.
constexpr bool kFetch = HWY_TARGET > HWY_AVX3;

/// Values of a block, and how many there are from its first one on.
struct Values {
  const float* first;
  std::size_t count, left;
};

/// Where packed codes go: past the caches or not.
struct Output {
  std::byte* to;
  bool stream;
};

/// code(x, to) for every 64 values, and their codes packed.
template <unsigned kBits, class F>
HWY_INLINE void pack_coded(const Values& values, Output output, F code) {
  for (std::size_t i = 0; i < values.count; i += kGroup, output.to += kGroup / 8 * kBits) {
    constexpr std::size_t kLine = 64 / sizeof(float);
    for (std::size_t line = 0; kFetch && line < kGroup; line += kLine) {
      hwy::Prefetch(values.first + std::min(i + kTile + line, values.left - 1));
    }
    alignas(64) std::uint8_t codes[kGroup];
    code(values.first + i, codes);
    if (output.stream) {
      pack_group<kBits, true>(codes, output.to);
    } else {
      pack_group<kBits, false>(codes, output.to);
    }
  }
}

template <Constants kConstants>
HWY_INLINE BlockSummary summary(const float* values, std::size_t n) {
  BlockSummary found;
  if constexpr (kConstants == Constants::extent) {
    extent(values, n, &found.first, &found.second);
  } else if constexpr (kConstants == Constants::magnitude) {
    found.first = largest_magnitude(values, n);
  } else {
    found.first = sum_of_squares(values, n);
  }
  return found;
}

template <Constants kConstants, unsigned kBits>
HWY_INLINE void code_block(const Values& values, const Scaling& scaling, std::uint32_t zero,
                           const Dither& dither, const Output& output) {
  if (scaling.inverse == 0) {
    pack_coded<kBits>(values, output, [&](const float* /*x*/, std::uint8_t* to) {
      std::fill_n(to, kGroup, static_cast<std::uint8_t>(zero));
    });
  } else if constexpr (kConstants == Constants::extent || kConstants == Constants::magnitude) {
    const Floats low = hn::Set(kFloats, scaling.low), inverse = hn::Set(kFloats, scaling.inverse);
    // Constants span their block: no level is above the top.
    pack_coded<kBits>(values, output, [&](const float* x, std::uint8_t* to) {
      nearest_group(
          x, low, inverse, [](Floats level) { return level; }, to);
    });
  } else {
    each_chance<15, kConstants == Constants::given>(
        dither, scaling, zero, [&](auto group) { pack_coded<kBits>(values, output, group); });
  }
}

/// How to code `count` blocks from `block` on, whose constants are found and written for it.
template <Constants kConstants>
HWY_INLINE void find_scalings(const BlockConstants& constants, const BlockRun& run, std::size_t block,
                              std::size_t count, Scaling* scalings) {
  BlockSummary found[kBlocks];
  for (std::size_t k = 0; k < count; ++k) {
    found[k] = summary<kConstants>(run.values + (block + k) * run.size, run.size);
  }
  for (std::size_t k = 0; k < count; ++k) {
    std::byte* const to = run.constants + (block + k) * constants.bytes();
    scalings[k] = constants.scaling(constants.settle(found[k], to));
  }
}

template <Constants kConstants, unsigned kBits>
HWY_INLINE void code_run(const BlockConstants& constants, const BlockRun& run) {
  const std::uint32_t zero = constants.format().zero;
  const std::size_t all = run.count * run.size, tile = std::max<std::size_t>(1, kTile / run.size);
  Scaling scalings[kBlocks];
  if (run.settled) {
    std::fill_n(scalings, kBlocks, constants.scaling(constants.receive(run.constants)));
  }
  for (std::size_t block = 0; block < run.count; block += tile) {
    const std::size_t count = std::min(tile, run.count - block);
    if constexpr (kConstants != Constants::given) {
      if (!run.settled) {
        find_scalings<kConstants>(constants, run, block, count, scalings);
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t first = (block + k) * run.size;
      code_block<kConstants, kBits>({run.values + first, run.size, all - first}, scalings[k], zero,
                                    {run.dither.key, run.dither.position + first},
                                    {run.codes + first / 8 * kBits, run.stream});
    }
  }
  if (run.stream) {
    hwy::FlushStream();
  }
}

template <Constants kConstants>
HWY_INLINE void code_kind(const BlockConstants& constants, const BlockRun& run) {
  switch (constants.format().bits) {
    case 8:
      return code_run<kConstants, 8>(constants, run);
    case 4:
      return code_run<kConstants, 4>(constants, run);
    default:
      return code_run<kConstants, 2>(constants, run);
  }
}

void code_blocks(const BlockConstants& constants, const BlockRun& run) {
  switch (constants.format().constants) {
    case Constants::extent:
      return code_kind<Constants::extent>(constants, run);
    case Constants::magnitude:
      return code_kind<Constants::magnitude>(constants, run);
    case Constants::norm:
      return code_kind<Constants::norm>(constants, run);
    case Constants::given:
      return code_kind<Constants::given>(constants, run);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(code_blocks);

bool encodes_blocks(const BlockFormat& format, std::size_t size) {
  using Constants = BlockFormat::Constants;
  using Rounding = BlockFormat::Rounding;
  const Rounding usual = format.constants == Constants::norm    ? Rounding::chance
                         : format.constants == Constants::given ? Rounding::clipped_chance
                                                                : Rounding::nearest;
  return (format.bits == 8 || format.bits == 4 || format.bits == 2) && format.rounding == usual &&
         size % 64 == 0;
}
void encode_blocks(const BlockConstants& constants, const BlockRun& run) {
  HWY_DYNAMIC_DISPATCH(code_blocks)(constants, run);
}

}  // namespace breakeven
#endif  // HWY_ONCE
