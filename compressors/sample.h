// A sample of a vector's magnitudes: whole cache lines, one of each of many strata, since layers differ in
// scale.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compressors/buffer.h"
#include "compressors/simd/rank.h"

namespace breakeven {

class Sample {
 public:
  /// Of at most `lines` cache lines.
  explicit Sample(std::size_t lines);

  /// As many lines, or as there are, of vectors of n elements.
  void take(const Terms& terms, std::size_t n, std::size_t lines);
  [[nodiscard]] std::size_t size() const { return kLine * lines_; }

  /// The k-th largest magnitude, k from 1 to size().
  std::int32_t kth(std::size_t k);
  /// The k-th largest magnitude of the whole vector is above `low` and at most `high`, but for one chance in
  /// a million or so.
  struct Band {
    std::int32_t low = kBelowAll, high = kAboveAll;
  };
  Band band(std::size_t n, std::size_t k);

 private:
  std::size_t lines_ = 0;
  Buffer<std::uint32_t> chosen_;
  Buffer<std::int32_t> magnitudes_, scratch_, tail_;
};

}  // namespace breakeven
