// 64 codes without gaps, whole bytes for any number of bits; for inclusion in vector code only.
#if defined(BREAKEVEN_SIMD_PACK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_PACK_INL_H
#undef BREAKEVEN_SIMD_PACK_INL_H
#else
#define BREAKEVEN_SIMD_PACK_INL_H
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compressors/simd/groups-inl.h"
#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

static_assert(std::endian::native == std::endian::little);

/// Eight codes of 1 to 7 bits, in the bytes of a word, moved together.
HWY_INLINE std::uint64_t squeezed(std::uint64_t x, unsigned bits) {
  x = (x & 0x00ff00ff00ff00ffU) | (x & 0xff00ff00ff00ff00U) >> (8 - bits);
  x = (x & 0x0000ffff0000ffffU) | (x & 0xffff0000ffff0000U) >> (16 - 2 * bits);
  return (x & 0xffffffffU) | (x >> 32U) << (4 * bits);
}
HWY_INLINE std::uint64_t spread(std::uint64_t x, unsigned bits) {
  const std::uint64_t one = (1U << bits) - 1, two = (1U << 2 * bits) - 1,
                      four = (std::uint64_t{1} << 4 * bits) - 1;
  x = (x & four) | (x >> (4 * bits) & four) << 32U;
  x = (x & (two | two << 32U)) | (x >> (2 * bits) & (two | two << 32U)) << 16U;
  const std::uint64_t ones = one * 0x0001000100010001U;
  return (x & ones) | (x >> bits & ones) << 8U;
}

HWY_INLINE void pack_group_any(const std::uint8_t* codes, unsigned bits, std::byte* packed) {
  for (std::size_t i = 0; i < kGroup; i += 8) {
    std::uint64_t x = 0;
    std::memcpy(&x, codes + i, 8);
    x = squeezed(x, bits);
    std::memcpy(packed + i / 8 * bits, &x, 8);
  }
}
HWY_INLINE void unpack_group_any(const std::byte* packed, unsigned bits, std::uint8_t* codes) {
  for (std::size_t i = 0; i < kGroup; i += 8) {
    std::uint64_t x = 0;
    std::memcpy(&x, packed + i / 8 * bits, 8);
    x = spread(x, bits);
    std::memcpy(codes + i, &x, 8);
  }
}
/// Of 9 to 15 bits: eight codes go through two words of 64 bits.
HWY_INLINE void pack_group_any(const std::uint16_t* codes, unsigned bits, std::byte* packed) {
  for (std::size_t i = 0; i < kGroup; i += 8) {
    std::uint64_t low = 0, high = 0;
    for (unsigned k = 0; k < 4; ++k) {
      low |= std::uint64_t{codes[i + k]} << k * bits;
      high |= std::uint64_t{codes[i + 4 + k]} << k * bits;
    }
    const std::uint64_t first = low | high << 4 * bits, second = high >> (64 - 4 * bits);
    std::memcpy(packed + i / 8 * bits, &first, 8);
    std::memcpy(packed + i / 8 * bits + 8, &second, 8);
  }
}
HWY_INLINE void unpack_group_any(const std::byte* packed, unsigned bits, std::uint16_t* codes) {
  const std::uint64_t mask = (1U << bits) - 1;
  for (std::size_t i = 0; i < kGroup; i += 8) {
    std::uint64_t first = 0, second = 0;
    std::memcpy(&first, packed + i / 8 * bits, 8);
    std::memcpy(&second, packed + i / 8 * bits + 8, 8);
    const std::uint64_t high = first >> 4 * bits | second << (64 - 4 * bits);
    for (unsigned k = 0; k < 4; ++k) {
      codes[i + k] = static_cast<std::uint16_t>(first >> k * bits & mask);
      codes[i + 4 + k] = static_cast<std::uint16_t>(high >> k * bits & mask);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
template <bool kStream = false>
HWY_INLINE void pack_group_4(const std::uint8_t* codes, std::byte* packed) {
  const hn::CappedTag<std::uint8_t, 64> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> narrow;
  auto* const to = reinterpret_cast<std::uint8_t*>(packed);
  for (std::size_t i = 0; i < kGroup; i += hn::Lanes(d8)) {
    const auto pairs = hn::BitCast(d16, hn::LoadU(d8, codes + i));
    store<kStream>(hn::TruncateTo(narrow, hn::Or(pairs, hn::ShiftRight<4>(pairs))), narrow, to + i / 2);
  }
}
HWY_INLINE void unpack_group_4(const std::byte* packed, std::uint8_t* codes) {
  const hn::CappedTag<std::uint8_t, 64> d8;
  const hn::Repartition<std::uint16_t, decltype(d8)> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> narrow;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(packed);
  for (std::size_t i = 0; i < kGroup; i += hn::Lanes(d8)) {
    const auto pair = hn::PromoteTo(d16, hn::LoadU(narrow, from + i / 2));
    const auto apart = hn::And(hn::Or(pair, hn::ShiftLeft<4>(pair)), hn::Set(d16, 0x0f0f));
    hn::StoreU(hn::BitCast(d8, apart), d8, codes + i);
  }
}
template <bool kStream = false>
HWY_INLINE void pack_group_2(const std::uint8_t* codes, std::byte* packed) {
  const hn::CappedTag<std::uint8_t, 64> d8;
  const hn::Repartition<std::uint32_t, decltype(d8)> d32;
  const hn::Rebind<std::uint8_t, decltype(d32)> narrow;
  auto* const to = reinterpret_cast<std::uint8_t*>(packed);
  for (std::size_t i = 0; i < kGroup; i += hn::Lanes(d8)) {
    const auto four = hn::BitCast(d32, hn::LoadU(d8, codes + i));
    const auto pairs = hn::And(hn::Or(four, hn::ShiftRight<6>(four)), hn::Set(d32, 0x000f000fU));
    store<kStream>(hn::TruncateTo(narrow, hn::Or(pairs, hn::ShiftRight<12>(pairs))), narrow, to + i / 4);
  }
}
HWY_INLINE void unpack_group_2(const std::byte* packed, std::uint8_t* codes) {
  const hn::CappedTag<std::uint8_t, 64> d8;
  const hn::Repartition<std::uint32_t, decltype(d8)> d32;
  const hn::Rebind<std::uint8_t, decltype(d32)> narrow;
  const auto* const from = reinterpret_cast<const std::uint8_t*>(packed);
  for (std::size_t i = 0; i < kGroup; i += hn::Lanes(d8)) {
    const auto four = hn::PromoteTo(d32, hn::LoadU(narrow, from + i / 4));
    const auto pairs = hn::And(hn::Or(four, hn::ShiftLeft<12>(four)), hn::Set(d32, 0x000f000fU));
    const auto apart = hn::And(hn::Or(pairs, hn::ShiftLeft<6>(pairs)), hn::Set(d32, 0x03030303U));
    hn::StoreU(hn::BitCast(d8, apart), d8, codes + i);
  }
}
#endif

/// Of 8 bits, which stay as they are, or of up to 7, and nothing behind them.
template <unsigned kBits, bool kStream>
HWY_INLINE void pack_group(const std::uint8_t* codes, std::byte* packed) {
  if constexpr (kBits == 8) {
    const hn::CappedTag<std::uint8_t, 64> d8;
    for (std::size_t i = 0; i < kGroup; i += hn::Lanes(d8)) {
      store<kStream>(hn::LoadU(d8, codes + i), d8, reinterpret_cast<std::uint8_t*>(packed) + i);
    }
    return;
  }
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kBits == 4) {
    return pack_group_4<kStream>(codes, packed);
  } else if constexpr (kBits == 2) {
    return pack_group_2<kStream>(codes, packed);
  }
#endif
  std::byte whole[kGroup + 8];
  pack_group_any(codes, kBits, whole);
  std::memcpy(packed, whole, kGroup / 8 * kBits);
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_SIMD_PACK_INL_H
