// Many scenarios: named cases times lists of values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "profiles/options.h"

namespace breakeven {

/// Rows are cases (outermost) x axes in their order x schemes (innermost). A case may set any option and its
/// own schemes; it replaces the base's value, an axis replaces both.
struct Grid {
  struct Case {
    OptionValues values;
    std::vector<std::string> schemes;  ///< empty: the grid's
  };
  struct Axis {
    std::string option;
    std::vector<std::string> values;
  };
  std::string name, summary, source;
  std::string place;  ///< to name in errors about its schemes: a file, or an option
  OptionValues base;
  std::vector<Case> cases;  ///< never empty: one empty case when none is stated
  std::vector<Axis> axes;
  std::vector<std::string> schemes;

  [[nodiscard]] std::size_t rows() const;  ///< throws Error when it overflows
};

/// Throws Error (file): unknown option with the nearest one, wrong types, empty lists.
Grid read_grid(std::string_view json, const std::string& where);

/// "8,16,32" -> its values; "1Gbps..100Gbps*2" -> 1, 2, 4 ... Gbps up to the end; "10..40+10" -> 10, 20,
/// 30, 40. The unit of a range's ends may differ; values are written in the unit of the first. Commas inside
/// a spec ("topk:ratio=1%,index=u32") do not split: a list of specs is split where a name follows the comma.
/// Throws Error (value), at most a million values.
std::vector<std::string> expand_list(std::string_view option, const std::string& text);

}  // namespace breakeven
