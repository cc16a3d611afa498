// Deep gradient compression: momentum and residual are kept, a threshold is estimated from a sample.
#include "compressors/sparse.h"

namespace breakeven {
namespace {

/// Workers keep different numbers of elements, so they gather their counts first: one 64-bit number each.
constexpr double kCount = 8;

class Dgc final : public Compressor {
 public:
  explicit Dgc(const Params& params)
      : ratio_(params.number("ratio")),
        sample_(params.number("sample")),
        rounds_(params.number("rounds")),
        index_(index_bytes(params)) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    if (all.elements == 0) {
      return {};
    }
    const double k = kept(ratio_, all.elements);
    const double entry = all.width + index_;
    const double repeats = at_least_one(workers);
    Plan plan = gathered_entries({}, k, all.width, index_, scatter(all, k, entry, repeats));
    plan.insert(plan.begin(),
                {encode(all, k, entry), Exchange::all_gather, Bytes::of(kCount), {}, Element::bytes});
    return plan;
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return 2 * bytes(tensors);  // momentum and residual
  }

 private:
  /// Momentum and residual are read with the gradient and written (5 elements); the sample is read and its
  /// top-k taken; each round counts what exceeds the threshold; the last pass gathers; what is sent is
  /// cleared from both.
  [[nodiscard]] Work encode(const Flat& all, double k, double entry) const {
    const double passes = 5 + sample_ + rounds_ + 1;
    const double flops = (3 + 2 * rounds_ + 1) * all.elements;
    return coding(passes * all.bytes().base() + k * (entry + 2 * all.width), flops, 5 + rounds_,
                  all.elements);
  }

  double ratio_, sample_, rounds_, index_;
};

}  // namespace

Scheme dgc_scheme() {
  return {
      .name = "dgc",
      .summary = "deep gradient compression: momentum-corrected top-k by a sampled threshold",
      .params = {share_param("ratio", "1%", "share of the elements that is kept"), index_param(),
                 share_param("sample", "1%", "share of the elements that the threshold is estimated from"),
                 count_param("rounds", "1", 1, 11,
                             "counts against the threshold: the first, and up to 10 corrections")},
      .placement = Placement::serial,
      .source = "GRACE's dgc: counts first, then values and positions",
      .make = [](const Params& params) { return std::make_unique<Dgc>(params); }};
}

}  // namespace breakeven
