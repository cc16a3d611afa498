// What works on magnitudes shares: them in vectors, and moving those of a mask together.
#if defined(BREAKEVEN_SIMD_MAGNITUDES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_MAGNITUDES_INL_H
#undef BREAKEVEN_SIMD_MAGNITUDES_INL_H
#else
#define BREAKEVEN_SIMD_MAGNITUDES_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "compressors/simd/compress_table.h"
#include "compressors/simd/magnitude.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Keys = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using FloatVector = hn::Vec<Floats>;
using KeyVector = hn::Vec<Keys>;
using WordVector = hn::Vec<Words>;
using KeyMask = hn::Mask<Keys>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());
/// Elements of one turn of the loop.
constexpr std::size_t kBlock = 4 * kLanes;

HWY_INLINE KeyVector key(std::int32_t value) {
  return hn::Set(Keys(), value);
}
HWY_INLINE KeyVector magnitudes_of(FloatVector values) {
  return hn::And(hn::BitCast(Keys(), values), key(0x7fffffff));
}
HWY_INLINE KeyVector load_keys(const float* values) {
  return magnitudes_of(hn::LoadU(Floats(), values));
}
HWY_INLINE KeyVector load_keys(const std::int32_t* magnitudes) {
  return hn::LoadU(Keys(), magnitudes);
}
HWY_INLINE std::int32_t key_at(float value) {
  return magnitude(value);
}
HWY_INLINE std::int32_t key_at(std::int32_t magnitude) {
  return magnitude;
}

template <class T>
HWY_INLINE std::size_t count_keys(const T* from, std::size_t n, std::int32_t above) {
  const KeyVector limit = key(above);
  std::size_t count = 0, i = 0;
  while (i + kBlock <= n) {
    // A lane of a sum counts down to -2^16 at most.
    const std::size_t end = i + std::min((n - i) / kBlock, std::size_t{1} << 16U) * kBlock;
    KeyVector a = hn::Zero(Keys()), b = a, c = a, d = a;
    for (; i < end; i += kBlock) {
      a += hn::VecFromMask(Keys(), load_keys(from + i) > limit);
      b += hn::VecFromMask(Keys(), load_keys(from + i + kLanes) > limit);
      c += hn::VecFromMask(Keys(), load_keys(from + i + 2 * kLanes) > limit);
      d += hn::VecFromMask(Keys(), load_keys(from + i + 3 * kLanes) > limit);
    }
    count -= static_cast<std::size_t>(
        static_cast<std::int64_t>(hn::GetLane(hn::SumOfLanes(Keys(), (a + b) + (c + d)))));
  }
  for (; i < n; ++i) {
    count += key_at(from[i]) > above ? 1 : 0;
  }
  return count;
}

#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_SCALAR
/// Moves the lanes of a mask to the front of vectors.
struct Compression {
  HWY_INLINE explicit Compression(KeyMask mask) : kept(mask), count(hn::CountTrue(Keys(), mask)) {}
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> vector) const {
    return hn::Compress(vector, hn::RebindMask(d, kept));
  }
  KeyMask kept;
  std::size_t count;
};
#else
/// Highway 1.0.3's Compress copies its table to the stack at each call, and takes ten times as long.
struct Compression {
  HWY_INLINE explicit Compression(KeyMask mask) {
    std::uint8_t bits[8] = {};  // as many as StoreMaskBits may write
    hn::StoreMaskBits(Keys(), mask, bits);
    count = static_cast<std::size_t>(std::popcount(bits[0]));
    row = kCompressTable<kLanes>[bits[0]].data();
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> vector) const {
    return hn::TableLookupLanes(vector, hn::SetTableIndices(D(), row));
  }
  const std::uint32_t* row;
  std::size_t count;
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif
