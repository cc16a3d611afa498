// Do PowerSGD and ACP-SGD do the steps of their algorithms?
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compressors/crew.h"

namespace breakeven::test {
namespace {

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

TEST(PowerSgdKernel, BatchesOfShapesChangeNothing) {
  const Vectors gradients = gradients_of(awkward(), 2, 1);
  Crew one(spec_of("powersgd", 2), awkward(), 2),
      other(spec_of("powersgd", 2, ",batch_shapes=on"), awkward(), 2);
  EXPECT_EQ(one.step(gradients).means, other.step(gradients).means);
}

TEST(LowRankKernels, AreNotForWhatTheyDoNotCode) {
  const Message half = {{20, 20, Element::f16}};
  for (const std::string& spec : std::vector<std::string>{"powersgd", "acpsgd"}) {
    EXPECT_EQ(registry().make(spec).compressor->kernel(half, {}), nullptr);
  }
  EXPECT_EQ(registry().make("powersgd:vectors=skip").compressor->kernel(awkward(), {}), nullptr);
}

}  // namespace
}  // namespace breakeven::test
