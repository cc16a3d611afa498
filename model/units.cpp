#include "model/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "model/error.h"

namespace breakeven {
namespace {

enum class Dimension { bytes, seconds, bandwidth, rate, none };

struct Unit {
  std::string_view text;
  Dimension dimension;
  double base;
  double over = 1;  ///< 9.5 us is 9.5 / 1e6 s: dividing rounds once, multiplying by 1e-6 twice
};

// Case matters: b is a bit, B a byte, m is 1e-3, M is 1e6. k and K both mean 1000; binary multiples carry an
// i.
constexpr double kKi = 1024.0;
constexpr double kMi = kKi * 1024.0;
constexpr double kGi = kMi * 1024.0;
constexpr double kTi = kGi * 1024.0;
constexpr Unit kUnits[] = {
    {"bit", Dimension::bytes, 1.0 / 8},
    {"B", Dimension::bytes, 1},
    {"kB", Dimension::bytes, 1e3},
    {"KB", Dimension::bytes, 1e3},
    {"MB", Dimension::bytes, 1e6},
    {"GB", Dimension::bytes, 1e9},
    {"TB", Dimension::bytes, 1e12},
    {"KiB", Dimension::bytes, kKi},
    {"MiB", Dimension::bytes, kMi},
    {"GiB", Dimension::bytes, kGi},
    {"TiB", Dimension::bytes, kTi},
    {"s", Dimension::seconds, 1},
    {"ms", Dimension::seconds, 1, 1e3},
    {"us", Dimension::seconds, 1, 1e6},
    {"\u00b5s", Dimension::seconds, 1, 1e6},
    {"\u03bcs", Dimension::seconds, 1, 1e6},
    {"ns", Dimension::seconds, 1, 1e9},
    {"bit/s", Dimension::bandwidth, 1.0 / 8},
    {"kbit/s", Dimension::bandwidth, 1e3 / 8},
    {"Mbit/s", Dimension::bandwidth, 1e6 / 8},
    {"Gbit/s", Dimension::bandwidth, 1e9 / 8},
    {"Tbit/s", Dimension::bandwidth, 1e12 / 8},
    {"bps", Dimension::bandwidth, 1.0 / 8},
    {"kbps", Dimension::bandwidth, 1e3 / 8},
    {"Mbps", Dimension::bandwidth, 1e6 / 8},
    {"Gbps", Dimension::bandwidth, 1e9 / 8},
    {"Tbps", Dimension::bandwidth, 1e12 / 8},
    {"B/s", Dimension::bandwidth, 1},
    {"kB/s", Dimension::bandwidth, 1e3},
    {"KB/s", Dimension::bandwidth, 1e3},
    {"MB/s", Dimension::bandwidth, 1e6},
    {"GB/s", Dimension::bandwidth, 1e9},
    {"TB/s", Dimension::bandwidth, 1e12},
    {"KiB/s", Dimension::bandwidth, kKi},
    {"MiB/s", Dimension::bandwidth, kMi},
    {"GiB/s", Dimension::bandwidth, kGi},
    {"TiB/s", Dimension::bandwidth, kTi},
    {"/s", Dimension::rate, 1},
    {"k/s", Dimension::rate, 1e3},
    {"FLOP/s", Dimension::rate, 1},
    {"MFLOP/s", Dimension::rate, 1e6},
    {"GFLOP/s", Dimension::rate, 1e9},
    {"TFLOP/s", Dimension::rate, 1e12},
    {"PFLOP/s", Dimension::rate, 1e15},
};

std::string_view noun(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "a size";
    case Dimension::seconds:
      return "a time";
    case Dimension::bandwidth:
      return "a bandwidth";
    case Dimension::rate:
      return "a rate";
    case Dimension::none:
      break;
  }
  return "a number";
}

std::string_view example(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "a number and a unit, such as 25MiB or 97.5MB";
    case Dimension::seconds:
      return "a number and a unit, such as 122ms or 1.6us";
    case Dimension::bandwidth:
      return "a number and a unit, such as 10Gbit/s or 1.25GB/s";
    case Dimension::rate:
      return "a number and a unit, such as 253/s or 15.7TFLOP/s";
    case Dimension::none:
      break;
  }
  return "a number";
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string result = "\"";
  for (const char c : text.substr(0, kLongest)) {
    result += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return result + (text.size() > kLongest ? "...\"" : "\"");
}

[[noreturn]] void refuse(std::string wrong, std::string_view expected) {
  throw Error(Fault::value, {}, std::move(wrong), std::string(expected));
}

struct Number {
  double value = 0;
  std::string_view rest;
};

/// The number in front of `text`; throws when there is none or a double cannot hold it.
Number leading_number(std::string_view text, Dimension dimension) {
  const std::string_view trimmed = trim(text);
  std::string_view digits = trimmed;
  if (!digits.empty() && digits.front() == '+') {
    digits.remove_prefix(1);
  }
  Number number;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
  if (error == std::errc::result_out_of_range) {
    refuse(quoted(trimmed) + " is beyond what a number can hold", example(dimension));
  }
  if (error != std::errc()) {
    refuse("cannot read " + quoted(trimmed) + " as " + std::string(noun(dimension)), example(dimension));
  }
  if (!std::isfinite(number.value)) {
    refuse(quoted(trimmed) + " is not a finite number", example(dimension));
  }
  number.rest = trim(digits.substr(static_cast<std::size_t>(end - digits.data())));
  return number;
}

double parse_as(std::string_view text, Dimension dimension) {
  const Number number = leading_number(text, dimension);
  const std::string shown = quoted(trim(text));
  if (number.rest.empty()) {
    refuse(shown + " has no unit", example(dimension));
  }
  for (const Unit& unit : kUnits) {
    if (unit.text != number.rest) {
      continue;
    }
    if (unit.dimension != dimension) {
      refuse(shown + " is " + std::string(noun(unit.dimension)) + ", not " + std::string(noun(dimension)),
             example(dimension));
    }
    const double value = number.value * unit.base / unit.over;
    if (!std::isfinite(value)) {
      refuse(shown + " is beyond what a number can hold", example(dimension));
    }
    return value;
  }
  refuse("cannot read " + shown + " as " + std::string(noun(dimension)) + ": unknown unit " +
             quoted(number.rest),
         example(dimension));
}

struct Scale {
  double base;
  std::string_view unit;
};

/// `value` in the largest unit that leaves at least 1 in front of it.
template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales) {
  const double size = std::abs(value);
  const Scale* pick = &scales.back();
  for (const Scale& scale : scales) {
    if (size >= scale.base * 0.9995) {  // 999.6 MB reads better as 1 GB
      pick = &scale;
      break;
    }
  }
  if (value == 0) {
    return "0 " + std::string(scales.back().unit);
  }
  return significant(value / pick->base) + " " + std::string(pick->unit);
}

}  // namespace

template <>
Bytes parse<Bytes>(std::string_view text) {
  return Bytes::of(parse_as(text, Dimension::bytes));
}
template <>
Seconds parse<Seconds>(std::string_view text) {
  return Seconds::of(parse_as(text, Dimension::seconds));
}
template <>
BytesPerSecond parse<BytesPerSecond>(std::string_view text) {
  return BytesPerSecond::of(parse_as(text, Dimension::bandwidth));
}
template <>
PerSecond parse<PerSecond>(std::string_view text) {
  return PerSecond::of(parse_as(text, Dimension::rate));
}

double parse_fraction(std::string_view text) {
  const Number number = leading_number(text, Dimension::none);
  if (number.rest == "%") {
    return number.value / 100;
  }
  if (!number.rest.empty()) {
    refuse("cannot read " + quoted(trim(text)) + " as a fraction", "a number such as 0.01 or 1%");
  }
  return number.value;
}

double parse_number(std::string_view text) {
  const Number number = leading_number(text, Dimension::none);
  if (!number.rest.empty()) {
    refuse("cannot read " + quoted(trim(text)) + " as a number", "a number without a unit");
  }
  return number.value;
}

std::size_t parse_count(std::string_view text) {
  const std::string_view digits = trim(text);
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    refuse(quoted(digits) + " is beyond what a number can hold", "a whole number");
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    refuse("cannot read " + quoted(digits) + " as a whole number", "a whole number, such as 8");
  }
  return value;
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  }
  if (value == 0) {
    return "0";
  }
  // Round to the digits wanted first: the exponent that decides the decimals is the rounded value's.
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*e", digits - 1, value);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-12));
  if (exponent < -6 || exponent > 15) {
    return text.data();
  }
  const int decimals = std::max(0, digits - 1 - exponent);
  std::snprintf(text.data(), text.size(), "%.*f", decimals, rounded);
  std::string result = text.data();
  if (result.find('.') != std::string::npos) {
    result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.') {
      result.pop_back();
    }
  }
  return result;
}

std::string exact(double value) {
  std::array<char, 32> text{};
  // Whole numbers as such: not every reader takes 1e+05 for one.
  constexpr double kMost = 1e15;
  const bool whole = std::abs(value) < kMost && value == std::floor(value);
  const auto [end, error] =
      whole ? std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed)
            : std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? std::string(text.data(), end) : std::string("nan");
}

std::string to_string(Bytes value) {
  // Sizes that were chosen in binary multiples are shown in them.
  for (const auto& [base, unit] : {Scale{kGi, " GiB"}, Scale{kMi, " MiB"}, Scale{kKi, " KiB"}}) {
    const double multiple = value.base() / base;
    if (multiple >= 1 && multiple < 10000 && multiple == std::floor(multiple)) {
      return exact(multiple) + std::string(unit);
    }
  }
  return scaled(value.base(),
                std::array<Scale, 5>{{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}});
}
std::string to_string(Seconds value) {
  return scaled(value.base(), std::array<Scale, 4>{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}});
}
std::string to_string(BytesPerSecond value) {
  return scaled(value.base() * 8,
                std::array<Scale, 5>{
                    {{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}}});
}
std::string to_string(PerSecond value) {
  const double rate = value.base();
  if (std::abs(rate) >= 1e9) {
    return scaled(rate, std::array<Scale, 3>{{{1e15, "PFLOP/s"}, {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}}});
  }
  return significant(rate, 4) + " /s";
}

}  // namespace breakeven
