#include "profiles/import/log_lines.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

/// Without what terminals were told to colour.
std::string without_colour(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      const std::size_t end = line.find_first_of("mK", i);
      if (end == std::string_view::npos) {
        break;
      }
      i = end;
      continue;
    }
    text += line[i];
  }
  return text;
}

/// Behind mpirun's "[1,0]<stdout>:" and flux's "data":".
std::string_view without_label(std::string_view line) {
  for (const std::string_view label : {"<stdout>:", "<stderr>:", "\"data\":\""}) {
    const std::size_t begin = line.find(label);
    if (begin != std::string_view::npos) {
      line.remove_prefix(begin + label.size());
    }
  }
  const std::size_t end = line.find("\"}");  // of an event of flux
  return line.substr(0, end);
}

/// A number, be it one that cannot be used.
bool is_number(std::string_view token) {
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  return error != std::errc::invalid_argument && end == token.data() + token.size();
}

}  // namespace

Tokens words(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r|`>";
  Tokens tokens;
  while (true) {
    const std::size_t begin = line.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) {
      return tokens;
    }
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(kSpaces), line.size());
    tokens.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool is_count(std::string_view token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool has(const Tokens& tokens, std::string_view word) {
  return std::find(tokens.begin(), tokens.end(), word) != tokens.end();
}

std::optional<Printed> read_printed(std::string_view token) {
  Printed number;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number.value);
  if (error != std::errc() || end != token.data() + token.size() || !std::isfinite(number.value)) {
    return std::nullopt;
  }
  const std::size_t exponent = token.find_first_of("eE");
  const std::string_view digits = token.substr(0, exponent);
  const std::size_t point = digits.find('.');
  int last = point == std::string_view::npos ? 0 : -static_cast<int>(digits.size() - point - 1);
  if (exponent != std::string_view::npos) {
    std::string_view power = token.substr(exponent + 1);
    power.remove_prefix(power.starts_with('+') ? 1 : 0);
    int value = 0;
    (void)std::from_chars(power.data(), power.data() + power.size(), value);
    last += value;
  }
  number.rounding = 0.5 * std::pow(10.0, last);
  return number;
}

bool LogLines::next() {
  if (wrapped_.empty()) {
    if (rest_.empty()) {
      return false;
    }
    ++number_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    wrapped_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }
  constexpr std::string_view kEscaped = "\\n";  // ends a line in the texts of JSON
  const std::size_t end = std::min(wrapped_.find(kEscaped), wrapped_.size());
  line_ = without_colour(wrapped_.substr(0, end));
  wrapped_.remove_prefix(std::min(end + kEscaped.size(), wrapped_.size()));
  tokens_ = words(without_label(line_));
  return true;
}

void LogLines::fail(std::string wrong, std::string expected) const {
  throw Error(Fault::file, place(), std::move(wrong), std::move(expected));
}

Tokens LogLines::row() const {
  constexpr std::size_t kMostLabels = 4;
  for (std::size_t i = 0; i < std::min(kMostLabels, tokens_.size()); ++i) {
    if (is_count(tokens_[i]) && (i == 0 || (i + 1 < tokens_.size() && is_number(tokens_[i + 1])))) {
      return {tokens_.begin() + static_cast<std::ptrdiff_t>(i), tokens_.end()};
    }
    if (is_number(tokens_[i])) {
      return {};
    }
  }
  return {};
}

/// Numbers below a header whose first is no size: "2048x 6", "-8 6".
bool LogLines::spoils_size(std::size_t columns) const {
  constexpr std::string_view kDigits = "0123456789";
  if (tokens_.size() < std::max<std::size_t>(columns, 2) || is_count(tokens_[0])) {
    return false;
  }
  const std::size_t sign = tokens_[0].starts_with('-') ? 1 : 0;
  return tokens_[0].find_first_of(kDigits) == sign &&
         std::all_of(tokens_.begin() + 1,
                     tokens_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(columns, 2)),
                     is_number);
}

Tokens LogLines::row(std::size_t columns) const {
  Tokens found = row();
  if (found.empty() && spoils_size(columns)) {
    fail("cannot use " + quote(tokens_[0]) + " as a size", "a whole number of bytes or elements");
  }
  if (!found.empty() && found.size() < columns) {
    fail("the row is cut short: " + std::to_string(found.size()) +
             (found.size() == 1 ? " column" : " columns"),
         "at least " + std::to_string(columns));
  }
  return found;
}

std::size_t LogLines::count(std::string_view token) const {
  try {
    return parse_count(token);
  } catch (const Error& error) {
    throw error.inside(place(), Fault::file);
  }
}

Seconds LogLines::time(std::string_view token, double unit) const {
  constexpr double kLongest = 1e6;  // seconds
  const auto printed = read_printed(token);
  if (!printed || printed->value <= 0) {
    fail("cannot use " + quote(token) + " as a time", "a number above 0");
  }
  const double value = printed->value * unit;
  if (value > kLongest || value < 1e-12) {
    fail("a time of " + significant(value) + " s", "1e-12 to 1e6 s");
  }
  return Seconds::of(value);
}

}  // namespace breakeven
