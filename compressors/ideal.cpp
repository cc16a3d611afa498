// A pure ratio: what a scheme could reach that costs nothing and still adds up in an all-reduce.
#include "compressors/params.h"
#include "compressors/plan.h"

namespace breakeven {
namespace {

class Ideal final : public Compressor {
 public:
  explicit Ideal(double ratio) : ratio_(ratio) {}

  /// The wire carries 1/ratio; additions see the whole gradient, as the simulator of arXiv 2006.10103 has it.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Plan plan;
    add_dense(plan, tensors);
    for (Round& round : plan) {
      round.summed = round.payload;
      round.payload = round.payload / ratio_;
    }
    return plan;
  }

 private:
  double ratio_;
};

Param ratio() {
  Param param;
  param.name = "ratio";
  param.kind = Param::Kind::real;
  param.fallback = "10";
  param.low = 1;
  param.high = 1e6;
  param.help = "how many times smaller the payload is";
  return param;
}

}  // namespace

Scheme ideal_scheme() {
  return {.name = "ideal",
          .summary = "a pure ratio, free to encode and decode: what compression could bring at most",
          .params = {ratio()},
          .placement = Placement::hook,
          .source = "the compression of the simulator of arXiv 2006.10103; described only, nobody has it",
          .same_steps = true,
          .make = [](const Params& params) { return std::make_unique<Ideal>(params.number("ratio")); }};
}

}  // namespace breakeven
