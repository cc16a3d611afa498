// All-reduce in bf16: a cast before and after.
#include "compressors/cast.h"

namespace breakeven {

Scheme bf16_scheme() {
  return {.name = "bf16",
          .summary = "cast to bf16, plain all-reduce, cast back",
          .params = {},
          .placement = Placement::hook,
          .source = "PyTorch DDP's bf16_compress_hook",
          .same_steps = true,
          .make = [](const Params&) { return cast_to(Element::bf16); }};
}

}  // namespace breakeven
