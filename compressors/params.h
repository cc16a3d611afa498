// Rows of the parameter tables that several schemes declare alike.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/error.h"
#include "model/spec.h"

namespace breakeven {

/// The first choice is the default.
inline Param choice_param(std::string name, std::vector<std::string> choices, std::string help) {
  Param param;
  param.name = std::move(name);
  param.kind = Param::Kind::choice;
  param.fallback = choices.front();
  param.choices = std::move(choices);
  param.help = std::move(help);
  return param;
}

inline Param count_param(std::string name, std::string fallback, double low, double high, std::string help) {
  Param param;
  param.name = std::move(name);
  param.kind = Param::Kind::integer;
  param.fallback = std::move(fallback);
  param.low = low;
  param.high = high;
  param.help = std::move(help);
  return param;
}

/// Above 0, at most 1.
inline Param share_param(std::string name, std::string fallback, std::string help) {
  Param param;
  param.name = std::move(name);
  param.kind = Param::Kind::fraction;
  param.fallback = std::move(fallback);
  param.high = 1;
  param.above_low = true;
  param.help = std::move(help);
  return param;
}

/// Nothing is ignored silently: `name`, when it differs from its default, is refused unless `used`, which
/// takes `expected`.
inline void require_use(const Params& params, std::string_view name, bool used, std::string expected) {
  const std::string key = std::string(name) + "=";
  const std::string& text = params.text();
  if (!used && (text.starts_with(key) || text.find("," + key) != std::string::npos)) {
    throw Error(Fault::value, std::string(name), "has no effect here", std::move(expected));
  }
}

}  // namespace breakeven
