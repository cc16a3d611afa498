// How well a line, several lines and the table itself predict what was measured.
#pragma once

#include <string>
#include <vector>

#include "profiles/import/fit.h"
#include "profiles/import/network.h"

namespace breakeven {

/// By sizes that each description was not made from: a line of words each. Nothing for too few sizes.
std::vector<std::string> quality_of(const Points& measured, Exchange exchange);

}  // namespace breakeven
