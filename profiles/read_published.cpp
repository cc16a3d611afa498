// Reads a file of published cases.
#include <algorithm>
#include <array>
#include <set>

#include "profiles/json_reader.h"
#include "profiles/option_values.h"
#include "profiles/published.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 13> kFigures = {
    "step",          "backward_and_sync", "communication", "payload",    "wire", "throughput", "scaling",
    "workers_worth", "speedup",           "bus_bandwidth", "pays_below", "sign", "ordering"};
constexpr std::array<std::string_view, 4> kKinds = {"exact", "published", "measured", "ordering"};

template <std::size_t N>
std::vector<std::string> texts(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

/// A case's own value, else the source's.
class Fields {
 public:
  Fields(const Json& own, const Json& source) : own_(own), source_(source) {}

  [[nodiscard]] std::optional<Json> find(std::string_view key) const {
    const auto own = own_.find(key);
    return own ? own : source_.find(key);
  }
  [[nodiscard]] Json at(std::string_view key, std::string_view expected) const {
    const auto found = find(key);
    return found ? *found : own_.at(key, expected);  // which throws
  }

 private:
  const Json& own_;
  const Json& source_;
};

void add_options(const Json& object, OptionValues& values) {
  const auto options = object.find("options");
  if (!options) {
    return;
  }
  for (const std::string& key : options->keys()) {
    try {
      check_option_name(key, options->place());
    } catch (const Error& error) {
      throw Error(Fault::file, error.where(), error.wrong(), error.expected());
    }
    values[key] = options->at(key, "").scalar();
  }
}

double above_zero(const Json& json, double value, const char* expected) {
  if (!(value > 0)) {
    json.fail("\"" + json.scalar() + "\" must be above 0", expected);
  }
  return value;
}

double read_expected(const Json& json, Figure figure) {
  switch (figure) {
    case Figure::step:
    case Figure::backward_and_sync:
    case Figure::communication:
      return json.above_zero<Seconds>().base();
    case Figure::payload:
    case Figure::wire:
      return json.above_zero<Bytes>().base();
    case Figure::throughput:
      return json.above_zero<PerSecond>().base();
    case Figure::bus_bandwidth:
    case Figure::pays_below:
      return json.above_zero<BytesPerSecond>().base();
    case Figure::scaling:
      return read_share(json);
    case Figure::sign:
      return read_choice(json, {"loses", "wins"}, "sign") == 1 ? 2 : 0.5;
    default:
      return above_zero(json, json.fraction(), "a factor, such as 1.25");
  }
}

Tolerance read_tolerance(const Json& json, Figure figure) {
  const std::string& text = json.text();
  Tolerance tolerance;
  tolerance.points = text.ends_with("pp");
  if (tolerance.points && figure != Figure::scaling) {
    json.fail("percentage points of what is no share", "a fraction, such as 5%");
  }
  try {
    const std::string number =
        tolerance.points ? text.substr(0, text.find_last_not_of(" p") + 1) + "%" : text;
    tolerance.value = parse_fraction(number);
  } catch (const Error&) {
    json.fail("\"" + text + "\" is no tolerance",
              "a fraction, such as 5%, or percentage points, such as 1 pp");
  }
  if (tolerance.value < 0 || tolerance.value > 1) {
    json.fail("\"" + text + "\" is out of range", "0% to 100%");
  }
  return tolerance;
}

PublishedCase read_case(const Json& json, const Json& root) {
  json.only({"id", "options", "scheme", "quantity", "kind", "expected", "tolerance", "missing"});
  const Fields fields(json, root);
  PublishedCase one;
  one.id = json.at("id", "the case's name").text();
  one.figure = static_cast<Figure>(
      read_choice(fields.at("quantity", one_of(texts(kFigures))), texts(kFigures), "quantity"));
  one.kind =
      static_cast<CaseKind>(read_choice(fields.at("kind", one_of(texts(kKinds))), texts(kKinds), "kind"));
  one.tolerance =
      read_tolerance(fields.at("tolerance", "a fraction, such as 5%, or percentage points"), one.figure);
  one.missing = text_or_empty(json, "missing");
  const Json expected = json.at("expected", "the value that the source states");
  if (one.figure == Figure::ordering) {
    json.only({"id", "quantity", "kind", "expected", "tolerance", "missing"});
    for (const Json& id : expected.list(2)) {
      one.order.push_back(id.text());
      one.text += (one.text.empty() ? "" : " > ") + one.order.back();
    }
    return one;
  }
  add_options(root, one.options);
  add_options(json, one.options);
  const auto scheme = fields.find("scheme");
  one.scheme = scheme ? scheme->text() : "none";
  one.expected = read_expected(expected, one.figure);
  one.text = expected.scalar();
  return one;
}

void read_bound(const Json& json, Published& source) {
  json.only({"within", "largest"});
  if (const auto within = json.find("within")) {
    source.least_within = read_share(*within);
  }
  if (const auto largest = json.find("largest")) {
    source.largest_error = above_zero(*largest, largest->fraction(), "a fraction, such as 5%");
  }
  if (!source.least_within && !source.largest_error) {
    json.fail("holds nothing", "\"within\", a share of the cases, or \"largest\", an error");
  }
}

/// An ordering names numbers of its own source.
void check_orders(const std::vector<Json>& rows, const std::vector<PublishedCase>& cases) {
  std::vector<std::string> numbers;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!ids.insert(cases[i].id).second) {
      rows[i].at("id", "").fail("\"" + cases[i].id + "\" is there twice", "a name of its own");
    }
    if (cases[i].order.empty()) {
      numbers.push_back(cases[i].id);
    }
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t k = 0; k < cases[i].order.size(); ++k) {
      read_choice(rows[i].at("expected", "").list()[k], numbers, "case");
    }
  }
}

}  // namespace

std::string_view name(Figure figure) {
  return kFigures.at(static_cast<std::size_t>(figure));
}

std::string_view name(CaseKind kind) {
  return kKinds.at(static_cast<std::size_t>(kind));
}

std::string to_string(const Tolerance& tolerance) {
  return significant(tolerance.value * 100) + (tolerance.points ? " pp" : " %");
}

Published read_published(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "bound", "options", "scheme", "quantity", "kind",
             "tolerance", "cases", "left_out"});
  check_schema(root);
  Published source;
  source.name = root.at("name", "the source's name").text();
  source.summary = text_or_empty(root, "summary");
  source.source = root.at("source", "the citation").text();
  read_bound(root.at("bound", "what must hold: {\"within\": SHARE, \"largest\": ERROR}"), source);
  const std::vector<Json> rows = root.at("cases", "a list of cases").list(1);
  for (const Json& row : rows) {
    source.cases.push_back(read_case(row, root));
  }
  check_orders(rows, source.cases);
  if (const auto left_out = root.find("left_out")) {
    for (const Json& text : left_out->list(1)) {
      source.left_out.push_back(text.text());
    }
  }
  return source;
}

}  // namespace breakeven
