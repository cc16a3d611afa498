#include "model/intensity.h"

#include <algorithm>

namespace breakeven {

double flop_per_sample(const Workload& workload) {
  constexpr double kPasses = 3;  // backward is two products where forward is one
  return kPasses * workload.forward_flops();
}

double intensity(const Workload& workload) {
  const std::size_t parameters = workload.elements();
  return parameters == 0 ? 0 : flop_per_sample(workload) / static_cast<double>(parameters);
}

double most_overlap_gains(Seconds forward, Seconds backward, Seconds communication) {
  // The same in other words, which no zero among the three upsets.
  const Seconds hidden = forward + std::max(backward, communication);
  return hidden > Seconds{} ? (forward + backward + communication) / hidden : 1;
}

}  // namespace breakeven
