// Plain all-reduce: the scheme with zero work.
#include "compressors/plan.h"

namespace breakeven {
namespace {

class None final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Plan plan;
    add_dense(plan, tensors);
    return plan;
  }
};

}  // namespace

Scheme none_scheme() {
  return {.name = "none",
          .summary = "plain all-reduce of the gradients as they are",
          .params = {},
          .placement = Placement::serial,
          .source = "PyTorch DistributedDataParallel's default",
          .make = [](const Params&) { return std::make_unique<None>(); }};
}

}  // namespace breakeven
