// The arithmetic that a row of nccl-tests carries: algbw is size / time, busbw that times a factor of the
// ranks.
#pragma once

#include <vector>

#include "profiles/import/nccl_rows.h"

namespace breakeven {

/// The half's time in microseconds, whatever the row's unit is. Throws Error (file) where size, time and
/// algbw contradict each other.
double microseconds(const NcclRow& row, const NcclTimes& times);
/// Whether busbw is below algbw: less than the whole passes a worker.
bool less_than_all(const NcclTimes& times);
/// Throws Error (file) for a busbw that no number of ranks makes of this exchange's algbw.
void refuse_impossible(const NcclRow& row, const NcclTimes& times, Exchange exchange);
/// The numbers of ranks that the row allows.
void narrow(RankRange& range, const NcclRow& row, const NcclTimes& times, Exchange exchange);

}  // namespace breakeven
