// The k elements of largest magnitude, all-gathered with their positions.
#include "compressors/sparse.h"

namespace breakeven {
namespace {

class TopK final : public Compressor {
 public:
  explicit TopK(const Params& params)
      : ratio_(params.number("ratio")),
        rounds_(params.number("rounds")),
        index_(index_bytes(params)),
        half_(params.is("value", "f16")),
        per_tensor_(params.is("scope", "tensor")),
        feedback_(params.is("feedback", "on")),
        threshold_(params.is("select", "threshold")) {
    require_use(params, "rounds", threshold_, "select=threshold");
  }

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    if (all.elements == 0) {
      return {};
    }
    double k = 0, selections = 0;
    if (per_tensor_) {
      for (const Shape& shape : tensors) {
        if (shape.elements() > 0) {
          k += kept(ratio_, static_cast<double>(shape.elements()));
          selections += 1;
        }
      }
    } else {
      k = kept(ratio_, all.elements);
      selections = 1;
    }
    const double entry = (half_ ? 2 : all.width) + index_;
    Work encode = select(all, k, entry, selections);
    if (feedback_) {
      encode = with_feedback(encode, all);
    }
    const Work decode = scatter(all, k, entry, at_least_one(workers));
    return gathered_entries(encode, k, entry - index_, index_, decode);
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return feedback_ ? bytes(tensors) : Bytes{};
  }

 private:
  /// Exact: a radix select reads the vector once for each byte of an element, then once to gather what it
  /// found. By threshold (MSTop-k): one pass for the bounds, one count a round of bisection, one to gather.
  [[nodiscard]] Work select(const Flat& all, double k, double entry, double selections) const {
    const double passes = threshold_ ? rounds_ + 2 : all.width + 1;
    return coding(passes * all.bytes().base() + k * entry, 2 * passes * all.elements, passes * selections,
                  all.elements);
  }

  double ratio_, rounds_, index_;
  bool half_, per_tensor_, feedback_, threshold_;
};

}  // namespace

Scheme topk_scheme() {
  return {.name = "topk",
          .summary = "the k largest elements, all-gathered with their positions",
          .params = {share_param("ratio", "1%", "share of the elements that is kept"), index_param(),
                     choice_param("value", {"gradient", "f16"}, "type of the values sent"),
                     choice_param("scope", {"message", "tensor"},
                                  "k of the whole message, or of every tensor by itself"),
                     feedback_param(),
                     choice_param("select", {"sort", "threshold"},
                                  "exact selection, or bisection for a threshold"),
                     count_param("rounds", "20", 1, 1000, "rounds of bisection, with select=threshold")},
          .placement = Placement::serial,
          .source =
              "torch.topk as GRACE and the reducers of arXiv 2103.00543 use it; MSTop-k for select=threshold",
          .make = [](const Params& params) { return std::make_unique<TopK>(params); }};
}

}  // namespace breakeven
