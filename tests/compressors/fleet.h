// Workers that exchange messages without a network, for tests of kernels.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "compressors/trial/exchange.h"
#include "compressors/trial/gradients.h"
#include "tests/compressors/kernels.h"

namespace breakeven::test {

/// One kernel for each worker, and what the last step sent and gave.
class Fleet {
 public:
  Fleet(const std::string& spec, Message message, std::size_t workers = 1, std::size_t threads = 1)
      : message_(std::move(message)), plan_(plan_of(spec, message_, workers)) {
    const auto compressor = registry().make(spec).compressor;
    for (std::size_t rank = 0; rank < workers; ++rank) {
      kernels_.push_back(compressor->kernel(message_, {rank, workers, 7, threads}));
    }
  }

  /// Gradients by rank.
  void step(const std::vector<std::vector<float>>& gradients) {
    const std::size_t n = elements(message_);
    means_.assign(kernels_.size(), std::vector<float>(n, 99.0F));
    sent_.clear();
    for (std::size_t round = 0; round < plan_.size(); ++round) {
      std::vector<Payload> payloads;
      for (std::size_t rank = 0; rank < kernels_.size(); ++rank) {
        const auto bytes = kernels_[rank]->encode(round, gradients[rank]);
        EXPECT_EQ(static_cast<double>(bytes.size()), plan_[round].payload.base());
        payloads.emplace_back(bytes.begin(), bytes.end());
      }
      for (std::size_t rank = 0; rank < kernels_.size(); ++rank) {
        kernels_[rank]->decode(round, exchanged(plan_[round], payloads, rank), means_[rank]);
      }
      sent_.push_back(std::move(payloads));
    }
  }

  /// What `rank` sent in a round of the last step.
  template <class T>
  [[nodiscard]] std::vector<T> sent(std::size_t round, std::size_t rank = 0) const {
    const Payload& payload = sent_[round][rank];
    std::vector<T> values(payload.size() / sizeof(T));  // what is left over is no T
    std::memcpy(values.data(), payload.data(), values.size() * sizeof(T));
    return values;
  }
  [[nodiscard]] const std::vector<std::vector<Payload>>& payloads() const { return sent_; }
  [[nodiscard]] const std::vector<float>& mean(std::size_t rank = 0) const { return means_[rank]; }
  [[nodiscard]] Kernel& kernel(std::size_t rank = 0) { return *kernels_[rank]; }

 private:
  Message message_;
  Plan plan_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::vector<float>> means_;
  std::vector<std::vector<Payload>> sent_;  // by round and rank
};

inline std::vector<float> made(std::size_t n, GradientKind kind, std::uint64_t seed = 1) {
  std::vector<float> gradient(n);
  // A few layers of different scale.
  fill_gradient(gradient, Message{{n / 3, 1}, {n / 3, 1}, {n - 2 * (n / 3), 1}}, kind, seed);
  return gradient;
}

/// The same bits, NaN too.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace breakeven::test
