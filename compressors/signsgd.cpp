// Signs with majority vote.
#include "compressors/params.h"
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

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
            .word = bytes_ ? 1.0 : 4.0,  // 32 signs a word
            .block = 0,
            .constants = mean_ ? 4.0 : 0.0,
            .traffic = first + second,
            .flops = feedback ? 4.0
                     : mean_  ? 2.0
                              : 1.0,
            .launches = mean_ ? 2.0 : 1.0};
  }

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
