// The one table of scenario options: the command line, grids, the man page and shell completion are all made
// from it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

struct Option {
  std::string name;   ///< "workers-per-node", without dashes; also the key in a grid
  std::string value;  ///< what its value is: "N", "BANDWIDTH", "ring|tree|..."
  std::string help;
  std::string group;  ///< heading in help: "workload", "cluster", "method", "verdict"
  /// A change of this option alone leaves messages and plans as they are: a sweep need not prepare again.
  bool network_only = false;
};
const std::vector<Option>& scenario_options();

/// Option name -> text as written. One scheme list is kept apart from it.
using OptionValues = std::map<std::string, std::string, std::less<>>;

}  // namespace breakeven
