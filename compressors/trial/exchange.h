// What a collective does with payloads, without a network: the reference that kernels are tried with.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

using Payload = std::vector<std::byte>;

/// What worker `rank` receives when every worker contributes its payload (all of one length). Sums are taken
/// in rank order and rounded to the round's element type after each addition, as a ring does. Throws
/// std::invalid_argument where the lengths do not allow it.
Payload exchanged(const Round& round, std::span<const Payload> payloads, std::size_t rank);

}  // namespace breakeven
