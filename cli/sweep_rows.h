// A sweep's rows in every format, without holding them: each is written as its point is evaluated.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "profiles/grid_runner.h"

namespace breakeven::cli {

/// What the summary counts.
struct Tally {
  std::size_t rows = 0, pays = 0, does_not_pay = 0, too_close = 0;

  Tally& operator+=(const Tally& other);
};

class RowWriter {
 public:
  RowWriter(const GridPlan& plan, Format format);

  [[nodiscard]] std::string head() const;
  /// Evaluates a point and appends its rows. `first`: no row stands before it.
  void append(std::string& text, const GridPlan::Point& point, GridRunner& runner, bool first,
              Tally& tally) const;
  [[nodiscard]] std::string tail(const Tally& tally) const;

 private:
  struct Column {
    std::string name;
    std::size_t width = 0;  // of the widest value, for tables
  };
  /// The varying inputs of a point, ready to be written.
  void append_inputs(std::string& text, const GridPlan::Point& point) const;
  void append_cell(std::string& text, std::size_t column, std::string_view value) const;
  [[nodiscard]] const std::string& input(std::size_t column, const GridPlan::Point& point) const;

  Format format_;
  std::vector<Column> columns_;                         // the varying inputs, then the results
  std::vector<std::vector<std::string>> axis_cells_;    // by axis and value, written for the format
  std::vector<std::vector<std::string>> case_cells_;    // by varying column and case; empty: an axis has it
  std::vector<std::size_t> axis_of_;                    // by varying column
  std::vector<std::vector<std::string>> scheme_cells_;  // by case and scheme
};

}  // namespace breakeven::cli
