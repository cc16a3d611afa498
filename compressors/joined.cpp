#include "compressors/joined.h"

#include <utility>

namespace breakeven {

Joined::Joined(std::vector<Run> runs) : runs_(std::move(runs)) {
  std::size_t end = 0;
  for (const Run& run : runs_) {
    ends_.push_back(end += run.count);
  }
}

std::size_t Joined::run_of(std::size_t element) const {
  return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), element) - ends_.begin());
}

}  // namespace breakeven
