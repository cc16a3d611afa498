// Deep gradient compression: momentum and residual are kept, a threshold is estimated from a sample.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "compressors/entries.h"
#include "compressors/sample.h"
#include "compressors/selector.h"
#include "compressors/simd/draw.h"
#include "compressors/simd/momentum.h"
#include "compressors/sparse.h"

namespace breakeven {
namespace {

/// Workers keep different numbers of elements, so they gather their counts first: one 64-bit number each.
constexpr double kCount = 8;

/// The optimizer's, which momentum correction takes over: 0.9 in the authors' configuration
/// (github.com/synxlin/deep-gradient-compression, configs/__init__.py, configs/dgc/__init__.py).
constexpr float kMomentum = 0.9F;

struct DgcRules {
  std::size_t elements = 0, kept = 0, lines = 0, rounds = 1;
  bool wide = false;
};

/// Velocity u and its sum v are kept: u = momentum u + g, v += u. The elements of v that reach the threshold
/// are sent, the k largest if there are more, and cleared from both (momentum factor masking). k entries are
/// sent always; the count says how many of them are real. An infinity or NaN is sent as it is, and cleared.
class DgcKernel final : public Kernel {
 public:
  DgcKernel(DgcRules rules, const Worker& worker)
      : rules_(rules),
        workers_(worker.workers),
        threads_(worker.threads),
        quota_{rules.kept, rules.elements},
        sample_(rules.lines),
        selector_({&quota_, 1}, threads_),
        encoder_(rules.kept, {.half = false, .wide = rules.wide}),
        decoder_(rules.kept, worker.workers, {.half = false, .wide = rules.wide}, threads_),
        velocity_(rules.elements),
        sum_(rules.elements),
        counts_(worker.workers) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    if (round == 1) {
      return encoder_.values(selector_.values());
    }
    if (round == 2) {
      return encoder_.positions(selector_.positions());
    }
    Source source{gradient, sum_.data(), velocity_.data(), kMomentum};
    if (rules_.rounds > 1) {  // counts want the sum; a sample alone takes what it will be
      threads_.ranges(rules_.elements, kGrain, [&](std::size_t begin, std::size_t end) {
        accumulate_momentum(gradient.subspan(begin, end - begin), kMomentum, velocity_.data() + begin,
                            sum_.data() + begin);
      });
      source = {.gradient = sum_.span()};
    }
    selector_.clear();
    selector_.add_above(source, threshold(source.terms()), rules_.kept, 0);
    count_ = selector_.positions().size();
    clear(velocity_.data(), selector_.positions().data(), count_);
    clear(sum_.data(), selector_.positions().data(), count_);
    selector_.pad(rules_.kept);
    return std::as_bytes(std::span(&count_, 1));
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    if (round == 0) {
      std::memcpy(counts_.data(), received.data(), counts_.size() * sizeof(std::uint64_t));
    } else if (round == 1) {
      decoder_.take_values(received);
    } else {
      decoder_.add_positions(received, counts_.span(), workers_, mean);
    }
  }

 private:
  static constexpr std::size_t kGrain = 16384;

  /// What entries must be above. The correction is GRACE's: by a factor of 1.3 or 0.7 while more than 1.3 k
  /// or fewer than 0.7 k elements reach the threshold. The first or only count is the selection's own.
  std::int32_t threshold(const Terms& terms) {
    sample_.take(terms, rules_.elements, rules_.lines);
    if (sample_.size() == 0) {
      return kBelowAll;
    }
    const double share = static_cast<double>(rules_.kept) / static_cast<double>(rules_.elements);
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(sample_.size()));
    std::int32_t threshold = sample_.kth(std::max<std::size_t>(rank, 1));
    const auto k = static_cast<double>(rules_.kept);
    for (std::size_t round = 1; round < rules_.rounds; ++round) {
      const auto count = static_cast<double>(reach(threshold));
      const auto value = std::bit_cast<float>(threshold);
      if (count > 1.3 * k) {
        threshold = magnitude(value * 1.3F);
      } else if (count < 0.7 * k) {
        threshold = magnitude(value * 0.7F);
      } else {
        break;
      }
    }
    return threshold - 1;
  }

  /// How many elements reach a threshold.
  std::size_t reach(std::int32_t threshold) {
    std::atomic<std::size_t> count = 0;
    threads_.ranges(rules_.elements, kGrain, [&](std::size_t begin, std::size_t end) {
      count += count_above(sum_.data() + begin, end - begin, threshold - 1);
    });
    return count;
  }

  DgcRules rules_;
  std::size_t workers_;
  Threads threads_;
  Quota quota_;
  Sample sample_;
  Selector selector_;
  EntryEncoder encoder_;
  EntryDecoder decoder_;
  Buffer<float> velocity_, sum_;
  std::uint64_t count_ = 0;
  Buffer<std::uint64_t> counts_;
};

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

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!codable(tensors)) {
      return nullptr;
    }
    const auto n = static_cast<double>(elements(tensors));
    const double lines = std::ceil(sample_ * n / static_cast<double>(kLine));
    return std::make_unique<DgcKernel>(
        DgcRules{.elements = elements(tensors),
                 .kept = static_cast<std::size_t>(n == 0 ? 0 : kept(ratio_, n)),
                 .lines = static_cast<std::size_t>(lines),
                 .rounds = static_cast<std::size_t>(rounds_),
                 .wide = index_ == 8},
        worker);
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
