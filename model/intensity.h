// How much a network computes for what it sends, and what hiding the sending behind it can gain: the measures
// of "Communication Optimization Strategies for Distributed Deep Neural Network Training" (arXiv 2005.13247).
#pragma once

#include "model/units.h"
#include "model/workload.h"

namespace breakeven {

/// FLOP of one sample, forward and backward; a multiply-add is two. Zero: the workload states none.
double flop_per_sample(const Workload& workload);
/// Model intensity I = C / D: FLOP of one sample over the number of parameters. The survey's own C counts
/// instructions, of which a multiply-add is one: about half of this.
double intensity(const Workload& workload);

/// S_max = 1 + 1 / (t_f / min(t_c, t_b) + max(r, 1/r)) with r = t_c / t_b: what hiding all of communication
/// behind backward gains over hiding none.
double most_overlap_gains(Seconds forward, Seconds backward, Seconds communication);

}  // namespace breakeven
