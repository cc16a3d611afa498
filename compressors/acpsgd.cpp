// ACP-SGD: PowerSGD that sends one factor a step, P and Q in turn; the plan is the average of the two steps.
#include <algorithm>
#include <utility>

#include "compressors/dense.h"
#include "compressors/lowrank.h"
#include "compressors/simd/vector.h"

namespace breakeven {
namespace {

/// Even steps make Q orthonormal and send P = M Q, odd ones make P orthonormal and send Q = M^T P. The error
/// is what this worker's own factors leave, M - P Q^T; it is computed on the way into the next step's
/// product. A column that vanished starts anew. What is not finite at a worker reaches the mean in its row of
/// its matrix in even steps, in its column in odd ones; with feedback it fills the matrix.
class AcpSgdKernel final : public Kernel {
 public:
  AcpSgdKernel(DensePart dense, std::vector<Matrix> matrices, bool feedback, std::size_t elements,
               const Worker& worker)
      : workers_(worker.workers),
        dense_(std::move(dense)),
        matrices_(std::move(matrices), worker),
        error_(feedback ? elements : 0),
        p_(matrices_.p_size(), dense_.elements()),
        q_(matrices_.q_size(), dense_.elements()) {
    matrices_.draw(Matrices::Side::right, 0, q_.mean.data());
  }

  std::span<const std::byte> encode(std::size_t /*round*/, std::span<const float> gradient) override {
    begun_ = true;
    Factors& sent = even() ? p_ : q_;
    const Matrices::Source source = source_of(gradient);
    if (even()) {
      matrices_.orthonormalise(Matrices::Side::right, step_, q_.mean.data(), q_.basis.data());
      matrices_.multiply(source, q_.basis.data(), p_.own.data());
    } else {
      matrices_.orthonormalise(Matrices::Side::left, step_, p_.mean.data(), p_.basis.data());
      matrices_.multiply_transposed(source, p_.basis.data(), q_.own.data());
    }
    const auto dense = dense_.encode(gradient, matrices_.threads());
    std::copy_n(reinterpret_cast<const float*>(dense.data()), dense_.elements(),
                sent.own.data() + sent.mean.size());
    return sent.own.bytes(sent.own.size());
  }

  void decode(std::size_t /*round*/, std::span<const std::byte> received, std::span<float> mean) override {
    // A call that is repeated out of turn brings the other factor.
    const bool p = even() == (received.size() == (even() ? p_ : q_).own.size() * sizeof(float));
    Factors& sent = p ? p_ : q_;
    const auto* const sum = reinterpret_cast<const float*>(received.data());
    scale({sum, sent.mean.size()}, 1.0F / static_cast<float>(workers_), sent.mean.span());
    matrices_.multiply_out((p ? p_.mean : p_.basis).data(), (p ? q_.basis : q_.mean).data(), mean.data());
    dense_.decode(received.subspan(sent.mean.size() * sizeof(float)), workers_, mean, matrices_.threads());
    step_ += begun_ ? 1 : 0;
    begun_ = false;
  }

 private:
  struct Factors {
    Factors(std::size_t size, std::size_t dense) : own(size + dense), mean(size), basis(size) {}
    Buffer<float> own, mean, basis;  // what is sent; of all workers; orthonormal
  };

  [[nodiscard]] bool even() const { return step_ % 2 == 0; }
  /// The factors of the last step: the one that was sent, the other's basis.
  [[nodiscard]] Matrices::Source source_of(std::span<const float> gradient) {
    if (error_.size() == 0) {
      return {gradient.data()};
    }
    return even() ? Matrices::Source{gradient.data(), error_.data(), p_.basis.data(), q_.own.data()}
                  : Matrices::Source{gradient.data(), error_.data(), p_.own.data(), q_.basis.data()};
  }

  std::size_t workers_, step_ = 0;
  bool begun_ = false;
  DensePart dense_;
  Matrices matrices_;
  Buffer<float> error_;  // gradient + error, until the next step
  Factors p_, q_;
};

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

  [[nodiscard]] std::size_t period() const override { return 2; }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!all_f32(tensors)) {
      return nullptr;
    }
    const auto coded = [this](const Shape& shape) { return worth_factoring(shape, rank_, min_ratio_); };
    return std::make_unique<AcpSgdKernel>(
        DensePart(runs_of(tensors, [&](const Shape& shape) { return !coded(shape); })),
        matrices_of(tensors, rank_, coded), feedback_, elements(tensors), worker);
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
