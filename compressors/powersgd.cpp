// PowerSGD: one step of power iteration, both factors all-reduced in turn.
#include <utility>

#include "compressors/dense.h"
#include "compressors/lowrank.h"
#include "compressors/simd/vector.h"

namespace breakeven {
namespace {

/// PyTorch's powerSGD_hook with two liberties. A column of a factor that vanished starts anew: there it stays
/// zero, or becomes NaN. And the error M - P Q^T is not computed in decode but on the way into the next
/// step's first product, so that it costs one pass over memory instead of three; the uncompressed tensors,
/// whose errors sum to zero over the workers, keep none. What is not finite at a worker reaches the mean in
/// its column of its matrix, and with feedback stays in that column.
class PowerSgdKernel final : public Kernel {
 public:
  PowerSgdKernel(DensePart dense, std::vector<Matrix> matrices, bool feedback, bool warm_start,
                 std::size_t elements, const Worker& worker)
      : workers_(worker.workers),
        warm_start_(warm_start),
        dense_(std::move(dense)),
        matrices_(std::move(matrices), worker),
        error_(feedback ? elements : 0),
        p_(matrices_.p_size()),
        p_sent_(matrices_.p_size()),
        q_(matrices_.q_size()),
        q_sent_(matrices_.q_size()),
        q_start_(matrices_.q_size()) {
    matrices_.draw(Matrices::Side::right, 0, q_.data());
  }

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    switch (kind(round)) {
      case Kind::dense:
        return dense_.encode(gradient, matrices_.threads());
      case Kind::p:
        begin();
        matrices_.multiply(source(gradient), q_start_.data(), p_sent_.data());
        return p_sent_.bytes(p_sent_.size());
      case Kind::q:
        break;
    }
    const Matrices::Source now = error_.size() > 0 ? Matrices::Source{error_.data()} : source(gradient);
    matrices_.multiply_transposed(now, p_.data(), q_sent_.data());
    return q_sent_.bytes(q_sent_.size());
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    const auto* const sum = reinterpret_cast<const float*>(received.data());
    switch (kind(round)) {
      case Kind::dense:
        dense_.decode(received, workers_, mean, matrices_.threads());
        break;
      case Kind::p:
        matrices_.orthonormalise(Matrices::Side::left, step_, sum, p_.data());
        break;
      case Kind::q:
        scale({sum, q_.size()}, 1.0F / static_cast<float>(workers_), q_.span());
        matrices_.multiply_out(p_.data(), q_.data(), mean.data());
        step_ += begun_ ? 1 : 0;
        begun_ = false;
        break;
    }
  }

 private:
  enum class Kind { dense, p, q };
  [[nodiscard]] Kind kind(std::size_t round) const {
    const std::size_t skipped = dense_.elements() > 0 ? 0 : 1;
    return static_cast<Kind>(round + skipped);
  }
  [[nodiscard]] Matrices::Source source(std::span<const float> gradient) {
    if (error_.size() == 0) {
      return {gradient.data()};
    }
    return {gradient.data(), error_.data(), p_.data(), q_.data()};
  }
  void begin() {
    begun_ = true;
    if (!warm_start_) {
      matrices_.draw(Matrices::Side::right, step_, q_sent_.data());
    }
    matrices_.orthonormalise(Matrices::Side::right, step_, warm_start_ ? q_.data() : q_sent_.data(),
                             q_start_.data());
  }

  std::size_t workers_, step_ = 0;
  bool warm_start_, begun_ = false;
  DensePart dense_;
  Matrices matrices_;
  Buffer<float> error_;                 // gradient + error, until the next step
  Buffer<float> p_, p_sent_;            // orthonormal; this worker's
  Buffer<float> q_, q_sent_, q_start_;  // the mean; this worker's; orthonormal
};

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
    // The zeros that fill up a batched square are nobody's gradient.
    encode.elements = decode.elements = std::min(factors.elements, flat(tensors).elements);
    plan.push_back({encode, Exchange::all_reduce, Bytes::of(width * factors.p),
                    orthogonalise(factors.gram_p, width), coded.element});
    plan.push_back(
        {product(factors, width), Exchange::all_reduce, Bytes::of(width * factors.q), decode, coded.element});
    return plan;
  }

  /// None for a message of which a part is left out.
  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (skip_vectors_ || !all_f32(tensors)) {
      return nullptr;
    }
    const auto coded = [this](const Shape& shape) { return worth_factoring(shape, rank_, min_ratio_); };
    DensePart dense;
    std::vector<Matrix> matrices;
    if (square_) {
      const std::vector<Shape> square = divide(tensors).coded;
      matrices = matrices_of(square, rank_, [](const Shape&) { return true; });
      for (Matrix& matrix : matrices) {
        matrix.elements = elements(tensors);
      }
    } else {
      dense = DensePart(runs_of(tensors, [&](const Shape& shape) { return !coded(shape); }));
      matrices = matrices_of(tensors, rank_, coded);
    }
    return std::make_unique<PowerSgdKernel>(std::move(dense), std::move(matrices), feedback_, warm_start_,
                                            elements(tensors), worker);
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
      .params =
          {count_param("rank", "1", 1, 65536, "columns of a factor"), min_ratio_param("2"),
           choice_param("feedback", {"on", "off"}, "keep the error and add it to the next gradient"),
           choice_param("warm_start", {"on", "off"}, "start from the last step's factors"),
           choice_param(
               "vectors", {"send", "skip"},
               "one-dimensional tensors: sent as they are, or left out of the count (which no code does)"),
           choice_param("batched", {"off", "on"},
                        "the whole message as one square matrix (batched_powerSGD_hook)"),
           choice_param("batch_shapes", {"off", "on"},
                        "matrices of one shape in one kernel (batch_tensors_with_same_shape)")},
      .placement = Placement::serial,
      .source = "PyTorch's powerSGD_hook",
      .make = [](const Params& params) { return std::make_unique<PowerSgd>(params); }};
}

}  // namespace breakeven
