#include "profiles/option_values.h"

#include <algorithm>
#include <iterator>

#include "model/error.h"
#include "model/units.h"
#include "profiles/limits.h"
#include "profiles/options.h"

namespace breakeven {
namespace {

constexpr double kMostBytes = 1e15;
constexpr double kLongest = 1e6;  // seconds
constexpr double kFastest = 1e18;
constexpr double kMostWorkers = 1 << 20;

constexpr OptionRule kRules[] = {
    {"gradient-bytes", OptionKind::bytes, 0, kMostBytes, true},
    {"batch", OptionKind::count, 1, 1e9},
    {"throughput", OptionKind::rate, 0, 1e12, true},
    {"forward", OptionKind::time, 0, kLongest},
    {"backward", OptionKind::time, 0, kLongest, true},
    {"other", OptionKind::time, 0, kLongest},
    {"workers", OptionKind::count, 1, kMostWorkers},
    {"workers-per-node", OptionKind::count, 1, kMostWorkers},
    {"bandwidth", OptionKind::bandwidth, 0, kFastest, true},
    {"latency", OptionKind::time, 0, kLongest},
    {"efficiency", OptionKind::fraction, 0, 1, true},
    {"intra-bandwidth", OptionKind::bandwidth, 0, kFastest, true},
    {"intra-latency", OptionKind::time, 0, kLongest},
    {"message-overhead", OptionKind::time, 0, kLongest},
    {"bucket-copy", OptionKind::bandwidth, 0, kFastest, true},
    {"servers", OptionKind::count, 0, kMostWorkers},
    {"bucket", OptionKind::bytes, 0, kMostBytes, true},
    {"gamma", OptionKind::factor, 1, 10},
    {"gamma-codec", OptionKind::factor, 1, 10},
    {"margin", OptionKind::fraction, 0, 1},
    {"extra-steps", OptionKind::fraction, 0, 100},
    {"elements", OptionKind::count, 1, 1e10},
};

/// A limit as a user would write it.
std::string shown(OptionKind kind, double value) {
  switch (kind) {
    case OptionKind::bytes:
      return to_string(Bytes::of(value));
    case OptionKind::time:
      return exact(value) + " s";
    case OptionKind::bandwidth:
      return exact(value) + " B/s";
    case OptionKind::rate:
      return exact(value) + " /s";
    default:
      return exact(value);
  }
}

std::string_view example(OptionKind kind) {
  constexpr std::string_view examples[] = {"a size, such as 25MiB",         "a time, such as 122ms",
                                           "a bandwidth, such as 10Gbit/s", "a rate, such as 253/s",
                                           "a whole number, such as 8",     "a fraction, such as 0.02 or 2%",
                                           "a factor, such as 1.07"};
  return examples[static_cast<std::size_t>(kind)];
}

/// Bytes of the character of UTF-8 that `text` begins with; 0: it is none, or controls a terminal.
std::size_t character_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    return first < ' ' || first == 0x7f ? 0 : 1;
  }
  const std::size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  const std::string_view rest = text.substr(1, std::max<std::size_t>(size, 1) - 1);
  const bool whole = rest.size() + 1 == size && std::all_of(rest.begin(), rest.end(), [](char c) {
                       return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
                     });
  return whole ? size : 0;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t kLongestText = 60;
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    const std::size_t taken = std::max<std::size_t>(size, 1);
    if (result.size() + taken > kLongestText + 1) {
      return result + "...\"";
    }
    result += size == 0 ? "?" : text.substr(0, size);
    text.remove_prefix(taken);
  }
  return result + "\"";
}

std::string plain(double value) {
  constexpr int kDigits = 15;
  std::string shortest = exact(value);
  if (shortest.size() <= kDigits && shortest.find('e') == std::string::npos) {
    return shortest;
  }
  const std::string text = significant(value, kDigits);
  return text.find('e') == std::string::npos ? text : shortest;
}

const OptionRule* option_rule(std::string_view option) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const OptionRule& rule) { return rule.name == option; });
  return found == std::end(kRules) ? nullptr : found;
}

double parse_kind(OptionKind kind, std::string_view text) {
  switch (kind) {
    case OptionKind::bytes:
      return parse<Bytes>(text).base();
    case OptionKind::time:
      return parse<Seconds>(text).base();
    case OptionKind::bandwidth:
      return parse<BytesPerSecond>(text).base();
    case OptionKind::rate:
      return parse<PerSecond>(text).base();
    case OptionKind::count:
      return static_cast<double>(parse_count(text));
    case OptionKind::fraction:
      return parse_fraction(text);
    case OptionKind::factor:
      break;
  }
  return parse_number(text);
}

double option_value(const OptionRule& rule, const std::string& text) {
  const std::string where = "--" + std::string(rule.name);
  double value = 0;
  try {
    value = parse_kind(rule.kind, text);
  } catch (const Error& error) {
    throw error.inside(where, Fault::value);
  }
  const auto refuse = [&](const std::string& limit) {
    throw Error(Fault::value, where, quote(text) + " must be " + limit, std::string(example(rule.kind)));
  };
  if (rule.above_low && value <= rule.low) {
    refuse("above " + exact(rule.low));
  }
  if (value < rule.low) {
    refuse("at least " + exact(rule.low));
  }
  if (value > rule.high) {
    refuse("at most " + shown(rule.kind, rule.high));
  }
  if (!can_be_stated(value)) {
    refuse((rule.above_low ? "at least " : "0 or at least ") + shown(rule.kind, kLeastStated));
  }
  return value;
}

std::size_t option_choice(std::string_view option, const std::string& text,
                          const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end()) {
    throw Error(Fault::value, "--" + std::string(option), "unknown value " + quote(text),
                one_of(choices, text));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

void check_option_name(std::string_view option, const std::string& where) {
  const auto& options = scenario_options();
  if (std::any_of(options.begin(), options.end(),
                  [&](const Option& known) { return known.name == option; })) {
    return;
  }
  std::vector<std::string> names;
  std::transform(options.begin(), options.end(), std::back_inserter(names),
                 [](const Option& known) { return known.name; });
  const std::string meant = nearest(option, names);
  throw Error(Fault::value, where, "unknown option " + quote(option),
              "an option of query" + (meant.empty() ? "" : " (did you mean " + meant + "?)"));
}

}  // namespace breakeven
