// What each collective costs, by algorithm.
#pragma once

#include <optional>

#include "model/fabric.h"

namespace breakeven {

/// One exchange, priced.
struct Transfer {
  Seconds time;
  Algorithm algorithm = Algorithm::ring;  ///< the one that was priced
  Bytes wire;                             ///< what one worker sends
  bool from_table = false, extrapolated = false;
  std::optional<NcclCost> nccl;  ///< what NCCL's model chose
  Seconds one_way;               ///< to or from parameter servers, where pushes and pulls pass each other
};

/// `payload`: what one worker contributes (see Round). An algorithm that has no form of `exchange` falls back
/// to the one every library has (ring; direct for all-to-all; tree for tree steps and broadcasts), and
/// Transfer::algorithm says so. `summed`: what is added up, where that is not the payload. `distance`: of a
/// tree step. `element`: what a reduction adds, which decides whether switches can.
Transfer transfer(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                  Algorithm algorithm = Algorithm::automatic, std::optional<Bytes> summed = {},
                  std::size_t distance = 0, Element element = Element::f32);

/// What one worker contributes to a round, on average where not all do: to a tree step and a broadcast.
Bytes contributed(const Round& round, std::size_t workers);

/// The textbook ring all-reduce over one level: steps*(n-1) latencies + 2(n-1)/n payload/bandwidth. Two steps
/// per worker is what reduce-scatter + all-gather take; some papers print one.
Seconds ring_all_reduce(const Level& level, Bytes payload, std::size_t workers, double steps = 2);

}  // namespace breakeven
