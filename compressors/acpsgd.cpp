// ACP-SGD: PowerSGD that sends one factor a step, P and Q in turn; the plan is the average of the two steps.
#include "compressors/lowrank.h"

namespace breakeven {
namespace {

class AcpSgd final : public Compressor {
 public:
  explicit AcpSgd(const Params& params)
      : rank_(params.number("rank")),
        min_ratio_(params.number("min_ratio")),
        feedback_(params.is("feedback", "on")) {}

  /// One all-reduce: a factor and the uncompressed tensors in one buffer.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    const Split parts = divide(tensors);
    Plan plan;
    add_dense(plan, parts.dense);
    if (parts.coded.empty()) {
      return plan;
    }
    const Flat coded = flat(parts.coded);
    const double width = coded.width;
    const Factors factors = factor(parts.coded, rank_, false);
    // The factor that is not sent this step is orthogonalised, the other one multiplied out.
    Work encode =
        product(factors, width) + coding(width * (factors.gram_p.traffic + factors.gram_q.traffic) / 2,
                                         (factors.gram_p.flops + factors.gram_q.flops) / 2,
                                         (factors.gram_p.launches + factors.gram_q.launches) / 2, 0);
    if (feedback_) {
      // M = gradient + error (two reads, a write); error = M - P Q^T with this worker's own factor (a read, a
      // write).
      encode = encode +
               coding(5 * coded.bytes().base(), factors.flops + 2 * coded.elements, 3 * factors.kernels, 0);
    }
    Work decode = product(factors, width);
    encode.elements = decode.elements = factors.elements;
    const Bytes payload = Bytes::of(width * (factors.p + factors.q) / 2) + bytes(parts.dense);
    return {{encode, Exchange::all_reduce, payload, decode, coded.element}};
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    const Split parts = divide(tensors);
    const Factors factors = factor(parts.coded, rank_, false);
    const double factors_kept = flat(parts.coded).width * (factors.p + factors.q);
    return Bytes::of(factors_kept) + (feedback_ ? bytes(parts.coded) : Bytes{});
  }

 private:
  [[nodiscard]] Split divide(std::span<const Shape> tensors) const {
    return split(tensors, [this](const Shape& shape) { return worth_factoring(shape, rank_, min_ratio_); });
  }

  double rank_, min_ratio_;
  bool feedback_;
};

}  // namespace

Scheme acpsgd_scheme() {
  return {
      .name = "acpsgd",
      .summary = "one low-rank factor a step, P and Q in turn, in one all-reduce",
      .params = {count_param("rank", "4", 1, 65536, "columns of a factor"), min_ratio_param("0"),
                 choice_param("feedback", {"on", "off"}, "keep the error and add it to the next gradient")},
      .placement = Placement::hook,
      .source = "the authors' acpsgd (arXiv 2306.08881)",
      .make = [](const Params& params) { return std::make_unique<AcpSgd>(params); }};
}

}  // namespace breakeven
