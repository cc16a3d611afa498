// PowerSGD: one step of power iteration, both factors all-reduced in turn.
#include "compressors/lowrank.h"

namespace breakeven {
namespace {

class PowerSgd final : public Compressor {
 public:
  explicit PowerSgd(const Params& params)
      : rank_(params.number("rank")),
        min_ratio_(params.number("min_ratio")),
        feedback_(params.is("feedback", "on")),
        warm_start_(params.is("warm_start", "on")),
        skip_vectors_(params.is("vectors", "skip")),
        square_(params.is("batched", "on")),
        batch_shapes_(params.is("batch_shapes", "on")) {
    for (const char* name : {"min_ratio", "vectors", "batch_shapes"}) {
      require_use(params, name, !square_, "batched=off");
    }
  }

  /// The uncompressed tensors, P = M Q, Q = M^T P. The whole codec time lies in encoding P and in the last
  /// decoding.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    const Split parts = divide(tensors);
    Plan plan;
    add_dense(plan, parts.dense);
    if (parts.coded.empty()) {
      return plan;
    }
    const Flat coded = flat(parts.coded);
    const double width = coded.width;
    const Factors factors = factor(parts.coded, rank_, batch_shapes_);
    Work encode = orthogonalise(factors.gram_q, width) + product(factors, width);
    Work decode = product(factors, width);
    if (feedback_) {
      // M = gradient + error, and error = M - P Q^T: each two reads and a write.
      const Work add = coding(3 * coded.bytes().base(), coded.elements, 1, 0);
      encode = encode + add;
      decode = decode + add;
    }
    if (!warm_start_) {
      encode = encode + coding(width * factors.q, factors.q, factors.kernels, 0);  // Q drawn anew
    }
    encode.elements = decode.elements = factors.elements;
    plan.push_back({encode, Exchange::all_reduce, Bytes::of(width * factors.p),
                    orthogonalise(factors.gram_p, width), coded.element});
    plan.push_back(
        {product(factors, width), Exchange::all_reduce, Bytes::of(width * factors.q), decode, coded.element});
    return plan;
  }

  /// PyTorch keeps an error for the whole bucket, uncompressed tensors included.
  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    const Split parts = divide(tensors);
    const Flat coded = flat(parts.coded);
    Bytes state = feedback_ ? (square_ ? coded.bytes() : bytes(tensors)) : Bytes{};
    if (warm_start_) {
      const Factors factors = factor(parts.coded, rank_, batch_shapes_);
      state += Bytes::of(coded.width * (factors.p + factors.q));
    }
    return state;
  }

 private:
  /// batched: everything as one square matrix, padded with zeros.
  [[nodiscard]] Split divide(std::span<const Shape> tensors) const {
    if (square_) {
      const Flat all = flat(tensors);
      const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(all.elements)));
      return side == 0 ? Split{} : Split{{Shape{side, side, all.element}}, {}};
    }
    Split parts =
        split(tensors, [this](const Shape& shape) { return worth_factoring(shape, rank_, min_ratio_); });
    if (skip_vectors_) {
      std::erase_if(parts.dense, [](const Shape& shape) { return shape.is_vector(); });
    }
    return parts;
  }

  double rank_, min_ratio_;
  bool feedback_, warm_start_, skip_vectors_, square_, batch_shapes_;
};

}  // namespace

Scheme powersgd_scheme() {
  return {
      .name = "powersgd",
      .summary = "two low-rank factors, all-reduced one after the other",
      .params = {count_param("rank", "1", 1, 65536, "columns of a factor"), min_ratio_param("2"),
                 choice_param("feedback", {"on", "off"}, "keep the error and add it to the next gradient"),
                 choice_param("warm_start", {"on", "off"}, "start from the last step's factors"),
                 choice_param("vectors", {"send", "skip"},
                              "one-dimensional tensors: sent as they are, or left out of the count"),
                 choice_param("batched", {"off", "on"},
                              "the whole message as one square matrix (batched_powerSGD_hook)"),
                 choice_param("batch_shapes", {"off", "on"},
                              "matrices of one shape in one kernel (batch_tensors_with_same_shape)")},
      .placement = Placement::serial,
      .source = "PyTorch's powerSGD_hook",
      .make = [](const Params& params) { return std::make_unique<PowerSgd>(params); }};
}

}  // namespace breakeven
