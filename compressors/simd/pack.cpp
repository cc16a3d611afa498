#include "compressors/simd/pack.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/pack.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

/// group(codes, packed) for every 64 codes. One that would go beyond the memory gets its own: a part of a
/// group, and with kBeyond, when up to 8 bytes too many are read or written, the last whole one too.
template <bool kBeyond, class Code, class F>
HWY_INLINE void pack_groups(const Code* codes, std::size_t n, unsigned bits, std::byte* packed, F group) {
  for (std::size_t i = 0; i < n; i += kGroup) {
    alignas(64) Code rest[kGroup];
    std::byte whole[2 * kGroup + 8];
    const bool last = n - i < (kBeyond ? 2 : 1) * kGroup;
    const std::size_t count = std::min(kGroup, n - i);
    if (last) {
      std::fill_n(std::copy_n(codes + i, count, rest), kGroup - count, Code{0});
    }
    group(last ? rest : codes + i, last ? whole : packed + i / 8 * bits);
    if (last) {
      std::memcpy(packed + i / 8 * bits, whole, packed_bytes(count, bits));
    }
  }
}
template <bool kBeyond, class Code, class F>
HWY_INLINE void unpack_groups(const std::byte* packed, std::size_t n, unsigned bits, Code* codes, F group) {
  for (std::size_t i = 0; i < n; i += kGroup) {
    alignas(64) Code rest[kGroup];
    std::byte whole[2 * kGroup + 8];
    const bool last = n - i < (kBeyond ? 2 : 1) * kGroup;
    const std::size_t count = std::min(kGroup, n - i);
    if (last) {
      std::fill(std::begin(whole), std::end(whole), std::byte{0});
      std::memcpy(whole, packed + i / 8 * bits, packed_bytes(count, bits));
    }
    group(last ? whole : packed + i / 8 * bits, last ? rest : codes + i);
    if (last) {
      std::copy_n(rest, count, codes + i);
    }
  }
}

void pack_bytes(const std::uint8_t* codes, std::size_t n, unsigned bits, std::byte* packed) {
#if HWY_TARGET != HWY_SCALAR
  if (bits == 4) {
    return pack_groups<false>(codes, n, bits, packed,
                              [](const std::uint8_t* from, std::byte* to) { pack_group_4(from, to); });
  }
  if (bits == 2) {
    return pack_groups<false>(codes, n, bits, packed,
                              [](const std::uint8_t* from, std::byte* to) { pack_group_2(from, to); });
  }
#endif
  pack_groups<true>(codes, n, bits, packed,
                    [=](const std::uint8_t* from, std::byte* to) { pack_group_any(from, bits, to); });
}
void unpack_bytes(const std::byte* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
#if HWY_TARGET != HWY_SCALAR
  if (bits == 4) {
    return unpack_groups<false>(packed, n, bits, codes,
                                [](const std::byte* from, std::uint8_t* to) { unpack_group_4(from, to); });
  }
  if (bits == 2) {
    return unpack_groups<false>(packed, n, bits, codes,
                                [](const std::byte* from, std::uint8_t* to) { unpack_group_2(from, to); });
  }
#endif
  unpack_groups<true>(packed, n, bits, codes,
                      [=](const std::byte* from, std::uint8_t* to) { unpack_group_any(from, bits, to); });
}
void pack_words(const std::uint16_t* codes, std::size_t n, unsigned bits, std::byte* packed) {
  pack_groups<true>(codes, n, bits, packed,
                    [=](const std::uint16_t* from, std::byte* to) { pack_group_any(from, bits, to); });
}
void unpack_words(const std::byte* packed, std::size_t n, unsigned bits, std::uint16_t* codes) {
  unpack_groups<true>(packed, n, bits, codes,
                      [=](const std::byte* from, std::uint16_t* to) { unpack_group_any(from, bits, to); });
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(pack_bytes);
HWY_EXPORT(pack_words);
HWY_EXPORT(unpack_bytes);
HWY_EXPORT(unpack_words);

void pack(const std::uint8_t* codes, std::size_t n, unsigned bits, std::byte* packed) {
  if (bits == 8) {
    std::copy_n(reinterpret_cast<const std::byte*>(codes), n, packed);
    return;
  }
  HWY_DYNAMIC_DISPATCH(pack_bytes)(codes, n, bits, packed);
}
void pack(const std::uint16_t* codes, std::size_t n, unsigned bits, std::byte* packed) {
  if (bits == 16) {
    std::copy_n(reinterpret_cast<const std::byte*>(codes), 2 * n, packed);
    return;
  }
  HWY_DYNAMIC_DISPATCH(pack_words)(codes, n, bits, packed);
}
void unpack(const std::byte* packed, std::size_t n, unsigned bits, std::uint8_t* codes) {
  if (bits == 8) {
    std::copy_n(packed, n, reinterpret_cast<std::byte*>(codes));
    return;
  }
  HWY_DYNAMIC_DISPATCH(unpack_bytes)(packed, n, bits, codes);
}
void unpack(const std::byte* packed, std::size_t n, unsigned bits, std::uint16_t* codes) {
  if (bits == 16) {
    std::copy_n(packed, 2 * n, reinterpret_cast<std::byte*>(codes));
    return;
  }
  HWY_DYNAMIC_DISPATCH(unpack_words)(packed, n, bits, codes);
}

}  // namespace breakeven
#endif  // HWY_ONCE
