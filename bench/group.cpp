#include "bench/group.h"

namespace breakeven::bench {

bool is_yardstick(const Subject& subject) {
  return subject.what == "read" || subject.what == "memcpy";
}

std::string name_of(const Subject& subject) {
  std::string name = subject.what + (subject.workers > 1 ? std::to_string(subject.workers) : "");
  if (!is_yardstick(subject)) {
    name += "/" + subject.spec;
  }
  name += "/" + std::to_string(subject.elements) + "/threads:" + std::to_string(subject.threads) +
          "/kind:" + subject.kind;
  if (is_yardstick(subject)) {
    name += "/beside:" + subject.spec;
  }
  return name;
}

}  // namespace breakeven::bench
