// Stretches of time, as sets.
#pragma once

#include <vector>

namespace breakeven {

struct Range {
  double begin = 0, end = 0;
};

/// Sorted, and none touches another. Empty ones are left out.
std::vector<Range> merged(std::vector<Range> ranges);
double length(const std::vector<Range>& merged);
/// How much of both; each as merged() returns it.
double overlap(const std::vector<Range>& a, const std::vector<Range>& b);

}  // namespace breakeven
