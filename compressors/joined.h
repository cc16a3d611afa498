// Several runs of a message as one vector.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "compressors/dense.h"

namespace breakeven {

/// The elements of several runs of a message as one vector, without copying them.
class Joined {
 public:
  Joined() = default;
  explicit Joined(std::vector<Run> runs);

  [[nodiscard]] std::size_t elements() const { return ends_.empty() ? 0 : ends_.back(); }
  /// work(place, at, count) for the parts of begin..end: `count` elements from `at` on lie at `place` of the
  /// message.
  template <class F>
  void each(std::size_t begin, std::size_t end, F&& work) const {
    for (std::size_t run = run_of(begin), at = begin; at < end; ++run) {
      const std::size_t stop = std::min(end, ends_[run]);
      work(runs_[run].first + runs_[run].count - (ends_[run] - at), at, stop - at);
      at = stop;
    }
  }
  /// How many from `begin` on, of those up to `end`, lie in one run.
  [[nodiscard]] std::size_t together(std::size_t begin, std::size_t end) const {
    return std::min(end, ends_[run_of(begin)]) - begin;
  }

 private:
  [[nodiscard]] std::size_t run_of(std::size_t element) const;

  std::vector<Run> runs_;
  std::vector<std::size_t> ends_;  // of the runs, in the joined vector
};

}  // namespace breakeven
