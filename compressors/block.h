// Integers with a scale for every block of elements: what int8 and int4 share.
#pragma once

#include "model/compressor.h"

namespace breakeven {

std::vector<Param> block_params();
std::unique_ptr<Compressor> block_scaled(double bits, const Params& params);

}  // namespace breakeven
