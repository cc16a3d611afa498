// Are intensity and the gain of overlapping what the survey's formulas and counts give?
#include "model/intensity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace breakeven {
namespace {

/// As the survey writes it (arXiv 2005.13247).
double published(double forward, double backward, double communication) {
  const double r = communication / backward;
  return 1 + 1 / (forward / std::min(communication, backward) + std::max(r, 1 / r));
}

TEST(Intensity, GainOfOverlappingIsTheSurveysFormula) {
  constexpr unsigned kSeed = 3;
  std::mt19937 engine(kSeed);
  std::uniform_real_distribution<> power(-4, 1);
  for (int i = 0; i < 1000; ++i) {
    const double forward = std::pow(10, power(engine));
    const double backward = std::pow(10, power(engine));
    const double sending = std::pow(10, power(engine));
    EXPECT_NEAR(most_overlap_gains(Seconds::of(forward), Seconds::of(backward), Seconds::of(sending)) /
                    published(forward, backward, sending),
                1, 1e-12)
        << "seed " << kSeed << ", case " << i;
  }
  // Most is gained where both take as long and forward nothing; nothing where nothing is sent.
  EXPECT_EQ(most_overlap_gains(0_s, 2_s, 2_s), 2);
  EXPECT_EQ(most_overlap_gains(1_s, 2_s, 0_s), 1);
  EXPECT_EQ(most_overlap_gains(0_s, 0_s, 0_s), 1);
}

TEST(Intensity, IsFlopOfThreePassesOverParameters) {
  Workload workload;
  add_tensor(workload, "a.weight", {10, 20}, 400);
  add_tensor(workload, "b.weight", {5, 20}, 100);
  EXPECT_EQ(flop_per_sample(workload), 1500);
  EXPECT_EQ(intensity(workload), 5);
  EXPECT_EQ(intensity(plain_workload("bytes alone", 100)), 0);
  EXPECT_EQ(intensity(Workload{}), 0);
}

}  // namespace
}  // namespace breakeven
