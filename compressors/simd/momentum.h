// Momentum and its sum, as deep gradient compression keeps them.
#pragma once

#include <span>

namespace breakeven {

/// velocity = momentum * velocity + gradient, then sum += velocity. As many elements as `gradient` has.
void accumulate_momentum(std::span<const float> gradient, float momentum, float* velocity, float* sum);

}  // namespace breakeven
