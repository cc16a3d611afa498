// Stochastic levels of a norm.
#include "compressors/block_code.h"
#include "compressors/params.h"
#include "compressors/quantiser.h"
#include "compressors/random.h"

namespace breakeven {
namespace {

class QsgdKernel final : public Kernel {
 public:
  QsgdKernel(const BlockFormat& format, std::size_t n, const Worker& worker)
      : threads_(worker.threads),
        stream_(random_at(worker.seed, worker.rank)),
        all_(n > 0 ? Joined({{0, n}}) : Joined()),
        code_(format, n),
        payload_(code_.payloads(1)) {}

  std::span<const std::byte> encode(std::size_t /*round*/, std::span<const float> gradient) override {
    code_.encode(all_, gradient.data(), random_at(stream_, step_++), payload_.span(), threads_);
    return payload_.bytes(payload_.size());
  }
  void decode(std::size_t /*round*/, std::span<const std::byte> received, std::span<float> mean) override {
    code_.decode_mean(received, all_, mean.data(), threads_);
  }

 private:
  Threads threads_;
  std::uint64_t stream_, step_ = 0;
  Joined all_;
  BlockCode code_;
  Buffer<std::byte> payload_;
};

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

  /// The levels of a norm are 2^(bits-1) - 1 on either side of zero.
  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!all_f32(tensors)) {
      return nullptr;
    }
    BlockFormat format;
    format.bits = static_cast<unsigned>(bits_);
    format.zero = (1U << (format.bits - 1)) - 1;
    format.block = static_cast<std::size_t>(bucket_);
    format.constants = BlockFormat::Constants::norm;
    format.rounding = BlockFormat::Rounding::chance;
    return std::make_unique<QsgdKernel>(format, elements(tensors), worker);
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
