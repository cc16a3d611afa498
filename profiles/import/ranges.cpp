#include "profiles/import/ranges.h"

#include <algorithm>

namespace breakeven {

std::vector<Range> merged(std::vector<Range> ranges) {
  std::erase_if(ranges, [](const Range& range) { return !(range.begin < range.end); });
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (result.empty() || range.begin > result.back().end) {
      result.push_back(range);
    } else {
      result.back().end = std::max(result.back().end, range.end);
    }
  }
  return result;
}

double length(const std::vector<Range>& merged) {
  double sum = 0;
  for (const Range& range : merged) {
    sum += range.end - range.begin;
  }
  return sum;
}

double overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const double begin = std::max(a[i].begin, b[j].begin);
    const double end = std::min(a[i].end, b[j].end);
    sum += std::max(0.0, end - begin);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return sum;
}

}  // namespace breakeven
