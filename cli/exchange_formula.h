// The formula of one exchange with its numbers put in.
#pragma once

#include <string>

#include "model/collectives.h"

namespace breakeven::cli {

/// What an exchange costs in latencies of each level and in passes of its payload over each level's links.
/// Found by asking transfer() on levels with one cost at a time, so that it cannot differ from what the
/// prediction used.
struct ExchangeTerms {
  double latencies_inside = 0, latencies_across = 0;
  double passes_inside = 0, passes_across = 0;
  bool overlap = false;  ///< the slower level's transfer counts; else both

  [[nodiscard]] Seconds time(const Fabric& fabric, Bytes payload) const;
};
ExchangeTerms terms_of(const Fabric& fabric, Exchange exchange, const Group& group, Algorithm algorithm,
                       std::size_t distance = 0);

/// "126 x 45.2 us + 1.97 x 102 MB / 10 Gbit/s = 166 ms".
std::string exchange_formula(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                             const Transfer& transfer, std::size_t distance = 0);

/// How NCCL's model comes to the latency and the bandwidth of an exchange that it priced, and what the other
/// algorithms and protocols would have taken: three lines, each with `indent` in front.
std::string nccl_derivation(const Fabric& fabric, const Round& round, const Group& group,
                            const std::string& indent);

}  // namespace breakeven::cli
