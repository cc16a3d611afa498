#include "model/spec.h"

#include <algorithm>
#include <stdexcept>

#include "model/error.h"
#include "model/units.h"

namespace breakeven {
namespace {

double read_number(const Param& param, const std::string& text) {
  switch (param.kind) {
    case Param::Kind::integer:
      return static_cast<double>(parse_count(text));
    case Param::Kind::real:
      return parse_number(text);
    case Param::Kind::fraction:
      return parse_fraction(text);
    case Param::Kind::bytes:
      return parse<Bytes>(text).base();
    case Param::Kind::time:
      return parse<Seconds>(text).base();
    case Param::Kind::choice:
      break;
  }
  return 0;
}

std::string shown(const Param& param, double value) {
  switch (param.kind) {
    case Param::Kind::bytes:
      return to_string(Bytes::of(value));
    case Param::Kind::time:
      return to_string(Seconds::of(value));
    default:
      return exact(value);
  }
}

std::string range(const Param& param) {
  return (param.above_low ? "above " : "") + shown(param, param.low) +
         (param.above_low ? " and at most " : " to ") + shown(param, param.high);
}

/// The text without the spaces that a unit may have: what a spec can hold.
std::string compact(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

}  // namespace

Params::Params(const std::vector<Param>& rows, std::string_view text) {
  std::map<std::string, std::string, std::less<>> given;
  if (text.ends_with(',')) {
    throw Error(Fault::value, {}, "nothing follows the last comma", "key=value");
  }
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size()) {
      throw Error(Fault::value, {}, "cannot read \"" + std::string(item) + "\"", "key=value");
    }
    if (!given.emplace(item.substr(0, equals), compact(item.substr(equals + 1))).second) {
      throw Error(Fault::value, {}, "\"" + std::string(item.substr(0, equals)) + "\" is given twice",
                  "each key once");
    }
  }
  for (const Param& row : rows) {
    const auto found = given.find(row.name);
    const std::string value = found == given.end() ? row.fallback : found->second;
    Value parsed{0, value};
    if (row.kind == Param::Kind::choice) {
      if (std::find(row.choices.begin(), row.choices.end(), value) == row.choices.end()) {
        throw Error(Fault::value, row.name, "unknown value \"" + value + "\"", one_of(row.choices, value));
      }
    } else {
      try {
        parsed.number = read_number(row, value);
      } catch (const Error& error) {
        throw error.inside(row.name, Fault::value);
      }
      const double number = parsed.number;
      if (number < row.low || number > row.high || (row.above_low && number == row.low)) {
        throw Error(Fault::value, row.name, "\"" + value + "\" is out of range", range(row));
      }
    }
    const bool differs = row.kind == Param::Kind::choice ? value != row.fallback
                                                         : parsed.number != read_number(row, row.fallback);
    if (differs) {
      text_ += (text_.empty() ? "" : ",") + row.name + "=" + value;
    }
    values_.emplace(row.name, std::move(parsed));
    if (found != given.end()) {
      given.erase(found);
    }
  }
  if (!given.empty()) {
    std::vector<std::string> known;
    std::transform(rows.begin(), rows.end(), std::back_inserter(known),
                   [](const Param& row) { return row.name; });
    const std::string& key = given.begin()->first;
    throw Error(Fault::value, {}, "unknown parameter \"" + key + "\"",
                known.empty() ? "no parameters" : one_of(known, key));
  }
}

double Params::number(std::string_view name) const {
  return find(name).number;
}
std::size_t Params::count(std::string_view name) const {
  return static_cast<std::size_t>(number(name));
}
const std::string& Params::choice(std::string_view name) const {
  return find(name).text;
}

const Params::Value& Params::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw std::out_of_range("parameter " + std::string(name) + " was not declared");
  }
  return found->second;
}

Spec split_spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon == std::string_view::npos ? Spec{text, {}}
                                         : Spec{text.substr(0, colon), text.substr(colon + 1)};
}

std::string join_spec(std::string_view name, std::string_view params) {
  return params.empty() ? std::string(name) : std::string(name) + ":" + std::string(params);
}

}  // namespace breakeven
