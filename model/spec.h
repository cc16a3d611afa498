// "name:key=value,key=value": how people pick a scheme or a schedule, and the rows it is checked against.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// One parameter: its declaration is its parser, its help and its limits.
struct Param {
  enum class Kind { integer, real, fraction, bytes, time, choice };

  std::string name;
  Kind kind = Kind::integer;
  std::string fallback;      ///< in the text a user would write
  double low = 0, high = 0;  ///< inclusive; in base units (bytes, seconds); unused for choices
  std::vector<std::string> choices;
  std::string help;
  bool above_low = false;  ///< low itself is refused ("above 0")
};

/// Checked values of one spec. Asking for a parameter that was not declared is a bug and throws
/// std::out_of_range.
class Params {
 public:
  /// Reads "key=value,..." against `rows`; missing keys take their fallback. Throws Error (unknown key, bad
  /// value).
  Params(const std::vector<Param>& rows, std::string_view text);

  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  [[nodiscard]] const std::string& choice(std::string_view name) const;
  [[nodiscard]] bool is(std::string_view name, std::string_view value) const { return choice(name) == value; }
  /// "key=value,..." of what differs from the fallbacks, in declared order: the canonical text.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Value {
    double number = 0;
    std::string text;
  };
  [[nodiscard]] const Value& find(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
  std::string text_;
};

/// Splits "name:rest" at the first colon; `rest` is empty when there is none.
struct Spec {
  std::string_view name, params;
};
Spec split_spec(std::string_view text);
/// The canonical text of a spec: "name" or "name:params".
std::string join_spec(std::string_view name, std::string_view params);

}  // namespace breakeven
