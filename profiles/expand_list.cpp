// "8,16,32", "1Gbps..100Gbps*2", "10..40+10" -> the values of an axis.
#include <algorithm>
#include <cmath>
#include <optional>

#include "model/error.h"
#include "model/units.h"
#include "profiles/grid.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostValues = 1'000'000;
constexpr double kRoundOff = 1e-9;  // relative: the end counts when a sum of steps misses it by rounding

struct Range {
  std::string_view first, last, step;
  bool factor = false;
};

/// "FIRST..LAST*STEP" or "FIRST..LAST+STEP"; nothing when `text` is no range.
std::optional<Range> split_range(std::string_view text, const std::string& where) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    return std::nullopt;
  }
  Range range;
  range.first = text.substr(0, dots);
  const std::string_view rest = text.substr(dots + 2);
  std::size_t sign = rest.find('*');
  range.factor = sign != std::string_view::npos;
  for (std::size_t i = 1; !range.factor && i < rest.size() && sign == std::string_view::npos; ++i) {
    const bool exponent = rest[i - 1] == 'e' || rest[i - 1] == 'E';
    sign = rest[i] == '+' && !exponent ? i : sign;
  }
  if (sign != std::string_view::npos) {
    range.last = rest.substr(0, sign);
    range.step = rest.substr(sign + 1);
  }
  if (range.first.empty() || range.last.empty() || range.step.empty()) {
    throw Error(Fault::value, where, "cannot read " + quote(text) + " as a range",
                "FIRST..LAST*FACTOR or FIRST..LAST+STEP, such as 1Gbps..100Gbps*2");
  }
  return range;
}

/// What stands behind the number: " Gbit/s", "%" or nothing.
std::string_view unit_of(std::string_view text) {
  const std::size_t end = text.find_last_of("0123456789.");
  return end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
}

void expand_range(const OptionRule& rule, const Range& range, const std::string& text,
                  std::vector<std::string>& values) {
  const std::string where = "--" + std::string(rule.name);
  const auto refuse = [&](const std::string& wrong, const std::string& expected) {
    throw Error(Fault::value, where, quote(text) + " " + wrong, expected);
  };
  const std::string unit(unit_of(range.first));
  double first = 0;
  double last = 0;
  double step = 0;
  try {
    const double one = parse_kind(rule.kind, "1" + unit);
    first = parse_kind(rule.kind, range.first) / one;
    last = parse_kind(rule.kind, range.last) / one;
    step = range.factor ? parse_number(range.step) : parse_kind(rule.kind, range.step) / one;
  } catch (const Error& error) {
    throw error.inside(where, Fault::value);
  }
  if (range.factor && (!(step > 1) || !(first > 0))) {
    refuse("never reaches its end", "a start above 0 and a factor above 1");
  }
  if (!range.factor && !(step > 0)) {
    refuse("never reaches its end", "a step above 0");
  }
  if (last < first) {
    refuse("ends before it starts", "a rising range");
  }
  const double end = last + std::abs(last) * kRoundOff;
  double value = first;
  for (std::size_t i = 1; value <= end; ++i) {
    if (values.size() >= kMostValues) {
      refuse("has more than a million values", "a shorter list");
    }
    if (rule.kind == OptionKind::count && value != std::floor(value)) {
      refuse("gives " + plain(value), "whole numbers");
    }
    values.push_back(plain(value) + unit);
    const double next = range.factor ? value * step : first + static_cast<double>(i) * step;
    if (!(next > value)) {
      refuse("never reaches its end", "a step that a double can add");
    }
    value = next;
  }
}

/// Whether a list is of specs, whose own commas do not split it.
bool holds_specs(std::string_view option) {
  return option == "scheme" || option == "schemes" || option == "schedule";
}

/// "key=value" with no colon in front of it: belongs to the spec before.
bool is_parameter(std::string_view item) {
  const std::size_t equals = item.find('=');
  return equals != std::string_view::npos && item.find(':') > equals;
}

std::vector<std::string> split(std::string_view option, const std::string& text) {
  // A list of codec profiles is one value.
  if (option == "codec") {
    return {text};
  }
  std::vector<std::string> items;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string item = text.substr(begin, end - begin);
    if (holds_specs(option) && !items.empty() && is_parameter(item)) {
      items.back() += "," + item;
    } else {
      items.push_back(std::move(item));
    }
    begin = end + 1;
  }
  return items;
}

}  // namespace

std::vector<std::string> expand_list(std::string_view option, const std::string& text) {
  const std::string where = "--" + std::string(option);
  const OptionRule* rule = option_rule(option);
  std::vector<std::string> values;
  for (std::string& item : split(option, text)) {
    const std::size_t from = item.find_first_not_of(' ');
    if (from == std::string::npos) {
      throw Error(Fault::value, where, "an item of " + quote(text) + " is empty",
                  "values with commas between them");
    }
    item = item.substr(from, item.find_last_not_of(' ') - from + 1);
    const auto range = rule == nullptr ? std::nullopt : split_range(item, where);
    if (range) {
      expand_range(*rule, *range, item, values);
    } else if (values.size() >= kMostValues) {
      throw Error(Fault::value, where, "has more than a million values", "a shorter list");
    } else {
      values.push_back(std::move(item));
    }
  }
  return values;
}

}  // namespace breakeven
