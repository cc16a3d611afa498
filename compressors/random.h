// Random numbers by position: the same for any number of threads and any order.
#pragma once

#include <cstdint>

namespace breakeven {

/// 64 random bits for one position of one stream: the finaliser of SplitMix64 (Steele, Lea, Flood: "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), twice.
constexpr std::uint64_t mix(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}
constexpr std::uint64_t random_at(std::uint64_t stream, std::uint64_t position) {
  return mix(mix(stream) ^ position);
}
/// In [0, 1), by its 53 upper bits.
constexpr double uniform_at(std::uint64_t stream, std::uint64_t position) {
  return static_cast<double>(random_at(stream, position) >> 11U) * 0x1p-53;
}

}  // namespace breakeven
