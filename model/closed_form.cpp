#include "model/closed_form.h"

#include <algorithm>
#include <numeric>

namespace breakeven {
namespace {

Seconds sum(std::span<const Seconds> times) {
  return std::accumulate(times.begin(), times.end(), Seconds{});
}

}  // namespace

Seconds overlapped(Seconds compute, double gamma, std::span<const Seconds> exchanges, bool inside) {
  const Seconds all = sum(exchanges);
  if (all == Seconds{}) {
    return compute;  // nothing is exchanged, so nothing slows backward
  }
  if (inside) {
    return std::max(compute * gamma, all);
  }
  return std::max(compute * gamma, sum(exchanges.first(exchanges.size() - 1))) + exchanges.back();
}

Seconds serial(Seconds backward, Seconds encode, std::span<const Seconds> exchanges, Seconds decode) {
  return backward + encode + sum(exchanges) + decode;
}

double near_linear_ratio(Seconds backward, std::span<const Seconds> exchanges) {
  if (exchanges.size() < 2 || backward <= Seconds{}) {
    return 1;
  }
  return std::max(1.0, sum(exchanges.first(exchanges.size() - 1)) / backward);
}

}  // namespace breakeven
