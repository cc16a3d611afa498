// The equations of "On the Utility of Gradient Compression in Distributed Training Systems" (arXiv
// 2103.00543).
#pragma once

#include <span>

#include "model/timeline.h"
#include "model/units.h"

namespace breakeven {

/// T = max(gamma T_backward + T_codec, sum of all exchanges but the last) + the last: what is exchanged while
/// backward runs hides behind it, the last bucket never can. `inside` puts it inside the max, as one reading
/// of the paper has it. `codec`: encode and decode time on backward's resource, which nothing slows; zero in
/// the paper.
Seconds overlapped(Seconds backward, Seconds codec, double gamma, std::span<const Seconds> exchanges,
                   bool inside = false);

/// T = T_backward + T_encode + sum of the rounds' exchanges + T_decode: nothing overlaps.
Seconds serial(Seconds backward, Seconds encode, std::span<const Seconds> exchanges, Seconds decode);

/// The smallest compression ratio at which all exchanges but the last hide behind backward: at least 1;
/// infinite when their latencies alone, which no ratio shrinks, do not.
double near_linear_ratio(Seconds backward, std::span<const Seconds> exchanges,
                         std::span<const Seconds> latencies);

}  // namespace breakeven
