// Door 1: the schemes that are compiled in.
#pragma once

#include "model/registry.h"

namespace breakeven {

/// Adds every row of schemes.def.
void add_builtin(Registry& registry);

}  // namespace breakeven
