#include "compressors/sample.h"

#include <algorithm>
#include <cmath>

#include "compressors/simd/draw.h"

namespace breakeven {

Sample::Sample(std::size_t lines)
    : chosen_(lines), magnitudes_(kLine * lines), scratch_(kLine * lines), tail_(kLine * lines) {}

void Sample::take(const Terms& terms, std::size_t n, std::size_t lines) {
  // Counted from the vector's begin, not from an address: the same vector gives the same sample.
  lines_ = std::min({lines, n / kLine, chosen_.size()});
  if (lines_ > 0) {
    Strata(n / kLine, lines_, 0).draw(0, lines_, chosen_.data());
    copy_lines(terms, chosen_.data(), lines_, magnitudes_.data());
  }
}

std::int32_t Sample::kth(std::size_t k) {
  std::copy_n(magnitudes_.data(), size(), scratch_.data());
  return kth_largest(scratch_.data(), size(), k).magnitude;
}

Sample::Band Sample::band(std::size_t n, std::size_t k) {
  // Only the largest ones matter: twice as many as stand for k.
  const double expected = static_cast<double>(size()) * static_cast<double>(k) / static_cast<double>(n);
  const auto rank = static_cast<std::size_t>(expected) + 1;
  const std::size_t most = std::min(size(), 2 * rank + 128);
  const std::int32_t floor = most == size() ? kBelowAll : kth(most) - 1;
  const std::size_t count = copy_between(magnitudes_.data(), size(), floor, kAboveAll, tail_.data());
  const auto largest = [&](std::size_t at) {
    std::copy_n(tail_.data(), count, scratch_.data());
    return kth_largest(scratch_.data(), count, at).magnitude;
  };
  // Neighbours within a line are alike: the variance is what the lines show, from the differences of
  // successive ones, which suits a stratified sample.
  const double seen = line_variation(magnitudes_.data(), lines_, largest(std::min(rank, count)) - 1) / 2;
  const double margin = 5 * std::sqrt(std::max(expected, seen)) + 3;
  Band band;
  const auto low = static_cast<std::size_t>(expected + margin) + 1;
  band.low = low <= count ? largest(low) - 1 : floor;
  if (expected > margin + 1) {
    band.high = largest(static_cast<std::size_t>(expected - margin));
  }
  return band;
}

}  // namespace breakeven
