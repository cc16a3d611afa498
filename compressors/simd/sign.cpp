#include "compressors/simd/sign.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/sign.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
/// Elements that are coded together: one 64-bit word of signs.
constexpr std::size_t kBlock = 64;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
constexpr std::size_t kVectors = kBlock / kLanes;
static_assert(kLanes <= 16);
/// The signs of one vector.
using Part = std::conditional_t<kLanes == 16, std::uint16_t, std::uint8_t>;

HWY_INLINE std::uint64_t not_negative(Vector values) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(Floats(), hn::Ge(values, hn::Zero(Floats())), bytes);
  Part part = 0;
  std::memcpy(&part, bytes, sizeof(part));
  return part;
}

HWY_INLINE Vector signed_by(std::uint64_t word, std::size_t first, Vector positive, Vector negative) {
  const auto part = static_cast<Part>(word >> first);
  std::uint8_t bytes[8] = {};
  std::memcpy(bytes, &part, sizeof(part));
  return hn::IfThenElse(hn::LoadMaskBits(Floats(), bytes), positive, negative);
}

HWY_INLINE std::uint64_t load_word(const std::byte* bits, std::size_t elements) {
  std::uint64_t word = 0;
  std::memcpy(&word, bits, (elements + 7) / 8);
  return word;
}

HWY_INLINE void clear(Vector* vectors) {
  for (std::size_t j = 0; j < kVectors; ++j) {
    vectors[j] = hn::Zero(Floats());
  }
}

/// Element i of every block has a sum of its own, so that the order of additions is the same for every vector
/// length.
HWY_INLINE double total(const Vector* sums) {
  float lanes[kBlock];
  for (std::size_t j = 0; j < kVectors; ++j) {
    hn::StoreU(sums[j], Floats(), lanes + j * kLanes);
  }
  double sum = 0;
  for (const float lane : lanes) {
    sum += static_cast<double>(lane);
  }
  return sum;
}

/// Codes one block whose vector j is values(j).
template <class Values>
HWY_INLINE std::uint64_t code_block(Vector* sums, Values values) {
  std::uint64_t word = 0;
  for (std::size_t j = 0; j < kVectors; ++j) {
    const Vector vector = values(j);
    sums[j] = hn::Add(sums[j], hn::Abs(vector));
    word |= not_negative(vector) << (j * kLanes);
  }
  return word;
}

/// The elements after the last whole block, read from `values`.
HWY_INLINE void code_rest(const float* values, std::size_t n, Vector* sums, std::byte* bits) {
  float block[kBlock] = {};
  std::copy_n(values, n, block);
  const std::uint64_t word =
      code_block(sums, [&](std::size_t j) { return hn::LoadU(Floats(), block + j * kLanes); }) &
      ((std::uint64_t{1} << n) - 1);
  std::memcpy(bits, &word, (n + 7) / 8);
}

double code(const float* values, std::size_t n, std::byte* bits) {
  Vector sums[kVectors];
  clear(sums);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    const float* const block = values + i;
    const std::uint64_t word =
        code_block(sums, [&](std::size_t j) { return hn::LoadU(Floats(), block + j * kLanes); });
    std::memcpy(bits + i / 8, &word, sizeof(word));
  }
  if (i < n) {
    code_rest(values + i, n - i, sums, bits + i / 8);
  }
  return total(sums);
}

double code_with_feedback(const float* values, std::size_t n, float scale, float* kept, std::byte* bits) {
  const Vector up = hn::Set(Floats(), scale), down = hn::Set(Floats(), -scale);
  Vector sums[kVectors];
  clear(sums);
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    const float* const block = values + i;
    float* const keep = kept + i;
    const std::uint64_t word = code_block(sums, [&](std::size_t j) {
      const Vector last = hn::LoadU(Floats(), keep + j * kLanes);
      const Vector sent = hn::IfThenElse(hn::Ge(last, hn::Zero(Floats())), up, down);
      const Vector sum = hn::Add(hn::LoadU(Floats(), block + j * kLanes), hn::Sub(last, sent));
      hn::StoreU(sum, Floats(), keep + j * kLanes);
      return sum;
    });
    std::memcpy(bits + i / 8, &word, sizeof(word));
  }
  if (i < n) {
    for (std::size_t k = i; k < n; ++k) {
      const float error = kept[k] - (kept[k] >= 0 ? scale : -scale);
      kept[k] = values[k] + error;
    }
    code_rest(kept + i, n - i, sums, bits + i / 8);
  }
  return total(sums);
}

/// make(block of signs' first element, its length, where to put the vectors), block by block.
template <class Make>
HWY_INLINE void decode_blocks(std::size_t n, float* to, Make make) {
  std::size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    make(i, kBlock, to + i);
  }
  if (i < n) {
    alignas(64) float block[kBlock];
    make(i, n - i, block);
    std::copy_n(block, n - i, to + i);
  }
}

template <bool kStream>
HWY_INLINE void decode_all(const std::byte* bits, std::size_t n, float magnitude, float* to) {
  const Vector up = hn::Set(Floats(), magnitude), down = hn::Set(Floats(), -magnitude);
  decode_blocks(n, to, [&](std::size_t i, std::size_t length, float* block) {
    const std::uint64_t word = load_word(bits + i / 8, length);
    for (std::size_t j = 0; j < kVectors; ++j) {
      store<kStream>(signed_by(word, j * kLanes, up, down), Floats(), block + j * kLanes);
    }
  });
}

void decode(const std::byte* bits, std::size_t n, float magnitude, float* to, std::size_t all) {
  if (worth_streaming(to, all)) {
    decode_all<true>(bits, n, magnitude, to);
    hwy::FlushStream();
  } else {
    decode_all<false>(bits, n, magnitude, to);
  }
}

void decode_and_add(std::span<const ScaledSigns> codes, std::size_t first, float factor, float* to,
                    std::size_t n) {
  const Vector times = hn::Set(Floats(), factor);
  decode_blocks(n, to, [&](std::size_t i, std::size_t length, float* block) {
    Vector sums[kVectors];
    clear(sums);
    for (const ScaledSigns& code : codes) {
      const std::uint64_t word = load_word(code.bits + (first + i) / 8, length);
      const Vector up = hn::Set(Floats(), code.scale), down = hn::Set(Floats(), -code.scale);
      for (std::size_t j = 0; j < kVectors; ++j) {
        sums[j] = hn::Add(sums[j], signed_by(word, j * kLanes, up, down));
      }
    }
    for (std::size_t j = 0; j < kVectors; ++j) {
      hn::StoreU(hn::Mul(sums[j], times), Floats(), block + j * kLanes);
    }
  });
}

void widen(const std::byte* bits, std::size_t n, std::byte* to) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(bits);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(to);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto mask = hn::LoadMaskBits(d, from + i / 8);
    hn::StoreU(hn::IfThenElseZero(mask, hn::Set(d, std::uint8_t{1})), d, bytes + i);
  }
#endif
  for (; i < n; ++i) {
    bytes[i] = static_cast<std::uint8_t>(from[i / 8] >> (i % 8) & 1U);
  }
}

void narrow(const std::byte* from, std::size_t n, std::byte* to) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
  auto* const bits = reinterpret_cast<std::uint8_t*>(to);
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, bytes + i), hn::Zero(d)), bits + i / 8);
  }
#endif
  for (; i < n; i += 8) {
    unsigned byte = 0;
    for (std::size_t k = i; k < std::min(i + 8, n); ++k) {
      byte |= (bytes[k] != 0 ? 1U : 0U) << (k - i);
    }
    bits[i / 8] = static_cast<std::uint8_t>(byte);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(code);
HWY_EXPORT(code_with_feedback);
HWY_EXPORT(decode);
HWY_EXPORT(decode_and_add);
HWY_EXPORT(widen);
HWY_EXPORT(narrow);

double pack_signs(std::span<const float> values, std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(code)(values.data(), values.size(), bits);
}
double pack_signs(std::span<const float> values, float scale, float* kept, std::byte* bits) {
  return HWY_DYNAMIC_DISPATCH(code_with_feedback)(values.data(), values.size(), scale, kept, bits);
}
void unpack_signs(const std::byte* bits, float magnitude, std::span<float> to, std::size_t all) {
  HWY_DYNAMIC_DISPATCH(decode)(bits, to.size(), magnitude, to.data(), all);
}
void add_signs(std::span<const ScaledSigns> codes, std::size_t first, float factor, std::span<float> to) {
  HWY_DYNAMIC_DISPATCH(decode_and_add)(codes, first, factor, to.data(), to.size());
}
void bits_to_bytes(const std::byte* bits, std::span<std::byte> bytes) {
  HWY_DYNAMIC_DISPATCH(widen)(bits, bytes.size(), bytes.data());
}
void bytes_to_bits(std::span<const std::byte> bytes, std::byte* bits) {
  HWY_DYNAMIC_DISPATCH(narrow)(bytes.data(), bytes.size(), bits);
}

}  // namespace breakeven
#endif  // HWY_ONCE
