// Messages and short cuts that the tests of the schemes share.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "compressors/builtin.h"

namespace breakeven::test {

inline const Registry& registry() {
  static const Registry kRegistry = [] {
    Registry all;
    add_builtin(all);
    return all;
  }();
  return kRegistry;
}

using Message = std::vector<Shape>;

inline Plan plan_of(const std::string& spec, const Message& message, std::size_t workers = 8) {
  return registry().make(spec).compressor->plan(message, workers);
}
inline double state_of(const std::string& spec, const Message& message, std::size_t workers = 8) {
  return registry().make(spec).compressor->state(message, workers).base();
}
/// Bytes of every round.
inline std::vector<double> payloads(const Plan& plan) {
  std::vector<double> bytes;
  for (const Round& round : plan) {
    bytes.push_back(round.payload.base());
  }
  return bytes;
}

inline Message vector_of(std::size_t n, Element element = Element::f32) {
  return {{n, 1, element}};
}

/// Matrices and vectors of many kinds: two of one shape, one just worth a rank of 1, one of 1280 elements.
inline Message mixed(Element element = Element::f32) {
  return {{256, 128, element}, {256, 128, element}, {64, 147, element}, {128, 1, element},
          {2000, 1, element},  {32, 40, element},   {6, 6, element}};
}

/// Everything that a plan states, as text.
inline std::string text(const Plan& plan) {
  std::ostringstream out;
  out.precision(17);
  for (const Round& round : plan) {
    out << name(round.exchange) << ' ' << round.payload.base() << ' ' << static_cast<int>(round.element);
    for (const Work& work : {round.encode, round.decode}) {
      out << " (" << work.touched.base() << ' ' << work.flops << ' ' << work.launches << ' ' << work.elements
          << ' ' << work.repeats << ')';
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace breakeven::test
