// Do PowerSGD and ACP-SGD do the steps of their algorithms, and keep what low rank promises?
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/compressors/kernels.h"
#include "tests/compressors/plain_matrix.h"

namespace breakeven::test {
namespace {

/// Shapes that no vector length divides, one with a rank that its size caps, vectors between them.
const Message& awkward() {
  static const Message message = {{40, 37}, {7, 1}, {16, 16}, {3, 300}, {130, 20}, {1, 9}, {2, 2}};
  return message;
}
struct Place {
  std::size_t first, rows, cols, rank, p, q;
};
/// Where the matrices and their factors lie when every one is coded.
std::vector<Place> places(const Message& message, std::size_t rank) {
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
Vectors gradients_of(const Message& message, std::size_t workers, std::uint64_t seed) {
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
std::string spec_of(const std::string& scheme, std::size_t rank, const std::string& more = "") {
  return scheme + ":min_ratio=0,rank=" + std::to_string(rank) + more;
}

TEST(PowerSgdKernel, DoesTheStepsOfTheAlgorithm) {
  constexpr std::size_t kWorkers = 3;
  on_every_target([] {
    for (const std::size_t rank : std::vector<std::size_t>{1, 2, 4, 5}) {
      SCOPED_TRACE(testing::Message() << "rank " << rank);
      Crew run(spec_of("powersgd", rank), awkward(), kWorkers);
      const std::vector<Place> matrices = places(awkward(), rank);
      // By worker and matrix; and the last step's Q.
      std::vector<std::vector<Dense>> errors(kWorkers);
      std::vector<Dense> last;
      for (std::uint64_t step = 0; step < 3; ++step) {
        const Vectors gradients = gradients_of(awkward(), kWorkers, 10 * step);
        const Recorded got = run.step(gradients);
        for (std::size_t k = 0; k < matrices.size(); ++k) {
          const Place& at = matrices[k];
          SCOPED_TRACE(testing::Message() << "step " << step << ", " << at.rows << " x " << at.cols);
          const Dense p = basis(dense({got.sums[1].data() + at.p, at.rows, at.rank}));
          const Dense q = dense({got.sums[2].data() + at.q, at.cols, at.rank});
          const Dense mean = p * transposed(combined(Dense(q.rows, q.cols), 1.0 / kWorkers, q));
          for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            Dense m = dense(gradients[worker].data() + at.first, at.rows, at.cols);
            if (step > 0) {
              m = combined(m, 1, errors[worker][k]);
              EXPECT_LE(
                  distance(dense({got.sent[1][worker].data() + at.p, at.rows, at.rank}), m * basis(last[k])),
                  1e-4 * length(m));
            }
            EXPECT_LE(
                distance(dense({got.sent[2][worker].data() + at.q, at.cols, at.rank}), transposed(m) * p),
                1e-4 * length(m));
            EXPECT_LE(distance(dense(got.means[worker].data() + at.first, at.rows, at.cols), mean),
                      1e-4 * length(m));
            if (step == 0) {
              errors[worker].push_back(combined(m, -1, mean));
            } else {
              errors[worker][k] = combined(m, -1, mean);
            }
          }
          if (step == 0) {
            last.push_back(q);
          } else {
            last[k] = q;
          }
        }
      }
    }
  });
}

TEST(AcpSgdKernel, DoesTheStepsOfTheAlgorithm) {
  constexpr std::size_t kWorkers = 3;
  on_every_target([] {
    for (const std::size_t rank : std::vector<std::size_t>{1, 4}) {
      // The basis of the first step is drawn; of one column it can be told from the mean.
      const bool feedback = rank == 1;
      SCOPED_TRACE(testing::Message() << "rank " << rank);
      Crew run(spec_of("acpsgd", rank, feedback ? "" : ",feedback=off"), awkward(), kWorkers);
      const std::vector<Place> matrices = places(awkward(), rank);
      std::vector<Dense> last;  // of each matrix the sum that was sent
      std::vector<std::vector<Dense>> errors(kWorkers);
      for (std::uint64_t step = 0; step < 4; ++step) {
        const Vectors gradients = gradients_of(awkward(), kWorkers, 10 * step);
        const Recorded got = run.step(gradients);
        const bool left = step % 2 == 0;
        for (std::size_t k = 0; k < matrices.size(); ++k) {
          const Place& at = matrices[k];
          SCOPED_TRACE(testing::Message() << "step " << step << ", " << at.rows << " x " << at.cols);
          const std::size_t size = left ? at.rows : at.cols, first = left ? at.p : at.q;
          const Dense sum = dense({got.sums[0].data() + first, size, at.rank});
          const Dense mean = dense(got.means[0].data() + at.first, at.rows, at.cols);
          if (step == 0) {
            last.push_back(basis(transposed(mean) * sum));
          }
          const Dense fixed = basis(last[k]);
          last[k] = sum;
          if (step == 0 && !feedback) {
            continue;
          }
          const Dense whole = left ? sum * transposed(fixed) : fixed * transposed(sum);
          EXPECT_LE(distance(mean, combined(Dense(at.rows, at.cols), 1.0 / kWorkers, whole)),
                    1e-4 * length(mean));
          for (std::size_t worker = 0; worker < kWorkers; ++worker) {
            Dense m = dense(gradients[worker].data() + at.first, at.rows, at.cols);
            if (feedback && step > 0) {
              m = combined(m, 1, errors[worker][k]);
            }
            const Dense own = dense({got.sent[0][worker].data() + first, size, at.rank});
            EXPECT_LE(distance(own, (left ? m : transposed(m)) * fixed), 1e-4 * length(m));
            EXPECT_EQ(got.means[worker], got.means[0]);
            const Dense error = combined(m, -1, left ? own * transposed(fixed) : fixed * transposed(own));
            if (step == 0) {
              errors[worker].push_back(error);
            } else if (feedback) {
              errors[worker][k] = error;
            }
          }
        }
      }
    }
  });
}

TEST(AcpSgdKernel, SendsThePlannedBytesOnAverageOfItsTwoSteps) {
  for (const std::string& spec :
       std::vector<std::string>{"acpsgd", "acpsgd:rank=2,min_ratio=2", "acpsgd:rank=65536"}) {
    const auto compressor = registry().make(spec).compressor;
    ASSERT_EQ(compressor->period(), 2U);
    Crew run(spec, awkward(), 2);
    const Vectors gradients = gradients_of(awkward(), 2, 1);
    const std::size_t p = run.step(gradients).sums[0].size(), q = run.step(gradients).sums[0].size();
    EXPECT_NE(p, q);
    EXPECT_EQ(2 * plan_of(spec, awkward(), 2)[0].payload.base(), 4.0 * static_cast<double>(p + q)) << spec;
    EXPECT_EQ(run.step(gradients).sums[0].size(), p);
  }
}

Dense mean_of(const Vectors& gradients, const Place& at) {
  Dense all(at.rows, at.cols);
  for (const auto& gradient : gradients) {
    all = combined(all, 1.0 / static_cast<double>(gradients.size()),
                   dense(gradient.data() + at.first, at.rows, at.cols));
  }
  return all;
}

TEST(LowRankKernels, AreExactAtFullRank) {
  on_every_target([] {
    for (const std::string& spec : std::vector<std::string>{
             spec_of("powersgd", 65536), spec_of("powersgd", 65536, ",warm_start=off"),
             std::string("powersgd:batched=on,rank=65536"), spec_of("acpsgd", 65536, ",feedback=off")}) {
      for (const std::size_t workers : std::vector<std::size_t>{1, 3}) {
        SCOPED_TRACE(testing::Message() << spec << ", " << workers << " workers");
        Crew run(spec, awkward(), workers);
        for (std::uint64_t step = 0; step < 2; ++step) {
          const Vectors gradients = gradients_of(awkward(), workers, 10 * step);
          const Vectors means = run.step(gradients).means;
          for (const Place& at : places(awkward(), 1)) {
            // ACP-SGD keeps one basis a step: nothing is missing where that is the smaller side's.
            const Dense mean = mean_of(gradients, at);
            if (spec[0] == 'p' || (step % 2 == 0) == (at.cols <= at.rows)) {
              EXPECT_LE(distance(dense(means[0].data() + at.first, at.rows, at.cols), mean),
                        1e-4 * length(mean))
                  << at.rows << " x " << at.cols;
            }
          }
        }
      }
    }
  });
}

/// left's first `rank` columns times right's, with these weights.
std::vector<float> product_of(std::size_t rows, std::size_t cols, const std::vector<double>& weights) {
  const auto part = [&](std::size_t size, std::uint64_t seed) {
    const std::vector<float> values = random_values(size * weights.size(), seed);
    return basis(dense(values.data(), size, weights.size()));
  };
  Dense left = part(rows, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < weights.size(); ++c) {
      left(i, c) *= weights[c];
    }
  }
  const Dense all = left * transposed(part(cols, 2));
  return {all.values.begin(), all.values.end()};
}

TEST(PowerSgdKernel, ReproducesAMatrixOfItsRank) {
  on_every_target([] {
    for (const std::size_t true_rank : std::vector<std::size_t>{1, 3}) {
      const std::vector<float> gradient = product_of(50, 90, std::vector<double>(true_rank, 1e-3));
      for (const std::size_t rank : std::vector<std::size_t>{3, 4, 8, 20}) {
        Crew run(spec_of("powersgd", rank), {{50, 90}}, 1);
        for (int step = 0; step < 3; ++step) {
          const auto mean = run.step({gradient}).means[0];
          const Dense expected = dense(gradient.data(), 50, 90);
          EXPECT_LE(distance(dense(mean.data(), 50, 90), expected), 1e-4 * length(expected));
        }
      }
    }
  });
}

TEST(LowRankKernels, ConvergeToTheBestApproximationWithoutFeedback) {
  const std::vector<float> gradient = product_of(60, 80, {5, 4, 1, 0.5, 0.2});
  const Dense best = [] {
    const std::vector<float> values = product_of(60, 80, {5, 4, 0, 0, 0});
    return dense(values.data(), 60, 80);
  }();
  for (const std::string& scheme : std::vector<std::string>{"powersgd", "acpsgd"}) {
    Crew run(spec_of(scheme, 2, ",feedback=off"), {{60, 80}}, 2);
    Vectors means;
    for (int step = 0; step < 20; ++step) {
      means = run.step({gradient, gradient}).means;
    }
    EXPECT_LE(distance(dense(means[0].data(), 60, 80), best), 1e-4 * length(best)) << scheme;
  }
}

TEST(LowRankKernels, ApplyInTheEndWhatTheyLeftOut) {
  constexpr std::size_t kWorkers = 2;
  for (const std::string& spec : std::vector<std::string>{
           spec_of("powersgd", 2), spec_of("powersgd", 2, ",warm_start=off"), spec_of("acpsgd", 2)}) {
    SCOPED_TRACE(spec);
    Crew run(spec, awkward(), kWorkers);
    const Vectors gradients = gradients_of(awkward(), kWorkers, 1);
    std::vector<Dense> left_out;
    std::vector<double> halfway;
    constexpr int kSteps = 400;
    for (int step = 0; step < kSteps; ++step) {
      const Vectors means = run.step(gradients).means;
      std::size_t k = 0;
      for (const Place& at : places(awkward(), 2)) {
        if (step == 0) {
          left_out.emplace_back(at.rows, at.cols);
        }
        left_out[k] = combined(combined(left_out[k], 1, mean_of(gradients, at)), -1,
                               dense(means[0].data() + at.first, at.rows, at.cols));
        ++k;
      }
    }
    // What is missing of the sum is no more than a few steps' gradients, however many steps there were.
    std::size_t k = 0;
    for (const Place& at : places(awkward(), 2)) {
      EXPECT_LE(length(left_out[k++]), 40 * length(mean_of(gradients, at))) << at.rows << " x " << at.cols;
    }
  }
}

TEST(LowRankKernels, GiveTheSameBitsForAnyThreadsAlignmentAndWorker) {
  // Large enough for several parts.
  const Message message = {{900, 700}, {33, 1}, {5, 60000}, {100, 37}};
  const Vectors gradients = gradients_of(message, 2, 1);
  for (const std::string& spec :
       std::vector<std::string>{spec_of("powersgd", 3), spec_of("powersgd", 1), "powersgd:batched=on,rank=2",
                                spec_of("acpsgd", 4)}) {
    SCOPED_TRACE(spec);
    std::vector<Recorded> expected;
    for (const std::size_t threads : std::vector<std::size_t>{1, 2, 3}) {
      Crew run(spec, message, 2, threads);
      for (std::size_t step = 0; step < 2; ++step) {
        const Recorded got = run.step(gradients, threads);
        EXPECT_EQ(got.means[0], got.means[1]);
        if (threads == 1) {
          expected.push_back(got);
        } else {
          EXPECT_EQ(got.sent, expected[step].sent);
          EXPECT_EQ(got.means, expected[step].means);
        }
      }
    }
  }
}

TEST(LowRankKernels, KeepWhatIsNotFiniteInItsMatrix) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const std::string& spec : std::vector<std::string>{spec_of("powersgd", 2), spec_of("acpsgd", 2)}) {
      SCOPED_TRACE(testing::Message() << spec << " " << bad);
      Crew run(spec, awkward(), 2), clean(spec, awkward(), 2);
      Vectors gradients = gradients_of(awkward(), 2, 1);
      const Vectors untouched = gradients;
      const std::vector<Place> matrices = places(awkward(), 2);
      const Place& hit = matrices[1];
      const std::size_t where = hit.first + 5 * hit.cols + 3;
      gradients[1][where] = bad;
      for (int step = 0; step < 3; ++step) {
        const Vectors means = run.step(gradients).means, expected = clean.step(untouched).means;
        EXPECT_FALSE(std::isfinite(means[0][where])) << "step " << step;
        EXPECT_EQ(std::memcmp(means[0].data(), means[1].data(), means[0].size() * sizeof(float)), 0);
        for (std::size_t i = 0; i < means[0].size(); ++i) {
          if (i < hit.first || i >= hit.first + hit.rows * hit.cols) {
            ASSERT_EQ(means[0][i], expected[0][i]) << "step " << step << ", element " << i;
          }
        }
      }
    }
  }
}

TEST(LowRankKernels, RecoverFromAStepOfZeros) {
  on_every_target([] {
    for (const std::string& spec :
         std::vector<std::string>{spec_of("powersgd", 65536), spec_of("acpsgd", 65536)}) {
      SCOPED_TRACE(spec);
      const Message message = {{24, 24}};
      Crew run(spec, message, 2);
      const Vectors zeros(2, std::vector<float>(24 * 24)), gradients = gradients_of(message, 2, 3);
      for (int step = 0; step < 2; ++step) {
        EXPECT_EQ(run.step(zeros).means[0], zeros[0]);
      }
      const Vectors means = run.step(gradients).means;
      const Dense mean = mean_of(gradients, {0, 24, 24, 24, 0, 0});
      EXPECT_LE(distance(dense(means[0].data(), 24, 24), mean), 1e-4 * length(mean));
    }
  });
}

TEST(LowRankKernels, StayFiniteOnDegenerateGradients) {
  on_every_target([] {
    for (const std::string& spec : std::vector<std::string>{
             spec_of("powersgd", 3), "powersgd:batched=on,rank=3",
             spec_of("powersgd", 3, ",warm_start=off,feedback=off"), spec_of("acpsgd", 3)}) {
      for (const GradientKind kind : {GradientKind::zero, GradientKind::constant, GradientKind::one_hot,
                                      GradientKind::denormal, GradientKind::heavy_tailed}) {
        SCOPED_TRACE(testing::Message() << spec << ", " << name(kind));
        Crew run(spec, awkward(), 2);
        Vectors gradients(2, std::vector<float>(elements(awkward())));
        for (std::size_t rank = 0; rank < 2; ++rank) {
          fill_gradient(gradients[rank], awkward(), kind, rank);
        }
        for (int step = 0; step < 4; ++step) {
          const Vectors means = run.step(gradients).means;
          for (const float x : means[0]) {
            ASSERT_TRUE(std::isfinite(x));
          }
        }
      }
    }
  });
}

TEST(PowerSgdKernel, BatchedIsOneSquareMatrixPaddedWithZeros) {
  on_every_target([] {
    for (const std::size_t n : std::vector<std::size_t>{1, 2, 3, 5, 26, 700, 1025}) {
      SCOPED_TRACE(n);
      const auto side = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(n))));
      const std::vector<float> gradient = random_values(n, 3);
      std::vector<float> padded = gradient;
      padded.resize(side * side);
      Crew batched("powersgd:batched=on,rank=2,feedback=off", {{n, 1}}, 1);
      const Recorded got = batched.step({gradient});
      if (side == 1) {  // no matrix for the scheme without it
        EXPECT_NEAR(got.means[0][0], gradient[0], 1e-6);
        continue;
      }
      Crew square(spec_of("powersgd", 2, ",feedback=off"), {{side, side}}, 1);
      const Recorded expected = square.step({padded});
      const double size = length(dense(gradient.data(), n, 1));
      for (std::size_t round = 0; round < 2; ++round) {
        const std::size_t count = expected.sums[round].size();
        ASSERT_EQ(got.sums[round].size(), count);
        EXPECT_LE(
            distance(dense(got.sums[round].data(), count, 1), dense(expected.sums[round].data(), count, 1)),
            kRounding * size);
      }
      EXPECT_LE(distance(dense(got.means[0].data(), n, 1), dense(expected.means[0].data(), n, 1)),
                kRounding * size);
    }
  });
}

TEST(LowRankKernels, AreNotForWhatTheyDoNotCode) {
  const Message half = {{20, 20, Element::f16}};
  for (const std::string& spec : std::vector<std::string>{"powersgd", "acpsgd"}) {
    EXPECT_EQ(registry().make(spec).compressor->kernel(half, {}), nullptr);
  }
  EXPECT_EQ(registry().make("powersgd:vectors=skip").compressor->kernel(awkward(), {}), nullptr);
}

TEST(PowerSgdKernel, BatchesOfShapesChangeNothing) {
  const Vectors gradients = gradients_of(awkward(), 2, 1);
  Crew one(spec_of("powersgd", 2), awkward(), 2),
      other(spec_of("powersgd", 2, ",batch_shapes=on"), awkward(), 2);
  EXPECT_EQ(one.step(gradients).means, other.step(gradients).means);
}

}  // namespace
}  // namespace breakeven::test
