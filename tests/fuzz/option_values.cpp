// "OPTION\nTEXT": any text is a list of values, each a number within the option's limits, or an error.
#include "profiles/option_values.h"

#include <algorithm>

#include "profiles/grid.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

constexpr std::size_t kMostValues = 1'000'000;

/// The number, where the option takes `text`.
std::optional<double> value_of(const OptionRule& rule, const std::string& text) {
  try {
    const double value = option_value(rule, text);
    require(std::isfinite(value), "a value is finite:", text);
    require(value >= rule.low && value <= rule.high && (value > rule.low || !rule.above_low),
            "a value is within its limits:", text);
    return value;
  } catch (const Error& error) {
    require(error.fault() == Fault::value, "a refused value is the value's fault:", error.what());
    require(error.where() == "--" + std::string(rule.name), "a refusal names the option:", error.what());
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = text_of(data, size);
  const std::size_t newline = std::min(input.find('\n'), input.size());
  const std::string option(input.substr(0, newline));
  const std::string text(input.substr(std::min(newline + 1, input.size())));
  const OptionRule* rule = option_rule(option);
  std::vector<std::string> values;
  try {
    values = expand_list(option, text);
  } catch (const Error& error) {
    require(error.fault() == Fault::value, "a refused list is the value's fault:", error.what());
    return 0;
  }
  require(!values.empty() && values.size() <= kMostValues, "a list has one to a million values");
  const bool ranges = text.find("..") != std::string::npos;
  require(ranges || values.size() <= text.size() + 1, "only a range makes values");
  const bool rises = ranges && text.find(',') == std::string::npos;
  constexpr std::size_t kLooks = 256;  // at values, of a long list
  double before = 0;
  for (std::size_t i = 0; i < values.size(); i += 1 + values.size() / kLooks) {
    require(!values[i].empty(), "a value is not empty");
    const auto value = rule == nullptr ? std::nullopt : value_of(*rule, values[i]);
    if (rule != nullptr && rises && value) {
      require(i == 0 || *value > before, "a range rises:", values[i]);
      before = *value;
    }
  }
  return 0;
}
