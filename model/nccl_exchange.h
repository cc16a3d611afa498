// An exchange over a fabric, as NCCL's cost model is asked about it. All throw Error for what the fabric does
// not state.
#pragma once

#include <optional>
#include <vector>

#include "model/fabric.h"

namespace breakeven {

/// The pair that NCCL picks; none where it prices no such exchange. `payload`: what one worker contributes.
std::optional<NcclCost> nccl_cost(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                                  Element element);

/// Every algorithm with every protocol, the cheapest first, and how the model comes to that one.
struct NcclAnswer {
  std::vector<NcclCost> costs;
  NcclDerivation how;
};
NcclAnswer nccl_answer(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                       Element element);

}  // namespace breakeven
