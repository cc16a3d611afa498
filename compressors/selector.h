// The k elements of largest magnitude of a vector, at the speed of one pass over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/sample.h"
#include "compressors/simd/rank.h"
#include "compressors/simd/select.h"
#include "compressors/threads.h"

namespace breakeven {

/// A gradient, and what is kept of those before it: the residual, and its velocity. Where there is a
/// residual, a selection brings it up to date, as Terms say, and takes from it.
struct Source {
  std::span<const float> gradient;
  float* residual = nullptr;
  float* velocity = nullptr;  // with a residual only
  float momentum = 0;

  [[nodiscard]] Terms terms() const { return {gradient.data(), residual, velocity, momentum}; }
};

/// How many of how many elements are taken.
struct Quota {
  std::size_t kept = 0, elements = 0;
};

/// Collects entries (value and position) of one vector after another, by ascending position. Magnitudes are
/// ordered as in simd/magnitude.h: NaN come first, then infinities; of equal ones the first in the vector are
/// taken. So results depend neither on threads nor on vector instructions.
class Selector {
 public:
  Selector(std::span<const Quota> vectors, Threads& threads);

  void clear() { count_ = 0; }
  /// Fills up to k entries with zeros at position 0.
  void pad(std::size_t k);
  [[nodiscard]] std::span<const float> values() const { return values_.span().first(count_); }
  [[nodiscard]] std::span<const std::uint32_t> positions() const { return positions_.span().first(count_); }

  /// The k elements of largest magnitude. Positions are counted from `first`.
  void add_largest(Source source, std::size_t k, std::size_t first);
  /// Those that reach a threshold that at most k reach, then the first ones that reach a lower one that k do;
  /// both are found in `rounds` counts, by bisection between the mean and the largest magnitude.
  void add_by_bisection(Source source, std::size_t k, std::size_t first, std::size_t rounds);
  /// Those of magnitude above `above`, but the k largest if there are more.
  void add_above(Source source, std::int32_t above, std::size_t k, std::size_t first);

 private:
  /// One thread's part of the vector, and where its entries are collected.
  struct Range {
    std::size_t begin = 0, end = 0;
    std::size_t offset = 0, capacity = 0, count = 0;
    std::size_t found = 0;  // by the pass before
  };

  void lay_out(std::size_t n, std::size_t k, bool equal);
  [[nodiscard]] float* values_of(const Range& range);
  [[nodiscard]] std::uint32_t* positions_of(const Range& range);
  [[nodiscard]] std::size_t collected() const;
  template <class Work>
  void each_range(Work work);
  template <class Shrink>
  void collect(Source source, std::int32_t above, std::size_t first, Shrink shrink);
  void collect_largest(Source source, std::int32_t above, std::size_t k, std::size_t first);
  Cut cut_of(std::size_t k, std::int32_t high);
  Cut bisect(std::span<const float> values, std::size_t k, std::size_t rounds);
  void finish(Cut cut, std::size_t k);

  Threads& threads_;
  Sample sample_;
  std::vector<Range> ranges_;
  std::size_t count_ = 0;
  // A single range collects where its entries stay, several in a pool.
  Buffer<float> values_, pool_values_;
  Buffer<std::uint32_t> positions_, pool_positions_;
  Buffer<std::int32_t> magnitudes_;
  Buffer<Spread> spreads_;
};

}  // namespace breakeven
