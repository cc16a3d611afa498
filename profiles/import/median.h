// What stands for repeated measurements of one thing, in every importer.
#pragma once

#include <algorithm>
#include <vector>

namespace breakeven {

/// Halfway between the two in the middle of an even number. Not of none.
template <class Value>
Value median_of(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
}

/// The lower of the two in the middle of an even number. Not of none.
template <class Value>
Value lower_median_of(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

}  // namespace breakeven
