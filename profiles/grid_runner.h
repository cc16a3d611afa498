// Evaluates the points of a grid: one scenario against its schemes at a time, prepared once for each
// combination of what changes messages or plans, so that the rest of a grid costs microseconds a row.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/registry.h"
#include "profiles/catalogue.h"
#include "profiles/grid.h"
#include "profiles/setup.h"

namespace breakeven {

/// What stays the same for all threads: the grid with its axes parsed.
class GridPlan {
 public:
  /// Checks every value of every axis against the options' rules, and their combinations unless they are very
  /// many. Throws Error.
  GridPlan(const Grid& grid, const Catalogue& catalogue, const Registry& registry);

  struct Axis {
    std::string option;
    std::vector<std::string> texts;
    std::vector<NumericAxis> numeric;  ///< empty: each value needs a new preparation
  };
  /// One scenario of the grid, as indices.
  struct Point {
    std::size_t of_case = 0;
    std::vector<std::size_t> value;  ///< by axis
  };
  [[nodiscard]] std::size_t points() const { return grid_.cases.size() * combinations_; }
  [[nodiscard]] std::size_t rows() const { return grid_.rows(); }
  [[nodiscard]] Point point(std::size_t index) const;
  void next(Point& point) const;
  [[nodiscard]] const std::vector<std::string>& schemes(std::size_t of_case) const;  ///< canonical
  [[nodiscard]] OptionValues values(const Point& point) const;
  /// Options that differ from row to row: set by a case or an axis, in that order.
  [[nodiscard]] const std::vector<std::string>& varying() const { return varying_; }
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }

 private:
  [[nodiscard]] std::vector<Point> samples() const;
  void check(const Point& point, const Catalogue& catalogue, const Registry& registry) const;
  [[nodiscard]] std::string setup_of(const Point& point, const std::string& where) const;

  Grid grid_;
  std::vector<Axis> axes_;
  std::vector<std::string> varying_, schemes_;
  std::vector<std::vector<std::string>> case_schemes_;
  std::size_t combinations_ = 1;
};

/// One scheme of one point.
struct GridRow {
  Seconds step, plain;
  double speedup = 1;
  double scaling = 1;  ///< the step of one worker alone / this step
  Call call = Call::too_close;
};

/// One thread's evaluator.
class GridRunner {
 public:
  GridRunner(const GridPlan& plan, const Catalogue& catalogue, const Registry& registry);
  ~GridRunner();

  /// The rows of one point, scheme by scheme; valid until the next call.
  const std::vector<GridRow>& run(const GridPlan::Point& point);
  /// Index of the scheme that pays most at the last point; none: plain all-reduce.
  [[nodiscard]] std::optional<std::size_t> winner() const { return winner_; }
  /// Warnings that preparing has brought since the last call, each once.
  std::vector<std::string> take_warnings();

 private:
  struct Prepared;
  Prepared& prepare(const GridPlan::Point& point);

  const GridPlan& plan_;
  const Catalogue& catalogue_;
  const Registry& registry_;
  std::unordered_map<std::size_t, std::unique_ptr<Prepared>> prepared_;
  std::vector<GridRow> rows_;
  std::optional<std::size_t> winner_;
  std::vector<std::string> warnings_;
};

}  // namespace breakeven
