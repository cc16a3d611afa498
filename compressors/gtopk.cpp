// gTop-k: workers merge their k entries in pairs, up a binary tree, and keep k of each sum; all get the last.
// Its 2 log2 n messages of k entries beat the n-1 of top-k's all-gather from 8 workers on.
#include <cmath>
#include <cstring>

#include "compressors/entries.h"
#include "compressors/half.h"
#include "compressors/selector.h"
#include "compressors/sparse.h"

namespace breakeven {
namespace {

struct GTopKRules {
  Quota quota;
  EntryFormat format;
  bool feedback = false;
};

/// Entries by ascending position.
struct Entries {
  explicit Entries(std::size_t count) : positions(count), values(count) {}
  Buffer<std::uint32_t> positions;
  Buffer<float> values;
};

std::size_t tree_steps(std::size_t workers) {
  std::size_t steps = 0;
  while (std::size_t{1} << steps < workers) {
    ++steps;
  }
  return steps;
}

/// The sum of two workers' `k` entries each: at least k positions, at most 2k. Returns how many.
std::size_t add(const Entries& a, const Entries& b, std::size_t k, Entries& sum) {
  std::size_t i = 0, j = 0, count = 0;
  for (; i < k && j < k; ++count) {
    const std::uint32_t at_a = a.positions[i], at_b = b.positions[j];
    const float from_a = a.values[i], from_b = b.values[j];
    sum.positions[count] = std::min(at_a, at_b);
    sum.values[count] = at_a == at_b ? from_a + from_b : at_a < at_b ? from_a : from_b;
    i += at_a <= at_b ? 1 : 0;
    j += at_b <= at_a ? 1 : 0;
  }
  const Entries& rest = i < k ? a : b;
  const std::size_t from = i < k ? i : j;
  std::copy_n(rest.positions.data() + from, k - from, sum.positions.data() + count);
  std::copy_n(rest.values.data() + from, k - from, sum.values.data() + count);
  return count + k - from;
}

/// Which elements are largest, and which of equal ones: compressors/selector.h. A worker's entries are k
/// distinct positions, so that no sum has fewer.
class GTopKKernel final : public Kernel {
 public:
  GTopKKernel(const GTopKRules& rules, const Worker& worker)
      : rules_(rules),
        k_(rules.quota.kept),
        steps_(tree_steps(worker.workers)),
        workers_(worker.workers),
        threads_(worker.threads),
        selector_(std::span(&rules_.quota, 1), threads_),
        encoder_(k_, rules.format),
        decoder_(k_, 1, rules.format, threads_),
        held_{Entries(k_), Entries(k_)},
        held_in_(steps_ + 1),
        has_received_(steps_ + 1),
        received_(k_),
        sum_(2 * k_),
        magnitudes_(2 * k_),
        payload_(k_ * (rules.format.position_bytes() + rules.format.value_bytes())),
        residual_(rules.feedback ? rules.quota.elements : 0) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    if (round == 0) {
      select(gradient);
    } else {
      merge(round);
    }
    const Entries& held = held_[held_in_[round]];
    const auto positions = encoder_.positions(held.positions.span());
    const auto values = encoder_.values(held.values.span());
    if (k_ > 0) {
      std::memcpy(payload_.data(), positions.data(), positions.size());
      std::memcpy(payload_.data() + positions.size(), values.data(), values.size());
    }
    return payload_.bytes(payload_.size());
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    const std::size_t behind_positions = k_ * rules_.format.position_bytes();
    if (round < steps_) {
      has_received_[round] = received.empty() ? 0 : 1;
      if (!received.empty()) {
        read_positions(received, rules_.format, received_.positions.span());
        read_values(received.subspan(behind_positions), rules_.format, received_.values.span());
      }
      return;
    }
    decoder_.take_values(received.subspan(behind_positions));
    decoder_.add_positions(received, {}, workers_, mean);
    if (rules_.feedback) {
      read_positions(received, rules_.format, received_.positions.span());
      clear_included();
    }
  }

 private:
  void select(std::span<const float> gradient) {
    selector_.clear();
    selector_.add_largest({gradient, rules_.feedback ? residual_.data() : nullptr}, k_, 0);
    Entries& own = held_[0];
    std::copy_n(selector_.positions().data(), k_, own.positions.data());
    std::copy_n(selector_.values().data(), k_, own.values.data());
    if (rules_.format.half) {  // a worker's part of the sum does not depend on whether it sends or receives
      for (float& value : own.values.span()) {
        value = from_f16(to_f16(value));
      }
    }
    held_in_[0] = 0;
  }

  /// What this worker holds after the tree step before `round`: the k largest of its sum with what it
  /// received, if anything.
  void merge(std::size_t round) {
    const std::uint8_t before = held_in_[round - 1];
    if (has_received_[round - 1] == 0) {
      held_in_[round] = before;
      return;
    }
    Entries& largest = held_[1 - before];
    const std::size_t count = add(held_[before], received_, k_, sum_);
    copy_between(sum_.values.data(), count, kBelowAll, kAboveAll, magnitudes_.data());
    const Ranked kth = kth_largest(magnitudes_.data(), count, k_);
    Cut cut{kth.magnitude, kth.magnitude - 1, k_ - kth.above};
    keep(cut, sum_.values.data(), sum_.positions.data(), count, largest.values.data(),
         largest.positions.data());
    held_in_[round] = static_cast<std::uint8_t>(1 - before);
  }

  /// What this worker selected leaves its residual where the position is among the last k, though a merge
  /// below may have dropped its own part: so do the authors (hclhkbu/gtopkssgd, included_indexes). The error
  /// of rounding stays.
  void clear_included() {
    const std::span<const std::uint32_t> own = selector_.positions();
    const std::span<const float> values = selector_.values();
    std::size_t j = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      while (j < k_ && received_.positions[j] < own[i]) {
        ++j;
      }
      if (j < k_ && received_.positions[j] == own[i]) {
        const float error = rules_.format.half ? values[i] - from_f16(to_f16(values[i])) : 0.0F;
        residual_[own[i]] = std::isfinite(error) ? error : 0.0F;
      }
    }
  }

  GTopKRules rules_;
  std::size_t k_, steps_, workers_;
  Threads threads_;
  Selector selector_;
  EntryEncoder encoder_;
  EntryDecoder decoder_;
  Entries held_[2];
  std::vector<std::uint8_t> held_in_;       // which of them, by round
  std::vector<std::uint8_t> has_received_;  // by round
  Entries received_, sum_;
  Buffer<std::int32_t> magnitudes_;
  Buffer<std::byte> payload_;
  Buffer<float> residual_;
};

class GTopK final : public Compressor {
 public:
  explicit GTopK(const Params& params)
      : ratio_(params.number("ratio")),
        index_(index_bytes(params)),
        half_(params.is("value", "f16")),
        feedback_(params.is("feedback", "on")) {}

  /// With ceil(log2 n) steps up and as many of the broadcast down this costs 2 log2 n (alpha + 2k beta), beta
  /// of an element of 4 bytes: what the authors' code does and their plots (ICDCS 2019) count. Half of it, as
  /// their README has, would take another algorithm.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Flat all = flat(tensors);
    if (all.elements == 0) {
      return {};
    }
    const double k = kept(ratio_, all.elements), entry = (half_ ? 2 : all.width) + index_;
    Work encode = select(all, radix_passes(all), k, entry);
    if (feedback_) {
      encode = with_feedback(encode, all);
    }
    const Work merge = merging({2 * k, all.width, all.element}, k, entry);
    Plan plan;
    for (std::size_t step = 0; step < tree_steps(workers); ++step) {
      plan.push_back({step == 0 ? encode : merge,
                      Exchange::tree_step,
                      Bytes::of(k * entry),
                      {},
                      Element::bytes,
                      {},
                      std::size_t{1} << step});
    }
    plan.push_back({plan.empty() ? encode : merge, Exchange::broadcast, Bytes::of(k * entry),
                    scatter(all, k, entry, 1), Element::bytes});
    return plan;
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!codable(tensors)) {
      return nullptr;
    }
    const std::size_t n = elements(tensors);
    const auto k = n == 0 ? 0 : static_cast<std::size_t>(kept(ratio_, static_cast<double>(n)));
    return std::make_unique<GTopKKernel>(
        GTopKRules{.quota = {k, n}, .format = {.half = half_, .wide = index_ == 8}, .feedback = feedback_},
        worker);
  }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    return feedback_ ? bytes(tensors) : Bytes{};
  }

 private:
  /// Two lists are read and one is written by position, then the k largest of its 2k values are taken.
  [[nodiscard]] static Work merging(const Flat& sum, double k, double entry) {
    Work work = select(sum, radix_passes(sum), k, entry);
    work.touched += Bytes::of(2 * sum.elements * entry);
    work.flops += sum.elements;
    work.launches += 1;
    return work;
  }

  double ratio_, index_;
  bool half_, feedback_;
};

}  // namespace

Scheme gtopk_scheme() {
  return {
      .name = "gtopk",
      .summary = "global top-k: k entries merged in pairs up a tree, k kept of each sum, then broadcast",
      .params = {share_param("ratio", "0.1%", "share of the elements that is kept"),
                 choice_param("index", {"u32", "u64"}, "positions as sent: 32 bit as published, or 64 bit"),
                 choice_param("value", {"gradient", "f16"}, "type of the values sent"),
                 choice_param("feedback", {"on", "off"},
                              "keep what is not among the last k and add it to the next gradient")},
      .placement = Placement::serial,
      .source = "hclhkbu/gtopkssgd (ICDCS 2019): positions and values as one message",
      .make = [](const Params& params) { return std::make_unique<GTopK>(params); }};
}

}  // namespace breakeven
