// Copies that go around the caches.
#pragma once

#include <span>

namespace breakeven {

/// For what is not read again before the caches are full of other things. Any length and alignment.
void stream(std::span<const float> from, float* to);

}  // namespace breakeven
