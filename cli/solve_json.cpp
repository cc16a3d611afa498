// The answers of `solve` for programs.
#include "cli/json_writer.h"
#include "cli/scenario_json.h"
#include "cli/solved.h"

namespace breakeven::cli {
namespace {

std::vector<Value> cells_of(const Solved& solved, const SolvedRow& row) {
  const auto optional = [](const std::optional<double>& value) { return value ? Value(*value) : Value(); };
  std::string ranges;
  for (const Range& range : row.solution.ranges) {
    ranges += (ranges.empty() ? "" : ";") + (range.begins ? exact(range.low) : "") + ".." +
              (range.ends ? exact(range.high) : "");
  }
  const bool scaling = row.goal.of == Goal::Of::scaling;
  constexpr std::string_view kQuestions[] = {"explain", "reach", "pay"};
  return {std::string(text_of(solved.unknown).name),
          row.scheme,
          std::string(kQuestions[static_cast<std::size_t>(row.question)]),
          std::string(scaling ? "scaling" : "speedup"),
          row.goal.least,
          optional(value_of(solved.unknown, row)),
          std::string(text_of(solved.unknown).unit),
          ranges,
          row.solution.best,
          optional(row.now),
          optional(row.measured_now),
          optional(row.share),
          words(solved, row)};
}

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {
      "what",   "scheme", "question", "measure",      "target",         "value", "unit",
      "ranges", "best",   "now",      "measured_now", "share_of_given", "answer"};
  return names;
}

void write_ranges(JsonWriter& json, const Solution& solution) {
  json.begin_array(true);
  for (const Range& range : solution.ranges) {
    json.begin_array();
    range.begins ? json.value(range.low) : json.null();
    range.ends ? json.value(range.high) : json.null();
    json.end_array();
  }
  json.end_array();
}

}  // namespace

std::string solved_json(const Solved& solved) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.solve").member("schema_version", 1.0);
  json.key("scenario");
  write_scenario(json, solved.setup);
  json.key("answers").begin_array();
  for (const SolvedRow& row : solved.rows) {
    const std::vector<Value> cells = cells_of(solved, row);
    json.begin_object();
    for (std::size_t c = 0; c < cells.size(); ++c) {
      json.key(columns()[c]);
      if (columns()[c] == "ranges") {
        write_ranges(json, row.solution);
      } else if (const auto* number = std::get_if<double>(&cells[c])) {
        json.value(*number);
      } else if (const auto* text = std::get_if<std::string>(&cells[c])) {
        json.value(*text);
      } else {
        json.null();
      }
    }
    json.end_object();
  }
  return json.end_array().end_object().take();
}

Rows solved_rows(const Solved& solved) {
  Rows rows{columns(), {}};
  for (const SolvedRow& row : solved.rows) {
    rows.rows.push_back(cells_of(solved, row));
  }
  return rows;
}

}  // namespace breakeven::cli
