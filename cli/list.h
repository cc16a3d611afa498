// What `list` can show.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

/// One fact about a profile or a scheme, for reading.
struct Detail {
  std::string key, value, source;
};

/// Everything that is known about one of `kind`. Throws Error with the nearest name.
std::vector<Detail> details(const Context& context, const std::string& kind, const std::string& name);
/// "ratio=1%" of a parameter and its default.
std::string default_text(const Param& param);

}  // namespace breakeven::cli
