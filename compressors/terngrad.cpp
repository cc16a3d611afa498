// Three levels, unbiased.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compressors/block_code.h"
#include "compressors/params.h"
#include "compressors/quantiser.h"
#include "compressors/random.h"
#include "compressors/simd/statistics.h"

namespace breakeven {
namespace {

constexpr double kClip = 2.5;  // deviations: GRACE's terngrad
constexpr std::size_t kPiece = 65536;

class TernGradKernel final : public Kernel {
 public:
  TernGradKernel(unsigned bits, std::size_t n, const Worker& worker)
      : threads_(worker.threads),
        stream_(random_at(worker.seed, worker.rank)),
        n_(n),
        all_(n > 0 ? Joined({{0, n}}) : Joined()),
        code_({.bits = bits,
               .zero = 1,
               .block = 0,
               .constants = BlockFormat::Constants::given,
               .rounding = BlockFormat::Rounding::clipped_chance},
              n),
        pieces_((n + kPiece - 1) / kPiece),
        payload_(code_.payloads(1)) {}

  std::span<const std::byte> encode(std::size_t /*round*/, std::span<const float> gradient) override {
    if (n_ > 0) {
      code_.give_step(largest_kept(gradient), payload_.data());
      code_.encode(all_, gradient.data(), random_at(stream_, step_++), payload_.span(), threads_);
    }
    return payload_.bytes(payload_.size());
  }
  void decode(std::size_t /*round*/, std::span<const std::byte> received, std::span<float> mean) override {
    code_.decode_mean(received, all_, mean.data(), threads_);
  }

 private:
  /// The largest magnitude, or where the gradient is clipped. NaN if an element is not finite. As in GRACE a
  /// gradient without deviation is clipped to nothing.
  float largest_kept(std::span<const float> gradient) {
    const float origin = gradient.front();  // squares of differences do not cancel
    threads_.run(pieces_.size(), [&](std::size_t piece) {
      const std::size_t first = piece * kPiece;
      pieces_[piece] = moments(gradient.subspan(first, std::min(kPiece, n_ - first)), origin);
    });
    double sum = 0, squares = 0;
    float largest = 0;
    for (const Moments& piece : pieces_.span()) {
      sum += piece.sum;
      squares += piece.squares;
      largest = std::isnan(piece.largest) || piece.largest > largest ? piece.largest : largest;
    }
    if (!std::isfinite(largest)) {
      return std::numeric_limits<float>::quiet_NaN();
    }
    const auto n = static_cast<double>(n_);
    const double variance = std::max(0.0, squares / n - sum / n * (sum / n));
    const double clip = std::isfinite(squares) ? kClip * std::sqrt(variance) : static_cast<double>(largest);
    return clip < static_cast<double>(largest) ? static_cast<float>(clip) : largest;
  }

  Threads threads_;
  std::uint64_t stream_, step_ = 0;
  std::size_t n_;
  Joined all_;
  BlockCode code_;
  Buffer<Moments> pieces_;
  Buffer<std::byte> payload_;
};

class TernGrad final : public Compressor {
 public:
  explicit TernGrad(const Params& params) : bits_(params.is("pack", "2bit") ? 2 : 8) {}

  /// One pass finds the deviation to clip at and the largest magnitude, the second draws the levels.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Quantiser code{
        .bits = bits_, .word = 1, .block = 0, .constants = 4, .traffic = 2, .flops = 6, .launches = 2};
    return gathered(code, flat(tensors), workers);
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!all_f32(tensors)) {
      return nullptr;
    }
    return std::make_unique<TernGradKernel>(static_cast<unsigned>(bits_), elements(tensors), worker);
  }

 private:
  double bits_;
};

}  // namespace

Scheme terngrad_scheme() {
  return {.name = "terngrad",
          .summary = "stochastic -1, 0, 1 times the largest magnitude, unbiased",
          .params = {choice_param("pack", {"int8", "2bit"}, "a byte an element as GRACE sends, or two bits")},
          .placement = Placement::serial,
          .source = "GRACE's terngrad",
          .make = [](const Params& params) { return std::make_unique<TernGrad>(params); }};
}

}  // namespace breakeven
