// Do PowerSGD and ACP-SGD keep what low rank promises, on any gradient?
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/compressors/crew.h"

namespace breakeven::test {
namespace {

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

}  // namespace
}  // namespace breakeven::test
