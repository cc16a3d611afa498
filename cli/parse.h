// The command line's grammar: what a command takes, and what is said when it is given something else.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

/// Takes the command's name out of `arguments`: the first that is no option and no option's value. Throws
/// Error (value).
const Command& take_command(std::vector<std::string>& arguments);

/// Checks the rest against the command's tables. After --help nothing else is checked. Throws Error (value).
Request parse(const Command& row, std::vector<std::string> arguments);

}  // namespace breakeven::cli
