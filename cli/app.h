// The command line: arguments in, exit status out.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/environment.h"

namespace breakeven::cli {

enum ExitStatus : int { kAnswered = 0, kFailed = 1, kUsage = 2, kDoesNotPay = 10, kTooClose = 11 };

/// `arguments` without the program's name. Data goes to `out`, words to `err`; an error is one line on `err`
/// and nothing on `out`.
int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        const Environment& environment = {});

}  // namespace breakeven::cli
