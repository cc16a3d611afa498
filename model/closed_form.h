// The equations of "On the Utility of Gradient Compression in Distributed Training Systems" (arXiv
// 2103.00543).
#pragma once

#include <span>

#include "model/timeline.h"
#include "model/units.h"

namespace breakeven {

/// T = max(gamma T_compute, sum of all exchanges but the last) + the last: what is exchanged while backward
/// runs hides behind it, the last bucket never can. `inside` puts it inside the max, as one reading of the
/// paper has it. `compute`: backward, plus codec time where the codec shares its resource.
Seconds overlapped(Seconds compute, double gamma, std::span<const Seconds> exchanges, bool inside = false);

/// T = T_backward + T_encode + sum of the rounds' exchanges + T_decode: nothing overlaps.
Seconds serial(Seconds backward, Seconds encode, std::span<const Seconds> exchanges, Seconds decode);

/// The smallest compression ratio at which all exchanges but the last hide behind backward: at least 1.
double near_linear_ratio(Seconds backward, std::span<const Seconds> exchanges);

}  // namespace breakeven
