// Steps of several workers' kernels, for the tests of single schemes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "compressors/random.h"
#include "compressors/simd/target.h"
#include "compressors/trial/exchange.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {

using Vectors = std::vector<std::vector<float>>;

/// The kernels of all workers of one message.
class Workers {
 public:
  Workers(const std::string& spec, const Message& message, std::size_t workers, std::size_t threads = 1)
      : plan_(plan_of(spec, message, workers)), elements_(elements(message)) {
    const auto compressor = registry().make(spec).compressor;
    for (std::size_t rank = 0; rank < workers; ++rank) {
      kernels_.push_back(compressor->kernel(message, {rank, workers, 1, threads}));
    }
  }

  /// One step; every worker's mean.
  Vectors step(const Vectors& gradients) {
    const std::size_t workers = kernels_.size();
    Vectors means(workers, std::vector<float>(elements_));
    for (std::size_t round = 0; round < plan_.size(); ++round) {
      payloads_.clear();
      for (std::size_t rank = 0; rank < workers; ++rank) {
        const auto sent = kernels_[rank]->encode(round, gradients[rank]);
        payloads_.emplace_back(sent.begin(), sent.end());
      }
      for (std::size_t rank = 0; rank < workers; ++rank) {
        const Payload received = exchanged(plan_[round], payloads_, rank);
        kernels_[rank]->decode(round, received, means[rank]);
      }
    }
    return means;
  }

  /// Of the last round.
  [[nodiscard]] const std::vector<Payload>& payloads() const { return payloads_; }

 private:
  Plan plan_;
  std::size_t elements_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<Payload> payloads_;
};

/// Multiples of 1/64 between -4 and 4, zeros of both signs among them: their sums are exact in any order.
inline std::vector<float> even_numbers(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = random_at(seed, i);
    const auto magnitude = static_cast<float>(bits % 256) / 64;
    values[i] = (bits >> 32U) % 2 == 0 ? magnitude : -magnitude;
  }
  return values;
}

/// Runs body() with every SIMD target in turn.
template <class Body>
void on_every_target(Body body) {
  for (const std::string& target : simd_targets()) {
    SCOPED_TRACE(target);
    use_simd_target(target);
    body();
  }
  use_simd_target("");
}

}  // namespace breakeven::test
