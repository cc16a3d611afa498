#include "profiles/import/csv_table.h"

#include <algorithm>
#include <cctype>
#include <functional>

#include "profiles/option_values.h"

namespace breakeven {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// A number, as rows hold them, or what is no word.
bool is_no_name(const std::string& cell) {
  return cell.empty() || std::isalpha(static_cast<unsigned char>(cell.front())) == 0;
}

}  // namespace

CsvTable::CsvTable(std::string_view text, const std::string& where, const std::vector<std::string>& known,
                   std::string example)
    : lines_(text, where), example_(std::move(example)) {
  if (!next_line()) {
    fail("there is no line of column names", example_);
  }
  for (const char between : {',', ';', '\t'}) {
    if (line_.find(between) != std::string_view::npos) {
      between_ = between;
      break;
    }
  }
  std::vector<std::string> names = cells();
  std::transform(names.begin(), names.end(), names.begin(), lower);
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  if (names.front() == "gap_us" && !is_known("gap_us")) {
    fail("is the head of a log for import backward-log or query --backward-log", example_);
  }
  if (std::any_of(names.begin(), names.end(), is_no_name)) {
    fail("is no line of column names", example_);
  }
  std::vector<std::string> unknown = cells();
  std::erase_if(unknown, [&](const std::string& name) { return is_known(lower(name)); });
  if (!unknown.empty()) {
    std::string quoted;
    for (const std::string& name : unknown) {
      quoted += (quoted.empty() ? "" : ", ") + quote(name);
    }
    const auto near = std::find_if(unknown.begin(), unknown.end(),
                                   [&](const std::string& name) { return !nearest(name, known).empty(); });
    fail((unknown.size() == 1 ? "unknown column " : "unknown columns ") + quoted,
         one_of(known, near == unknown.end() ? unknown.front() : *near));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!columns_.emplace(names[i], i).second) {
      fail("the column " + names[i] + " is there twice", "each column once");
    }
  }
}

void CsvTable::need(std::string_view column) const {
  if (!has(column)) {
    fail("the column " + std::string(column) + " is missing", example_);
  }
}

bool CsvTable::next_line() {
  while (lines_.more()) {
    line_ = lines_.next();
    if (const std::string_view text = trimmed(line_); !text.empty() && !text.starts_with('#')) {
      return true;
    }
  }
  return false;
}

bool CsvTable::next() {
  if (!next_line()) {
    return false;
  }
  cells_ = cells();
  if (cells_.size() != columns_.size()) {
    fail("has " + std::to_string(cells_.size()) + (cells_.size() == 1 ? " cell" : " cells"),
         "as many as the head, " + std::to_string(columns_.size()));
  }
  return true;
}

/// In quotes a cell may hold what stands between cells, and a quote by two of them.
std::vector<std::string> CsvTable::cells() const {
  std::vector<std::string> cells;
  std::string_view rest = line_;
  while (true) {
    std::string cell;
    const std::size_t first = rest.find_first_not_of(" \t");
    if (first != std::string_view::npos && rest[first] == '"' &&
        rest.substr(0, first).find(between_) == std::string_view::npos) {
      std::size_t end = first + 1;
      while (end < rest.size() && (rest[end] != '"' || rest.substr(end + 1).starts_with('"'))) {
        cell += rest[end];
        end += rest[end] == '"' ? 2 : 1;
      }
      if (end >= rest.size()) {
        fail("a cell in quotes has no end", "a quote behind it");
      }
      rest.remove_prefix(end + 1);
      const std::size_t end_of_cell = std::min(rest.find(between_), rest.size());
      if (!trimmed(rest.substr(0, end_of_cell)).empty()) {
        fail("text behind a cell in quotes", std::string(1, between_));
      }
      rest.remove_prefix(end_of_cell);
    } else {
      const std::size_t end = std::min(rest.find(between_), rest.size());
      cell = trimmed(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    cells.push_back(std::move(cell));
    if (rest.empty()) {
      return cells;
    }
    rest.remove_prefix(1);
  }
}

const std::string& CsvTable::cell(std::string_view column) const {
  return cells_[columns_.find(column)->second];
}

std::size_t CsvTable::count(std::string_view column) const {
  try {
    return parse_count(cell(column));
  } catch (const Error& error) {
    throw error.inside(place() + ": " + std::string(column), Fault::file);
  }
}

double CsvTable::number(std::string_view column) const {
  try {
    return parse_number(cell(column));
  } catch (const Error& error) {
    throw error.inside(place() + ": " + std::string(column), Fault::file);
  }
}

}  // namespace breakeven
