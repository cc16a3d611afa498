#include "profiles/grid.h"

#include <algorithm>
#include <limits>

#include "model/error.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr const char* kSchemes = "schemes";

void check_option(const Json& object, const std::string& key) {
  try {
    check_option_name(key, object.place());
  } catch (const Error& error) {
    throw Error(Fault::file, error.where(), error.wrong(), error.expected());
  }
}

/// {option: value, ...}; "schemes" is for the caller where it may stand.
OptionValues read_values(const Json& object, bool schemes_allowed) {
  OptionValues values;
  for (const std::string& key : object.keys()) {
    if (schemes_allowed && key == kSchemes) {
      continue;
    }
    check_option(object, key);
    values[key] = object.at(key, "").scalar();
  }
  return values;
}

std::vector<std::string> read_texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& item : list.list(1)) {
    texts.push_back(item.scalar());
  }
  return texts;
}

std::vector<std::string> read_schemes(const Json& object) {
  const auto schemes = object.find(kSchemes);
  return schemes ? read_texts(*schemes) : std::vector<std::string>{};
}

std::vector<Grid::Axis> read_axes(const Json& axes) {
  std::vector<Grid::Axis> result;
  for (const std::string& key : axes.keys()) {
    check_option(axes, key);
    const Json values = axes.at(key, "");
    if (values.is(JsonValue::Kind::list)) {
      result.push_back({key, read_texts(values)});
      continue;
    }
    try {
      result.push_back({key, expand_list(key, values.scalar())});
    } catch (const Error& error) {
      if (error.fault() == Fault::file) {
        throw;  // neither text nor number
      }
      throw Error(Fault::file, values.place(), error.wrong(), error.expected());
    }
  }
  return result;
}

std::size_t times(std::size_t a, std::size_t b) {
  if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) {
    throw Error(Fault::value, "grid", "has more rows than can be counted", "shorter axes");
  }
  return a * b;
}

}  // namespace

std::size_t Grid::rows() const {
  std::size_t per_case = 1;
  for (const Axis& axis : axes) {
    per_case = times(per_case, axis.values.size());
  }
  std::size_t total = 0;
  for (const Case& one : cases) {
    const std::size_t rows = times(per_case, one.schemes.empty() ? schemes.size() : one.schemes.size());
    if (total > std::numeric_limits<std::size_t>::max() - rows) {
      times(std::numeric_limits<std::size_t>::max(), 2);
    }
    total += rows;
  }
  return total;
}

Grid read_grid(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "base", "cases", "axes", kSchemes});
  check_schema(root);
  Grid grid;
  grid.place = where;
  grid.place = where;
  grid.name = text_or_empty(root, "name");
  grid.summary = text_or_empty(root, "summary");
  grid.source = text_or_empty(root, "source");
  if (const auto base = root.find("base")) {
    grid.base = read_values(*base, false);
  }
  if (const auto cases = root.find("cases")) {
    for (const Json& one : cases->list(1)) {
      grid.cases.push_back({read_values(one, true), read_schemes(one)});
    }
  } else {
    grid.cases.emplace_back();
  }
  if (const auto axes = root.find("axes")) {
    grid.axes = read_axes(*axes);
  }
  grid.schemes = read_schemes(root);
  return grid;
}

}  // namespace breakeven
