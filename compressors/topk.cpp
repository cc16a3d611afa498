// The k elements of largest magnitude, all-gathered with their positions.
#include "compressors/entries.h"
#include "compressors/selector.h"
#include "compressors/sparse.h"

namespace breakeven {
namespace {

struct TopKRules {
  EntryFormat format;
  bool feedback = false;
  std::size_t bisections = 0;  // none: exact
};

/// Entries are sent by ascending position. Which elements are largest: compressors/selector.h.
class TopKKernel final : public Kernel {
 public:
  TopKKernel(std::vector<Quota> quotas, TopKRules rules, const Worker& worker)
      : quotas_(std::move(quotas)),
        rules_(rules),
        workers_(worker.workers),
        threads_(worker.threads),
        selector_(quotas_, threads_),
        encoder_(total(quotas_).kept, rules.format),
        decoder_(total(quotas_).kept, worker.workers, rules.format, threads_),
        residual_(rules.feedback ? total(quotas_).elements : 0) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    if (round == 1) {
      return encoder_.positions(selector_.positions());
    }
    selector_.clear();
    std::size_t first = 0;
    for (const Quota& quota : quotas_) {
      const Source source{gradient.subspan(first, quota.elements),
                          rules_.feedback ? residual_.data() + first : nullptr};
      if (rules_.bisections > 0) {
        selector_.add_by_bisection(source, quota.kept, first, rules_.bisections);
      } else {
        selector_.add_largest(source, quota.kept, first);
      }
      first += quota.elements;
    }
    const std::span<const std::byte> payload = encoder_.values(selector_.values());
    if (rules_.feedback) {
      encoder_.clear_sent(selector_.positions(), residual_.data());
    }
    return payload;
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    if (round == 0) {
      decoder_.take_values(received);
    } else {
      decoder_.add_positions(received, {}, workers_, mean);
    }
  }

 private:
  static Quota total(std::span<const Quota> quotas) {
    Quota sum;
    for (const Quota& quota : quotas) {
      sum.kept += quota.kept;
      sum.elements += quota.elements;
    }
    return sum;
  }

  std::vector<Quota> quotas_;
  TopKRules rules_;
  std::size_t workers_;
  Threads threads_;
  Selector selector_;
  EntryEncoder encoder_;
  EntryDecoder decoder_;
  Buffer<float> residual_;
};

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
    for (const Quota& quota : quotas(tensors)) {
      k += static_cast<double>(quota.kept);
      selections += 1;
    }
    const double entry = (half_ ? 2 : all.width) + index_;
    // By threshold (MSTop-k): one pass for the bounds, one count a round of bisection, one to gather.
    Work encode = select(all, threshold_ ? rounds_ + 2 : radix_passes(all), k, entry, selections);
    if (feedback_) {
      encode = with_feedback(encode, all);
    }
    const Work decode = scatter(all, k, entry, at_least_one(workers));
    return gathered_entries(encode, k, entry - index_, index_, decode);
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!codable(tensors)) {
      return nullptr;
    }
    return std::make_unique<TopKKernel>(
        quotas(tensors),
        TopKRules{.format = {.half = half_, .wide = index_ == 8},
                  .feedback = feedback_,
                  .bisections = threshold_ ? static_cast<std::size_t>(rounds_) : 0},
        worker);
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return feedback_ ? bytes(tensors) : Bytes{};
  }

 private:
  /// The vectors of which the largest are taken.
  [[nodiscard]] std::vector<Quota> quotas(std::span<const Shape> tensors) const {
    std::vector<Quota> all;
    const auto add = [&](std::size_t n) {
      if (n > 0) {
        all.push_back({static_cast<std::size_t>(kept(ratio_, static_cast<double>(n))), n});
      }
    };
    if (per_tensor_) {
      for (const Shape& shape : tensors) {
        add(shape.elements());
      }
    } else {
      add(elements(tensors));
    }
    return all;
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
