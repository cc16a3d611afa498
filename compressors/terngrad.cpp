// Three levels, unbiased.
#include "compressors/params.h"
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

class TernGrad final : public Compressor {
 public:
  explicit TernGrad(const Params& params) : bits_(params.is("pack", "2bit") ? 2 : 8) {}

  /// One pass finds the deviation to clip at and the largest magnitude, the second draws the levels.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Quantiser code{
        .bits = bits_, .word = 1, .block = 0, .constants = 4, .traffic = 2, .flops = 6, .launches = 2};
    return gathered(code, flat(tensors), workers);
  }

 private:
  double bits_;
};

}  // namespace

Scheme terngrad_scheme() {
  return {.name = "terngrad",
          .summary = "stochastic -1, 0, 1 times the largest magnitude, unbiased",
          .params = {choice_param("pack", {"int8", "2bit"}, "a byte an element as GRACE sends, or two bits")},
          .placement = Placement::serial,
          .source = "GRACE's terngrad",
          .make = [](const Params& params) { return std::make_unique<TernGrad>(params); }};
}

}  // namespace breakeven
