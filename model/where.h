// Where a scheme pays: break-even values, looked for on the predictions themselves.
#pragma once

#include "model/verdict.h"

namespace breakeven {

/// `before` and `after` are the scenario's forecasts of plain all-reduce and of the candidate, last run on
/// its fabric.
Where where_it_pays(const Scenario& scenario, const Compressor& plain, const Compressor& candidate,
                    Placement natural, const JudgeOptions& options, Forecast& before, Forecast& after);

}  // namespace breakeven
