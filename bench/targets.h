// How fast each kernel must be, in read passes over the same vector, and what it must beat.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace breakeven::bench {

/// ResNet-50's gradient.
constexpr std::size_t kLarge = 25557032;

struct Target {
  std::string what;  ///< encode, decode, decode_next (a further payload), both (encode and decode), majority
  std::string spec;
  double ratio = 0;          ///< of one thread's time to that of a read pass
  double peer_ratio = 0;     ///< of the best other implementation; 0: none is known
  std::string peer, source;  ///< its name; which part of the project's design asks for it
  std::size_t elements = kLarge;
};
const std::vector<Target>& targets();
/// An object a line, for the script that writes the page.
std::string targets_text(const std::vector<Target>& targets);

/// The model's own.
struct TimeTarget {
  std::string name;  ///< of the benchmark
  double seconds = 0;
  std::string source;
};
const std::vector<TimeTarget>& time_targets();

}  // namespace breakeven::bench
