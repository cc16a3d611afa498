// Block-scaled integers of 4 bits.
#include "compressors/block.h"

namespace breakeven {

Scheme int4_scheme() {
  return {.name = "int4",
          .summary = "4-bit integers with a scale for every block, small tensors uncompressed",
          .params = block_params(),
          .placement = Placement::serial,
          .source = "torch_cgx: bucket 512, minimum and step for every bucket, scatter-reduce and all-gather",
          .make = [](const Params& params) { return block_scaled(4, params); }};
}

}  // namespace breakeven
