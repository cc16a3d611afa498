#include "model/fabric.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/error.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 12> kAlgorithms = {"auto",
                                                          "ring",
                                                          "tree",
                                                          "double-tree",
                                                          "recursive-doubling",
                                                          "halving-doubling",
                                                          "hierarchical",
                                                          "leader",
                                                          "direct",
                                                          "ps",
                                                          "byteps",
                                                          "nccl"};

}  // namespace

std::string_view name(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

Algorithm parse_algorithm(std::string_view text) {
  const auto found = std::find(kAlgorithms.begin(), kAlgorithms.end(), text);
  if (found == kAlgorithms.end()) {
    const std::vector<std::string> known(kAlgorithms.begin(), kAlgorithms.end());
    throw Error(Fault::value, {}, "unknown algorithm \"" + std::string(text) + "\"", one_of(known, text));
  }
  return static_cast<Algorithm>(found - kAlgorithms.begin());
}

Seconds Table::at(Bytes payload) const {
  const Point& first = points.front();
  if (points.size() == 1 || payload <= Bytes{}) {
    return first.time;
  }
  auto right = std::lower_bound(points.begin(), points.end(), payload,
                                [](const Point& point, Bytes size) { return point.payload < size; });
  right = std::clamp(right, points.begin() + 1, points.end() - 1);
  const auto left = right - 1;
  const double along = (payload - left->payload) / (right->payload - left->payload);
  const Seconds time = left->time + (right->time - left->time) * along;
  // Below the first point a line may fall below 0; no collective loses bandwidth as it grows from there.
  return payload < first.payload ? std::max(time, first.time * (payload / first.payload)) : time;
}

bool Table::covers(Bytes payload) const {
  return payload >= points.front().payload && payload <= points.back().payload;
}

Seconds AdditionTable::at(Bytes size) const {
  if (points.empty()) {
    return {};
  }
  const auto above =
      std::find_if(points.begin(), points.end(), [size](const Point& point) { return point.size >= size; });
  if (above == points.begin() || above == points.end()) {
    return above == points.end() ? points.back().time : points.front().time;
  }
  const Point& low = *(above - 1);
  return low.time + (above->time - low.time) * ((size - low.size) / (above->size - low.size));
}

}  // namespace breakeven
