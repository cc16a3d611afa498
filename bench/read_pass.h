// The yardstick of every kernel: one pass that only reads.
#pragma once

#include <span>

namespace breakeven::bench {

/// The sum of a vector, as fast as the machine reads it.
float read_pass(std::span<const float> data);

}  // namespace breakeven::bench
