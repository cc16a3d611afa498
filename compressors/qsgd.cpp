// Stochastic levels of a norm.
#include "compressors/params.h"
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

class Qsgd final : public Compressor {
 public:
  explicit Qsgd(const Params& params) : bits_(params.number("bits")), bucket_(params.number("bucket")) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    const double reads = passes(bucket_, all.elements);
    const Quantiser code{.bits = bits_,
                         .word = 1,
                         .block = bucket_,
                         .constants = 4,
                         .traffic = reads,
                         .flops = 4,
                         .launches = reads};
    return gathered(code, all, workers);
  }

 private:
  double bits_, bucket_;
};

}  // namespace

Scheme qsgd_scheme() {
  return {.name = "qsgd",
          .summary = "stochastic levels of each bucket's norm, unbiased",
          .params = {count_param("bits", "8", 2, 16, "bits of one element, sign included"),
                     count_param("bucket", "128", 0, 1e9,
                                 "elements that share an fp32 norm; 0: one norm a message")},
          .placement = Placement::serial,
          .source = "GRACE's qsgd: int8 levels, a norm for every 128 elements",
          .make = [](const Params& params) { return std::make_unique<Qsgd>(params); }};
}

}  // namespace breakeven
