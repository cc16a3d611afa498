// What the name of a benchmark says: which side of which scheme, for how many elements.
#pragma once

#include <cstddef>
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
  /// Throws Error (value) for a pattern that cannot be read.
  explicit BenchmarkNames(const std::vector<std::string>& patterns);

  [[nodiscard]] std::optional<NamedBenchmark> read(const std::string& name);
  /// A pattern that no name has matched, as it was given.
  [[nodiscard]] const std::string* unused() const;

 private:
  struct Pattern {
    std::string given;
    std::vector<std::string> segments;  ///< between slashes
    CodecSide side = CodecSide::encode;
    std::string spec;
    bool used = false;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace breakeven
