// Block-scaled integers of 8 bits.
#include "compressors/block.h"

namespace breakeven {

Scheme int8_scheme() {
  return {.name = "int8",
          .summary = "8-bit integers with a scale for every block, small tensors uncompressed",
          .params = block_params(),
          .placement = Placement::serial,
          .source = "torch_cgx: bucket 512, minimum and step for every bucket, scatter-reduce and all-gather",
          .make = [](const Params& params) { return block_scaled(8, params); }};
}

}  // namespace breakeven
