// Tables that people write by hand or with a script: a line of column names, rows below it, commas,
// semicolons or tabs between cells. Empty lines and lines that begin with # are left out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/units.h"
#include "profiles/import/text_lines.h"

namespace breakeven {

class CsvTable {
 public:
  /// Reads the line of names, each one of `known`, in any order and in letters of either case. `example` is
  /// one, for errors. Throws Error (file).
  CsvTable(std::string_view text, const std::string& where, const std::vector<std::string>& known,
           std::string example);

  [[nodiscard]] bool has(std::string_view column) const { return columns_.contains(column); }
  /// Throws Error (file) where a column is missing.
  void need(std::string_view column) const;
  /// To the next row; false: there is none. Throws Error (file) for another number of cells than names.
  bool next();
  /// Of this row, without spaces around it; of a column that is there.
  [[nodiscard]] const std::string& cell(std::string_view column) const;
  [[nodiscard]] std::size_t count(std::string_view column) const;
  [[nodiscard]] double number(std::string_view column) const;

  [[nodiscard]] std::size_t line() const { return lines_.number(); }
  [[nodiscard]] std::string place() const { return lines_.place(); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const {
    lines_.fail(std::move(wrong), std::move(expected));
  }

 private:
  /// To the next line that is neither empty nor a remark.
  bool next_line();
  [[nodiscard]] std::vector<std::string> cells() const;

  TextLines lines_;
  std::string example_;
  std::string_view line_;
  char between_ = ',';
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string> cells_;
};

}  // namespace breakeven
