// Lines that a benchmark printed, without what terminals and launchers put around them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.h"

namespace breakeven {

using Tokens = std::vector<std::string_view>;

/// The words of a line. Bars, quotes and fences of Markdown are spaces.
Tokens words(std::string_view line);
/// Digits only.
bool is_count(std::string_view token);
bool has(const Tokens& tokens, std::string_view word);

/// A number as it was printed: the true one is at most `rounding` away.
struct Printed {
  double value = 0, rounding = 0;
};
/// Nothing for what is no finite number.
std::optional<Printed> read_printed(std::string_view token);

/// The lines of a log, one after the other. Labels of mpirun ("[1,0]<stdout>:"), events of flux
/// ({"context":{"data":"..."}}) and colours are taken off.
class LogLines {
 public:
  LogLines(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  /// To the next line; false: there is none.
  bool next();
  /// The words of this line, until next().
  [[nodiscard]] const Tokens& tokens() const { return tokens_; }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::string place() const { return where_ + ": line " + std::to_string(number_); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const;

  /// This line from its first number on, where that is a size behind a few words at most, such as the "0:" of
  /// srun --label; else empty.
  [[nodiscard]] Tokens row() const;
  /// The same, refused where it has fewer than `columns`, or where its size is none.
  [[nodiscard]] Tokens row(std::size_t columns) const;
  [[nodiscard]] std::size_t count(std::string_view token) const;
  /// Above 0, in units of `unit`.
  [[nodiscard]] Seconds time(std::string_view token, double unit = 1e-6) const;

 private:
  [[nodiscard]] bool spoils_size(std::size_t columns) const;

  std::string_view rest_, wrapped_;  ///< of the file; of a line of it that holds several, as JSON does
  std::string where_, line_;
  Tokens tokens_;
  std::size_t number_ = 0;
};

}  // namespace breakeven
