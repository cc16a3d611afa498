// k random elements: where all workers share the seed, an all-reduce adds the values without positions.
#include <algorithm>

#include "compressors/entries.h"
#include "compressors/random.h"
#include "compressors/simd/draw.h"
#include "compressors/simd/vector.h"
#include "compressors/sparse.h"

namespace breakeven {
namespace {

struct RandomKRules {
  std::size_t elements = 0, kept = 0;
  bool shared = false, feedback = false, wide = false;
};

/// Positions are drawn anew at every step, one of each of k strata (simd/draw.h), from the seed that all
/// workers share, or from each worker's own. Values are sent as they are, as GRACE does, not scaled by n / k:
/// what is not sent is kept for later, or with feedback=off the mean is k / n of the gradient's on average.
class RandomKKernel final : public Kernel {
 public:
  RandomKKernel(RandomKRules rules, const Worker& worker)
      : rules_(rules),
        workers_(worker.workers),
        stream_(random_at(worker.seed, rules.shared ? 0 : worker.rank + 1)),
        threads_(worker.threads),
        encoder_(rules.kept, {.half = false, .wide = rules.wide}),
        decoder_(rules.kept, rules.shared ? 1 : worker.workers,
                 {.half = false, .wide = rules.wide && !rules.shared}, threads_),
        positions_(rules.kept),
        values_(rules.kept),
        residual_(rules.feedback ? rules.elements : 0) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    if (round == 1) {
      return encoder_.positions(positions_.span());
    }
    const Strata strata(rules_.elements, rules_.kept, random_at(stream_, step_++));
    threads_.ranges(rules_.kept, kGrain, [&](std::size_t begin, std::size_t end) {
      strata.draw(begin, end, positions_.data() + begin);
      if (!rules_.feedback) {
        gather(gradient.data(), positions_.data() + begin, end - begin, values_.data() + begin);
      }
    });
    if (rules_.feedback) {
      threads_.ranges(rules_.elements, kGrain,
                      [&](std::size_t begin, std::size_t end) { take(gradient, begin, end); });
    }
    return encoder_.values(values_.span());
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    if (round == 0) {
      decoder_.take_values(received);
    }
    if (rules_.shared) {
      decoder_.add_positions(std::as_bytes(positions_.span()), {}, workers_, mean);
    } else if (round == 1) {
      decoder_.add_positions(received, {}, workers_, mean);
    }
  }

 private:
  static constexpr std::size_t kGrain = 16384;

  /// Adds a range of the gradient to the residual and takes the drawn ones out, while they are in the cache.
  void take(std::span<const float> gradient, std::size_t begin, std::size_t end) {
    const std::span<const std::uint32_t> all = positions_.span();
    auto next = static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), begin) - all.begin());
    for (; begin < end; begin += kGrain) {
      const std::size_t stop = std::min(end, begin + kGrain);
      add(gradient.subspan(begin, stop - begin), residual_.span().subspan(begin, stop - begin));
      for (; next < all.size() && all[next] < stop; ++next) {
        values_[next] = residual_[all[next]];
        residual_[all[next]] = 0;
      }
    }
  }

  RandomKRules rules_;
  std::size_t workers_;
  std::uint64_t stream_, step_ = 0;
  Threads threads_;
  EntryEncoder encoder_;
  EntryDecoder decoder_;
  Buffer<std::uint32_t> positions_;
  Buffer<float> values_, residual_;
};

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

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!codable(tensors)) {
      return nullptr;
    }
    const std::size_t n = elements(tensors);
    const double k = n == 0 ? 0 : kept(ratio_, static_cast<double>(n));
    return std::make_unique<RandomKKernel>(RandomKRules{.elements = n,
                                                        .kept = static_cast<std::size_t>(k),
                                                        .shared = shared_,
                                                        .feedback = feedback_,
                                                        .wide = index_ == 8},
                                           worker);
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
