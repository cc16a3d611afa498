// What else one could use, timed in the same run: the standard library's selection, Eigen's products.
#pragma once

#include <memory>
#include <vector>

#include "bench/group.h"
#include "bench/message.h"

namespace breakeven::bench {

/// One group each.
std::vector<std::function<Group()>> peer_groups(const std::shared_ptr<Message>& message);

}  // namespace breakeven::bench
