// Runs groups through Google Benchmark: yardsticks beside every row, all results in one report and one file.
#pragma once

#include <functional>
#include <vector>

#include "bench/group.h"
#include "bench/options.h"
#include "bench/report.h"

namespace breakeven::bench {

/// Made when its turn comes, freed afterwards: what a large message takes is given back before the next.
using GroupMaker = std::function<Group()>;

/// First what is registered already, then the groups. Google Benchmark must have been initialised. False
/// where a row failed or none matched the filter. Throws Error (file) where --benchmark_out cannot be
/// written.
bool run(const Options& options, const std::vector<GroupMaker>& groups, Report& report);

}  // namespace breakeven::bench
