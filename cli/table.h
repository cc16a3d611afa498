// Rows in the formats a user can ask for.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/colour.h"

namespace breakeven::cli {

/// For people: cells are finished text.
struct Screen {
  struct Cell {
    std::string text;
    Tone tone = Tone::plain;
  };
  struct Column {
    std::string title;
    bool right = false;
  };
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};
/// Columns padded to their widest cell, two spaces apart, nothing behind the last cell of a line.
std::string to_text(const Screen& screen, const Style& style);
std::string to_markdown(const Screen& screen);

/// A share in two digits: "12 %".
std::string rough_percent(double share);

/// For programs: values keep their type; names are the keys of the JSON.
using Value = std::variant<std::monostate, bool, double, std::string>;
struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;
};
/// RFC 4180 but for the line ends, which are '\n' as every tool on Unix writes and reads them; a missing
/// value is empty.
std::string to_csv(const Rows& rows);
/// One object a line.
std::string to_jsonl(const Rows& rows);
/// One line of CSV, for those who write row by row.
std::string csv_line(const std::vector<Value>& row);
std::string csv_header(const std::vector<std::string>& columns);

}  // namespace breakeven::cli
