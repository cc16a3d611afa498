// The vote on packed signs by itself: what decoding many workers' signs adds to decoding one's.
#pragma once

#include <memory>

#include "bench/group.h"
#include "bench/message.h"

namespace breakeven::bench {

/// Named "majority/8 votes/...".
Group vote_group(const std::shared_ptr<Message>& message);

}  // namespace breakeven::bench
