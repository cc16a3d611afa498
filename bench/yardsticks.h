// A read pass and a copy of the very vector that a group of rows works on.
#pragma once

#include <memory>
#include <vector>

#include "bench/group.h"
#include "bench/message.h"

namespace breakeven::bench {

/// Rows for each of `threads`, of the message's gradient.
std::vector<Row> yardsticks(const std::shared_ptr<Message>& message, const std::string& beside,
                            const std::vector<std::size_t>& threads);

}  // namespace breakeven::bench
