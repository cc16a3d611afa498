// What several plans share: a message seen as one vector, its dense part, the work of a coding.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

/// The tensors of a message laid end to end.
struct Flat {
  double elements = 0;
  double width = 4;  ///< bytes of one element of the gradient
  Element element = Element::f32;

  [[nodiscard]] Bytes bytes() const { return Bytes::of(elements * width); }
};
inline Flat flat(std::span<const Shape> tensors) {
  Flat all;
  if (!tensors.empty()) {
    all.elements = static_cast<double>(elements(tensors));
    all.element = tensors.front().element;
    all.width = all.elements > 0 ? bytes(tensors).base() / all.elements : size_of(all.element);
  }
  return all;
}

/// Plain all-reduce of what a scheme does not code; nothing for no bytes.
inline void add_dense(Plan& plan, std::span<const Shape> tensors) {
  if (bytes(tensors) > Bytes{}) {
    plan.push_back({{}, Exchange::all_reduce, bytes(tensors), {}, tensors.front().element});
  }
}

/// A message split by a scheme's rule of eligibility; empty tensors are in neither part.
struct Split {
  std::vector<Shape> coded, dense;
};
template <class Eligible>
Split split(std::span<const Shape> tensors, Eligible eligible) {
  Split parts;
  for (const Shape& shape : tensors) {
    if (shape.elements() > 0) {
      (eligible(shape) ? parts.coded : parts.dense).push_back(shape);
    }
  }
  return parts;
}

/// Work of `repeats` codings of `elements` gradient elements each.
inline Work coding(double touched, double flops, double launches, double elements, double repeats = 1) {
  Work work;
  work.touched = Bytes::of(touched);
  work.flops = flops;
  work.launches = launches;
  work.elements = elements;
  work.repeats = repeats;
  return work;
}

inline double at_least_one(std::size_t workers) {
  return static_cast<double>(std::max<std::size_t>(workers, 1));
}
inline double round_up(double value, double unit) {
  return std::ceil(value / unit) * unit;
}

}  // namespace breakeven
