// k random elements: where all workers share the seed, an all-reduce adds the values without positions.
#include "compressors/sparse.h"

namespace breakeven {
namespace {

class RandomK final : public Compressor {
 public:
  explicit RandomK(const Params& params)
      : ratio_(params.number("ratio")),
        index_(index_bytes(params)),
        shared_(params.is("seed", "shared")),
        feedback_(params.is("feedback", "on")) {}

  /// Encoding draws k positions (written, then read), reads their elements and writes their values.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    if (all.elements == 0) {
      return {};
    }
    const double k = kept(ratio_, all.elements);
    Work encode = coding(k * (2 * index_ + 2 * all.width), k, 2, all.elements);
    if (feedback_) {
      encode = with_feedback(encode, all);
    }
    if (shared_) {
      return {{encode, Exchange::all_reduce, Bytes::of(k * all.width), scatter(all, k, all.width + index_, 1),
               all.element}};
    }
    const Work decode = scatter(all, k, all.width + index_, at_least_one(workers));
    return gathered_entries(encode, k, all.width, index_, decode);
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return feedback_ ? bytes(tensors) : Bytes{};
  }

 private:
  double ratio_, index_;
  bool shared_, feedback_;
};

}  // namespace

Scheme randomk_scheme() {
  return {.name = "randomk",
          .summary = "k elements at random positions that all workers know, all-reduced",
          .params = {share_param("ratio", "1%", "share of the elements that is kept"),
                     choice_param("seed", {"shared", "own"},
                                  "shared: values alone, all-reduced; own: all-gathered with positions"),
                     index_param(), feedback_param()},
          .placement = Placement::serial,
          .source = "GRACE's randomk",
          .make = [](const Params& params) { return std::make_unique<RandomK>(params); }};
}

}  // namespace breakeven
