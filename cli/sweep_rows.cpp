#include "cli/sweep_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/json_writer.h"
#include "cli/table.h"
#include "profiles/option_values.h"

namespace breakeven::cli {
namespace {

constexpr std::size_t kNoAxis = static_cast<std::size_t>(-1);
constexpr std::string_view kResults[] = {"scheme",  "step_s",  "plain_step_s", "speedup",
                                         "scaling", "verdict", "winner"};

/// "bandwidth" -> "bandwidth_bytes_per_s": the option with its base unit.
std::string column_name(const std::string& option) {
  std::string name = option;
  std::replace(name.begin(), name.end(), '-', '_');
  const OptionRule* rule = option_rule(option);
  if (rule == nullptr) {
    return name;
  }
  switch (rule->kind) {
    case OptionKind::bytes:
      return name.ends_with("bytes") ? name : name + "_bytes";
    case OptionKind::time:
      return name + "_s";
    case OptionKind::bandwidth:
      return name + "_bytes_per_s";
    case OptionKind::rate:
      return name + "_per_s";
    default:
      return name;
  }
}

bool for_people(Format format) {
  return format == Format::table || format == Format::markdown;
}

/// An input's text as the format writes it: as given for people, in base units for programs.
std::string input_cell(const std::string& option, const std::string& text, Format format) {
  if (for_people(format)) {
    std::string cell;
    for (const char c : text) {  // a row stays a row, whatever a file's name holds
      cell += format == Format::markdown && c == '|'
                  ? "\\|"
                  : std::string(1, static_cast<unsigned char>(c) < ' ' ? '?' : c);
    }
    return cell;
  }
  const OptionRule* rule = option_rule(option);
  const bool json = format == Format::json || format == Format::jsonl;
  if (rule != nullptr && !text.empty()) {
    return exact(option_value(*rule, text));
  }
  return json ? (text.empty() ? "null" : json_quoted(text))
              : csv_line({text}).substr(0, csv_line({text}).size() - 1);
}

std::string scheme_cell(const std::string& spec, Format format) {
  const bool json = format == Format::json || format == Format::jsonl;
  return json ? json_quoted(spec) : for_people(format) ? spec : input_cell("schedule", spec, format);
}

void append_number(std::string& text, double value, Format format) {
  if (for_people(format)) {
    fmt::format_to(std::back_inserter(text), "{:.4g}", value);
  } else {
    fmt::format_to(std::back_inserter(text), "{}", value);
  }
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  rows += other.rows;
  pays += other.pays;
  does_not_pay += other.does_not_pay;
  too_close += other.too_close;
  return *this;
}

RowWriter::RowWriter(const GridPlan& plan, Format format) : format_(format) {
  const Grid& grid = plan.grid();
  for (const GridPlan::Axis& axis : plan.axes()) {
    std::vector<std::string>& cells = axis_cells_.emplace_back();
    for (const std::string& text : axis.texts) {
      cells.push_back(input_cell(axis.option, text, format));
    }
  }
  for (const std::string& option : plan.varying()) {
    Column column{for_people(format) ? option : column_name(option), 0};
    const auto axis = std::find_if(plan.axes().begin(), plan.axes().end(),
                                   [&](const GridPlan::Axis& one) { return one.option == option; });
    axis_of_.push_back(axis == plan.axes().end() ? kNoAxis
                                                 : static_cast<std::size_t>(axis - plan.axes().begin()));
    std::vector<std::string>& cells = case_cells_.emplace_back();
    for (std::size_t c = 0; axis == plan.axes().end() && c < grid.cases.size(); ++c) {
      const auto own = grid.cases[c].values.find(option);
      const auto base = grid.base.find(option);
      const std::string text = own != grid.cases[c].values.end() ? own->second
                               : base != grid.base.end()         ? base->second
                                                                 : std::string();
      cells.push_back(input_cell(option, text, format));
    }
    const auto& all = axis == plan.axes().end() ? cells : axis_cells_[axis_of_.back()];
    for (const std::string& cell : all) {
      column.width = std::max(column.width, cell.size());
    }
    columns_.push_back(std::move(column));
  }
  std::size_t widest = 4;
  for (std::size_t c = 0; c < grid.cases.size(); ++c) {
    std::vector<std::string>& cells = scheme_cells_.emplace_back();
    for (const std::string& spec : plan.schemes(c)) {
      cells.push_back(scheme_cell(spec, format));
      widest = std::max(widest, cells.back().size());
    }
  }
  for (const std::string_view name : kResults) {
    const bool is_scheme = name == "scheme" || name == "winner";
    constexpr std::size_t kNumber = 10;
    constexpr std::size_t kVerdict = 12;
    columns_.push_back({std::string(name), is_scheme ? widest : name == "verdict" ? kVerdict : kNumber});
  }
  for (Column& column : columns_) {
    column.width = std::max(column.width, column.name.size());
  }
}

std::string RowWriter::head() const {
  std::string text;
  switch (format_) {
    case Format::csv:
      for (const Column& column : columns_) {
        text += (text.empty() ? "" : ",") + column.name;
      }
      return text + "\n";
    case Format::json:
      return "{\"schema\": \"breakeven.sweep\", \"schema_version\": 1, \"rows\": [";
    case Format::jsonl:
      return {};
    case Format::table:
    case Format::markdown:
      break;
  }
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    append_cell(text, i, columns_[i].name);
  }
  if (format_ == Format::markdown) {
    text += "|\n";
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      text += "| --- ";
    }
    return text + "|\n";
  }
  return text + "\n";
}

void RowWriter::append_cell(std::string& text, std::size_t column, std::string_view value) const {
  switch (format_) {
    case Format::csv:
      text.append(column == 0 ? "" : ",").append(value);
      break;
    case Format::json:
    case Format::jsonl:
      text.append(column == 0 ? "{\"" : ", \"").append(columns_[column].name).append("\": ").append(value);
      break;
    case Format::markdown:
      text.append("| ").append(value).append(" ");
      break;
    case Format::table:
      text.append(column == 0 ? "" : "  ").append(value);
      if (column + 1 < columns_.size()) {
        text.append(columns_[column].width - std::min(columns_[column].width, value.size()), ' ');
      }
      break;
  }
}

const std::string& RowWriter::input(std::size_t column, const GridPlan::Point& point) const {
  const std::size_t axis = axis_of_[column];
  return axis == kNoAxis ? case_cells_[column][point.of_case] : axis_cells_[axis][point.value[axis]];
}

void RowWriter::append_inputs(std::string& text, const GridPlan::Point& point) const {
  for (std::size_t i = 0; i < axis_of_.size(); ++i) {
    append_cell(text, i, input(i, point));
  }
}

void RowWriter::append(std::string& text, const GridPlan::Point& point, GridRunner& runner, bool first,
                       Tally& tally) const {
  const std::vector<GridRow>& rows = runner.run(point);
  const std::optional<std::size_t> winner = runner.winner();
  const std::vector<std::string>& schemes = scheme_cells_[point.of_case];
  const bool json = format_ == Format::json || format_ == Format::jsonl;
  std::string inputs;
  append_inputs(inputs, point);
  std::string number;
  const auto cell = [&](std::size_t column, double value) {
    number.clear();
    append_number(number, value, format_);
    append_cell(text, column, number);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (format_ == Format::json) {
      text += first && i == 0 ? "\n  " : ",\n  ";
    }
    text += inputs;
    std::size_t column = axis_of_.size();
    append_cell(text, column++, schemes[i]);
    cell(column++, rows[i].step.base());
    cell(column++, rows[i].plain.base());
    cell(column++, rows[i].speedup);
    cell(column++, rows[i].scaling);
    const std::string_view verdict = name(rows[i].call);
    append_cell(text, column++, json ? '"' + std::string(verdict) + '"' : verdict);
    append_cell(text, column++, winner ? std::string_view(schemes[*winner]) : json ? "\"none\"" : "none");
    text += format_ == Format::markdown ? "|\n" : json ? "}" : "\n";
    text += format_ == Format::jsonl ? "\n" : "";
    ++tally.rows;
    ++(rows[i].call == Call::pays        ? tally.pays
       : rows[i].call == Call::too_close ? tally.too_close
                                         : tally.does_not_pay);
  }
}

std::string RowWriter::tail(const Tally& tally) const {
  if (format_ != Format::json) {
    return {};
  }
  return fmt::format(
      "\n], \"summary\": {{\"setups\": {}, \"pays\": {}, \"does_not_pay\": {}, \"too_close\": {}}}}}\n",
      tally.rows, tally.pays, tally.does_not_pay, tally.too_close);
}

}  // namespace breakeven::cli
