// Workers that do the steps of a low-rank scheme, and where its matrices and factors lie.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compressors/trial/gradients.h"
#include "tests/compressors/kernels.h"
#include "tests/compressors/plain_matrix.h"

namespace breakeven::test {

/// Shapes that no vector length divides, one with a rank that its size caps, vectors between them.
inline const Message& awkward() {
  static const Message message = {{40, 37}, {7, 1}, {16, 16}, {3, 300}, {130, 20}, {1, 9}, {2, 2}};
  return message;
}
struct Place {
  std::size_t first, rows, cols, rank, p, q;
};
/// Where the matrices and their factors lie when every one is coded.
inline std::vector<Place> places(const Message& message, std::size_t rank) {
  std::vector<Place> all;
  std::size_t first = 0, p = 0, q = 0;
  for (const Shape& shape : message) {
    if (!shape.is_vector()) {
      const std::size_t r = std::min({rank, shape.rows, shape.cols});
      all.push_back({first, shape.rows, shape.cols, r, p, q});
      p += shape.rows * r;
      q += shape.cols * r;
    }
    first += shape.elements();
  }
  return all;
}
inline Vectors gradients_of(const Message& message, std::size_t workers, std::uint64_t seed) {
  Vectors all(workers, std::vector<float>(elements(message)));
  for (std::size_t rank = 0; rank < workers; ++rank) {
    fill_gradient(all[rank], message, GradientKind::normal, seed + rank);
  }
  return all;
}
/// The payloads of all rounds of a step, of every worker, and what each received.
struct Recorded {
  std::vector<std::vector<std::vector<float>>> sent;
  std::vector<std::vector<float>> sums;
  Vectors means;
};
class Crew {
 public:
  Crew(const std::string& spec, Message message, std::size_t workers, std::size_t threads = 1)
      : message_(std::move(message)), plan_(plan_of(spec, message_, workers)) {
    const auto compressor = registry().make(spec).compressor;
    for (std::size_t rank = 0; rank < workers; ++rank) {
      kernels_.push_back(compressor->kernel(message_, {rank, workers, 1, threads}));
    }
  }
  /// With the gradients and the means `shift` elements behind where vectors begin.
  Recorded step(const Vectors& gradients, std::size_t shift = 0) {
    Recorded all;
    const std::size_t n = elements(message_);
    std::vector<std::vector<float>> means(kernels_.size(), std::vector<float>(n + shift, 7));
    for (std::size_t round = 0; round < plan_.size(); ++round) {
      std::vector<Payload> payloads;
      all.sent.emplace_back();
      for (std::size_t rank = 0; rank < kernels_.size(); ++rank) {
        std::vector<float> moved(n + shift);
        std::copy(gradients[rank].begin(), gradients[rank].end(), moved.begin() + static_cast<long>(shift));
        const auto sent = kernels_[rank]->encode(round, std::span<const float>(moved).subspan(shift));
        payloads.emplace_back(sent.begin(), sent.end());
        all.sent.back().push_back(floats(payloads.back()));
      }
      const Payload received = exchanged(plan_[round], payloads, 0);
      all.sums.push_back(floats(received));
      for (std::size_t rank = 0; rank < kernels_.size(); ++rank) {
        kernels_[rank]->decode(round, received, std::span<float>(means[rank]).subspan(shift));
      }
    }
    for (const auto& mean : means) {
      all.means.emplace_back(mean.begin() + static_cast<long>(shift), mean.end());
    }
    return all;
  }

 private:
  static std::vector<float> floats(const Payload& payload) {
    std::vector<float> values(payload.size() / sizeof(float));
    std::memcpy(values.data(), payload.data(), values.size() * sizeof(float));
    return values;
  }
  Message message_;
  Plan plan_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
};
inline std::string spec_of(const std::string& scheme, std::size_t rank, const std::string& more = "") {
  return scheme + ":min_ratio=0,rank=" + std::to_string(rank) + more;
}
inline Dense mean_of(const Vectors& gradients, const Place& at) {
  Dense all(at.rows, at.cols);
  for (const auto& gradient : gradients) {
    all = combined(all, 1.0 / static_cast<double>(gradients.size()),
                   dense(gradient.data() + at.first, at.rows, at.cols));
  }
  return all;
}

}  // namespace breakeven::test
