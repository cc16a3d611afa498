// Every registered kernel: encode and decode apart, of one and of several payloads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/group.h"
#include "bench/message.h"
#include "model/registry.h"

namespace breakeven::bench {

/// Payloads in the rows that tell what a further one costs: (decode of kGathered - decode of one) / 3.
constexpr std::size_t kGathered = 4;

/// Whether the scheme has code, asked with a small message.
bool has_kernel(const Candidate& candidate);

/// The rows of one scheme and one message, and the yardsticks beside them; no rows where nothing is coded.
/// The kernels are made when they first run, and live as long as the group.
Group kernel_group(const Candidate& candidate, const std::shared_ptr<Message>& message,
                   const std::vector<std::size_t>& threads);

}  // namespace breakeven::bench
