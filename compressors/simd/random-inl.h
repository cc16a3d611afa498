// Random words by counter in vector registers; for inclusion in vector code only.
#if defined(BREAKEVEN_SIMD_RANDOM_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_RANDOM_INL_H
#undef BREAKEVEN_SIMD_RANDOM_INL_H
#else
#define BREAKEVEN_SIMD_RANDOM_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

/// Random words by counter, the same on every target: multiplicative hashing, twice, with half of the key in
/// front of each multiplication. The lowest bits are the least random ones.
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V random_words(D du32, V counter, V key_low, V key_high) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V once = hn::Mul(hn::Xor(counter, key_low), hn::Set(du32, 0x85ebca6bU));
  return hn::Mul(hn::Xor3(once, hn::ShiftRight<15>(once), key_high), hn::Set(du32, 0xc2b2ae35U));
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif
