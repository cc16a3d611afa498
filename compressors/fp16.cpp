// All-reduce in fp16: a cast before and after.
#include "compressors/cast.h"

namespace breakeven {

Scheme fp16_scheme() {
  return {.name = "fp16",
          .summary = "cast to fp16, plain all-reduce, cast back",
          .params = {},
          .placement = Placement::hook,
          .source = "PyTorch DDP's fp16_compress_hook",
          .same_steps = true,
          .make = [](const Params&) { return cast_to(Element::f16); }};
}

}  // namespace breakeven
