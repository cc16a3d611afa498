#include "model/closed_form.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace breakeven {
namespace {

Seconds sum(std::span<const Seconds> times) {
  return std::accumulate(times.begin(), times.end(), Seconds{});
}

}  // namespace

Seconds overlapped(Seconds backward, Seconds codec, double gamma, std::span<const Seconds> exchanges,
                   bool inside) {
  const Seconds all = sum(exchanges);
  if (all == Seconds{}) {
    return backward + codec;  // nothing is exchanged, so nothing slows backward
  }
  const Seconds compute = backward * gamma + codec;
  if (inside) {
    return std::max(compute, all);
  }
  return std::max(compute, sum(exchanges.first(exchanges.size() - 1))) + exchanges.back();
}

Seconds serial(Seconds backward, Seconds encode, std::span<const Seconds> exchanges, Seconds decode) {
  return backward + encode + sum(exchanges) + decode;
}

double near_linear_ratio(Seconds backward, std::span<const Seconds> exchanges,
                         std::span<const Seconds> latencies) {
  if (exchanges.size() < 2 || backward <= Seconds{}) {
    return 1;
  }
  const std::size_t hidden = exchanges.size() - 1;
  const Seconds waiting = sum(latencies.first(hidden));
  const Seconds moving = sum(exchanges.first(hidden)) - waiting;
  if (waiting >= backward) {
    return std::numeric_limits<double>::infinity();
  }
  return std::max(1.0, moving / (backward - waiting));
}

}  // namespace breakeven
