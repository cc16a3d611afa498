// What is timed side by side: the rows of one subject, and the yardsticks of the same vector in the same
// minutes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace benchmark {
class State;
}

namespace breakeven::bench {

/// What one row times.
struct Subject {
  std::string what;  ///< encode, decode; read, memcpy; peer
  std::string spec;  ///< of the scheme; the peer's name; of a yardstick: what it stands beside
  std::size_t elements = 0, threads = 1;
  std::string kind;         ///< of gradient
  std::size_t workers = 1;  ///< whose payloads are decoded in one go

  friend bool operator==(const Subject&, const Subject&) = default;
};
bool is_yardstick(const Subject& subject);
/// "encode/topk:ratio=1%/1024/threads:1/kind:normal", "decode4/..." of four payloads,
/// "read/1024/threads:1/kind:normal/beside:topk:ratio=1%".
std::string name_of(const Subject& subject);

struct Row {
  Subject subject;
  std::function<void(benchmark::State&)> run;
  bool own_clock = false;  ///< sets the time of each iteration itself
};

struct Group {
  std::vector<Row> rows, yardsticks;
};

/// One thread's CPU time is what a shared machine leaves alone; of several threads only the wall clock tells.
inline bool by_wall_clock(const Subject& subject) {
  return subject.threads > 1;
}

}  // namespace breakeven::bench
