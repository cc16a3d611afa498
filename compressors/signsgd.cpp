// Signs with majority vote.
#include "compressors/dense.h"
#include "compressors/params.h"
#include "compressors/quantiser.h"
#include "compressors/sign_code.h"
#include "compressors/simd/sign.h"

namespace breakeven {
namespace {

/// The result is the majority's sign times the mean of the workers' scales, or times 1. Where as many workers
/// say plus as minus it is plus, the sign of zero, as in GRACE. A sign has no room for NaN: it votes minus,
/// and shows in the result only through the scale.
class SignKernel final : public Kernel {
 public:
  SignKernel(std::size_t elements, const Worker& worker, SignFormat format, bool feedback, bool scatter)
      : threads_(worker.threads),
        format_(format),
        scatter_(scatter),
        parts_(Parts::of(elements, scatter ? worker.workers : 1)),
        encoder_(parts_, format, feedback),
        own_(parts_.size(scatter ? worker.rank : 0)),
        vote_(own_, parts_.length, format, worker.workers, worker.threads) {
    if (scatter_) {
      voted_ = Buffer<std::byte>((own_ + 7) / 8);
      result_ = Buffer<std::byte>(format.size(parts_.length));
    }
  }

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    if (round == 0) {
      return encoder_.encode(gradient, threads_);
    }
    if (format_.bytes) {
      bits_to_bytes(voted_.data(), {result_.data(), own_});
    } else {
      std::copy_n(voted_.data(), voted_.size(), result_.data());
    }
    format_.set_scale(result_.data(), parts_.length, scale_);
    return result_.bytes(result_.size());
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    if (round == 1) {
      for (std::size_t part = 0; part < parts_.count; ++part) {
        const std::byte* const code = received.data() + part * format_.size(parts_.length);
        decode_signs(code, format_, format_.scale_of(code, parts_.length),
                     mean.subspan(parts_.first(part), parts_.size(part)), threads_);
      }
      return;
    }
    scale_ = vote_.scale(received);
    vote_.each(received, threads_, [&](std::size_t first, std::size_t count, const std::byte* bits) {
      if (scatter_) {
        std::copy_n(bits, (count + 7) / 8, voted_.data() + first / 8);
      } else {
        unpack_signs(bits, scale_, mean.subspan(first, count), mean.size());
      }
    });
  }

 private:
  Threads threads_;
  SignFormat format_;
  bool scatter_;
  Parts parts_;
  SignEncoder encoder_;
  std::size_t own_;  // elements that this worker votes on
  SignVote vote_;
  float scale_ = 1;                   // of the vote
  Buffer<std::byte> voted_, result_;  // of scattered parts: bits, and as they are sent
};

class SignSgd final : public Compressor {
 public:
  explicit SignSgd(const Params& params)
      : bytes_(params.is("pack", "bytes")),
        mean_(params.is("scale", "mean")),
        feedback_(params.is("feedback", "on")),
        scatter_(params.is("exchange", "all_to_all")) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    return scatter_ ? scattered(code(feedback_), code(false), all, workers)
                    : gathered(code(feedback_), all, workers);
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!all_f32(tensors)) {
      return nullptr;
    }
    const SignFormat format{.bytes = bytes_, .scale = mean_, .word = word()};
    return std::make_unique<SignKernel>(elements(tensors), worker, format, feedback_, scatter_);
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return feedback_ ? bytes(tensors) : Bytes{};
  }

 private:
  /// Signs alone are one read. The mean is known after a pass of its own. With feedback the first pass reads
  /// gradient and residual and writes their sum; the residual is written in the pass that knows the scale.
  [[nodiscard]] Quantiser code(bool feedback) const {
    const double first = feedback ? 3 : 1;
    const double second = !mean_ ? 0 : feedback ? 2 : 1;
    return {.bits = bytes_ ? 8.0 : 1.0,
            .word = static_cast<double>(word()),
            .block = 0,
            .constants = mean_ ? 4.0 : 0.0,
            .traffic = first + second,
            .flops = feedback ? 4.0
                     : mean_  ? 2.0
                              : 1.0,
            .launches = mean_ ? 2.0 : 1.0};
  }

  /// 32 signs a word.
  [[nodiscard]] std::size_t word() const { return bytes_ ? 1 : 4; }

  bool bytes_, mean_, feedback_, scatter_;
};

}  // namespace

Scheme signsgd_scheme() {
  return {
      .name = "signsgd",
      .summary = "one sign an element, majority vote",
      .params = {choice_param("pack", {"bits", "bytes"}, "32 signs a word, or a byte a sign as GRACE sends"),
                 choice_param("scale", {"none", "mean"}, "send the mean magnitude too"),
                 choice_param("feedback", {"off", "on"},
                              "keep what is not sent and add it to the next gradient"),
                 choice_param("exchange", {"all_gather", "all_to_all"},
                              "every worker votes on everything, or on its own chunk")},
      .placement = Placement::serial,
      .source = "the reducers of arXiv 2103.00543 (bits), GRACE (bytes)",
      .make = [](const Params& params) { return std::make_unique<SignSgd>(params); }};
}

}  // namespace breakeven
