// A text, line by line, with the place of each for errors.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "model/error.h"

namespace breakeven {

class TextLines {
 public:
  TextLines(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {}

  [[nodiscard]] bool more() const { return !rest_.empty(); }
  /// Without its end and the spaces behind it.
  std::string_view next() {
    ++number_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (std::any_of(line.begin(), line.end(), is_control)) {
      fail("holds a control character", "printable text");
    }
    return line.substr(0, line.find_last_not_of(" \t\r") + 1);
  }
  [[nodiscard]] std::size_t number() const { return number_; }
  [[nodiscard]] std::string place() const { return where_ + ": line " + std::to_string(number_); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const {
    throw Error(Fault::file, place(), std::move(wrong), std::move(expected));
  }

 private:
  static bool is_control(char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\r') || c == '\x7f';
  }

  std::string_view rest_;
  std::string where_;
  std::size_t number_ = 0;
};

}  // namespace breakeven
