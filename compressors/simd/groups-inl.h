// How blocks of floats are walked through; for inclusion in vector code only.
#if defined(BREAKEVEN_SIMD_GROUPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_SIMD_GROUPS_INL_H
#undef BREAKEVEN_SIMD_GROUPS_INL_H
#else
#define BREAKEVEN_SIMD_GROUPS_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Everything goes by groups of 64 elements, whole vectors on every target, and by four vectors in a group.
// What is left over is copied to a group of its own. Nothing is prefetched but across pages (blocks.cpp):
// measured, that only disturbs what the machine does by itself.
inline constexpr std::size_t kGroup = 64;

inline constexpr hn::CappedTag<float, 16> kFloats;
inline constexpr hn::RebindToUnsigned<decltype(kFloats)> kWords;
using Floats = hn::Vec<decltype(kFloats)>;
using Words = hn::Vec<decltype(kWords)>;

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_SIMD_GROUPS_INL_H
