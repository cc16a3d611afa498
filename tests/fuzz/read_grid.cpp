// Grids: any text is a grid that can be counted, or an error.
#include <algorithm>

#include "profiles/grid.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

void check_values(const OptionValues& values) {
  const auto& options = scenario_options();
  for (const auto& value : values) {
    const std::string& name = value.first;
    require(std::any_of(options.begin(), options.end(),
                        [&](const Option& option) { return option.name == name; }),
            "an option is known:", name);
    require(!value.second.empty(), "a value is not empty:", name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto grid = read_or_refuse(read_grid, data, size);
  if (!grid) {
    return 0;
  }
  check_values(grid->base);
  require(!grid->cases.empty(), "a grid has a case");
  bool schemes = !grid->schemes.empty();
  for (const Grid::Case& one : grid->cases) {
    check_values(one.values);
    schemes = schemes || !one.schemes.empty();
  }
  for (const Grid::Axis& axis : grid->axes) {
    check_values({{axis.option, "any"}});
    require(!axis.values.empty(), "an axis has values:", axis.option);
  }
  try {
    require((grid->rows() > 0) == schemes, "a grid with schemes has rows, and only that");
  } catch (const Error& error) {
    require(error.fault() == Fault::value, "too many rows are the grid's fault:", error.what());
  }
  return 0;
}
