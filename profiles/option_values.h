// Text of a scenario option -> its number, within its limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// What a numeric option holds.
enum class OptionKind { bytes, time, bandwidth, rate, count, fraction, factor };

struct OptionRule {
  std::string_view name;
  OptionKind kind;
  double low, high;        ///< inclusive, in base units
  bool above_low = false;  ///< low itself is refused
};

/// `text` in quotes as one line prints it: no control characters, not longer than a line.
std::string quote(std::string_view text);
/// `value` without an exponent where that stays readable, and without the digits that only rounding put
/// there.
std::string plain(double value);
/// Null for an option that is no number.
const OptionRule* option_rule(std::string_view option);
/// The number that `text` states, in base units. Throws Error (value) with where = "--option".
double option_value(const OptionRule& rule, const std::string& text);
/// The same without the limits, without a place in the error.
double parse_kind(OptionKind kind, std::string_view text);
/// The position of `text` in `choices`. Throws Error (value) with where = "--option".
std::size_t option_choice(std::string_view option, const std::string& text,
                          const std::vector<std::string>& choices);
/// Throws Error (value) unless scenario_options() has it; `where` is the place to name.
void check_option_name(std::string_view option, const std::string& where);

}  // namespace breakeven
