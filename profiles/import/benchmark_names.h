// What the name of a benchmark says: which side of which scheme, for how many elements.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

enum class CodecSide { encode, decode, decode_next };
std::string_view name(CodecSide side);

struct NamedBenchmark {
  CodecSide side = CodecSide::encode;
  std::string spec;
  double elements = 0;
  std::optional<std::size_t> threads;  ///< where the name tells
  bool normal = true;                  ///< no other kind of gradient
};

/// Our own names and the user's patterns (ImportOptions), which come first.
class BenchmarkNames {
 public:
  /// `canonical` is ImportOptions' and may be empty. Throws Error (value) for a pattern that cannot be read.
  explicit BenchmarkNames(const std::vector<std::string>& patterns,
                          const std::function<std::string(const std::string& spec)>& canonical = {});

  [[nodiscard]] std::optional<NamedBenchmark> read(const std::string& name);
  /// A pattern that no name went to, and what is wrong with it.
  struct Unused {
    std::string given;
    std::string taken_by;  ///< an earlier pattern that got all that it matches; empty: it matches nothing
  };
  [[nodiscard]] std::optional<Unused> unused() const;

 private:
  struct Pattern {
    std::string given;
    std::vector<std::string> segments;  ///< between slashes
    CodecSide side = CodecSide::encode;
    std::string spec;
    bool used = false;
    std::string taken_by;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace breakeven
