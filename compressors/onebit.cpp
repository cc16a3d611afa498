// Signs with a scale and error feedback on both sides: the exchange of 1-bit Adam.
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

class OneBit final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    return scattered(kCode, kCode, flat(tensors), workers);
  }

  /// A worker's residual of everything, a server's of its chunk; in fp32 whatever the gradient's type.
  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t workers) const override {
    const double all = flat(tensors).elements;
    return Bytes::of((all + std::ceil(all / at_least_one(workers))) * size_of(Element::f32));
  }

 private:
  /// One pass reads gradient and residual and writes their sum, the second reads the sum and writes the
  /// residual.
  static constexpr Quantiser kCode{
      .bits = 1, .word = 1, .block = 0, .constants = 4, .traffic = 5, .flops = 4, .launches = 2};
};

}  // namespace

Scheme onebit_scheme() {
  return {.name = "onebit",
          .summary = "signs and a scale with error feedback on both sides, all-to-all then all-gather",
          .params = {},
          .placement = Placement::serial,
          .source = "DeepSpeed's 1-bit Adam backend",
          .make = [](const Params&) { return std::make_unique<OneBit>(); }};
}

}  // namespace breakeven
