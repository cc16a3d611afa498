// Signs with a scale and error feedback on both sides: the exchange of 1-bit Adam.
#include <vector>

#include "compressors/dense.h"
#include "compressors/quantiser.h"
#include "compressors/sign_code.h"
#include "compressors/simd/sign.h"

namespace breakeven {
namespace {

constexpr SignFormat kFormat{.bytes = false, .scale = true, .word = 1};

/// Scales are mean magnitudes, one for every chunk; DeepSpeed takes root mean squares, one for the whole
/// vector. NaN spreads to its chunk, and stays: error feedback never forgets.
class OneBitKernel final : public Kernel {
 public:
  OneBitKernel(std::size_t elements, const Worker& worker)
      : threads_(worker.threads),
        workers_(worker.workers),
        parts_(Parts::of(elements, worker.workers)),
        own_(parts_.size(worker.rank)),
        encoder_(parts_, kFormat, true),
        server_({own_, parts_.length, 1}, kFormat, true),
        codes_(worker.workers),
        average_(own_) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    return round == 0 ? encoder_.encode(gradient, threads_) : server_.encode(average_.span(), threads_);
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    for (std::size_t i = 0; i < workers_; ++i) {
      const std::byte* const code = received.data() + i * kFormat.size(parts_.length);
      codes_[i] = {code, kFormat.scale_of(code, parts_.length)};
    }
    if (round == 0) {
      threads_.ranges(own_, kGrain, [&](std::size_t begin, std::size_t end) { average(begin, end); });
      return;
    }
    for (std::size_t i = 0; i < workers_; ++i) {
      decode_signs(codes_[i].bits, kFormat, codes_[i].scale, mean.subspan(parts_.first(i), parts_.size(i)),
                   threads_);
    }
  }

 private:
  static constexpr std::size_t kGrain = 16384;

  /// Of begin..end of what was received.
  void average(std::size_t begin, std::size_t end) {
    const float share = 1.0F / static_cast<float>(workers_);
    add_signs(codes_, begin, share, average_.span().subspan(begin, end - begin));
  }

  Threads threads_;
  std::size_t workers_;
  Parts parts_;
  std::size_t own_;  // elements of this worker's chunk
  SignEncoder encoder_, server_;
  std::vector<ScaledSigns> codes_;  // what was received, by rank
  Buffer<float> average_;           // of this worker's chunk
};

class OneBit final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    return scattered(kCode, kCode, flat(tensors), workers);
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    return all_f32(tensors) ? std::make_unique<OneBitKernel>(elements(tensors), worker) : nullptr;
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
