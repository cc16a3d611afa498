// Casts to a 16-bit type that an all-reduce adds up by itself: what fp16 and bf16 share.
#pragma once

#include "model/compressor.h"

namespace breakeven {

std::unique_ptr<Compressor> cast_to(Element element);

}  // namespace breakeven
