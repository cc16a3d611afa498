// Positions drawn at random, the same for any number of threads, and the elements that stand there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace breakeven {

/// Where each stratum begins, and its random word: the finaliser of MurmurHash3 (Appleby), with a key before
/// each product.
struct Stratum {
  static constexpr std::uint32_t kFactor = 0x85ebca6bU, kSecondFactor = 0xc2b2ae35U;
  std::uint64_t step = 0, phase = 0;  // in 2^-32 elements
  std::uint32_t key = 0, second_key = 0;

  [[nodiscard]] constexpr std::uint32_t begin(std::uint64_t stratum) const {
    return static_cast<std::uint32_t>((phase + stratum * step) >> 32U);
  }
  [[nodiscard]] constexpr std::uint32_t word(std::uint64_t stratum) const {
    std::uint32_t bits = static_cast<std::uint32_t>(stratum) ^ key;
    bits = (bits ^ (bits >> 16U)) * kFactor ^ second_key;
    bits = (bits ^ (bits >> 13U)) * kSecondFactor;
    return bits ^ (bits >> 16U);
  }
  /// The stratum's word as one of 0 .. length - 1.
  [[nodiscard]] constexpr std::uint32_t offset(std::uint64_t stratum, std::uint32_t length) const {
    return static_cast<std::uint32_t>((std::uint64_t{word(stratum)} * length) >> 32U);
  }
};

/// k of n positions (1 <= k <= n < 2^32), one of each of k strata as long as each other, whose first begins
/// at a random place: they are distinct, and each position is as likely as any other.
class Strata {
 public:
  Strata(std::uint64_t n, std::uint64_t k, std::uint64_t stream);

  /// Writes positions begin to end - 1 of the k, in ascending order.
  void draw(std::size_t begin, std::size_t end, std::uint32_t* positions) const;

 private:
  std::uint64_t n_, k_;
  Stratum rule_;
};

/// to[i] = values[positions[i]]. Positions ascend.
void gather(const float* values, const std::uint32_t* positions, std::size_t n, float* to);
/// values[positions[i]] = 0.
void clear(float* values, const std::uint32_t* positions, std::size_t n);

}  // namespace breakeven
