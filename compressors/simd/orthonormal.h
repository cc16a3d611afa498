// Makes the columns of a factor orthogonal and of length one.
#pragma once

#include <cstdint>

#include "compressors/simd/lowrank.h"

namespace breakeven {

/// `to` = an orthonormal basis of what the columns of `from` span, in their order; the two do not overlap.
/// A column that adds nothing to those before it (zero, dependent up to rounding) or is not finite starts
/// anew: at random, by `stream`, orthogonal to those before it. So no finite input gives NaN, and no column
/// that once vanished stays away. The same bits for the same input on the same target.
void orthonormalise(Factor<const float> from, std::uint64_t stream, Factor<float> to);
/// Random numbers, nearly normal.
void fill_random(std::uint64_t stream, Factor<float> to);

}  // namespace breakeven
