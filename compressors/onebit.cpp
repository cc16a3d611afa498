// Signs with a scale and error feedback on both sides: the exchange of 1-bit Adam.
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

class OneBit final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    return scattered(kCode, kCode, flat(tensors), workers);
  }

  /// A worker's residual of everything, a server's of its chunk.
  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    return all.bytes() + Bytes::of(std::ceil(all.elements / at_least_one(workers)) * all.width);
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
