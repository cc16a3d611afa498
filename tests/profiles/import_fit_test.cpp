// Does a fit find what made the points, whatever is wrong with some of them?
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profiles/import/fit.h"

namespace breakeven {
namespace {

/// Sizes that double from 8 bytes on.
Points made_by(std::size_t count, const std::function<double(double)>& seconds) {
  Points points;
  double size = 8;
  for (std::size_t i = 0; i < count; ++i, size *= 2) {
    points.push_back({Bytes::of(size), Seconds::of(seconds(size))});
  }
  return points;
}

TEST(Fit, FindsTheLineThatMadeThePoints) {
  for (const double alpha : {0.0, 1e-6, 40e-6, 5e-3}) {
    for (const double bandwidth : {1e8, 12.5e9, 200e9}) {
      const AlphaBeta line =
          fit_alpha_beta(made_by(28, [&](double size) { return alpha + size / bandwidth; }));
      EXPECT_NEAR(line.alpha.base(), alpha, alpha * 1e-9 + 1e-15);
      EXPECT_NEAR(1 / line.beta.base(), bandwidth, bandwidth * 1e-9);
    }
  }
}

TEST(Fit, AFewPointsFarOffDoNotPull) {
  Points points = made_by(28, [](double size) { return 40e-6 + size / 10e9; });
  points[3].time = points[3].time * 50;
  points[15].time = points[15].time * 30;
  points[20].time = points[20].time * 0.2;
  const AlphaBeta line = fit_alpha_beta(points);
  EXPECT_NEAR(line.alpha.base(), 40e-6, 1e-12);
  EXPECT_NEAR(1 / line.beta.base(), 10e9, 1e4);
}

TEST(Fit, NoiseOfAFewPercentStaysAFewPercent) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(0.95, 1.05);
    const AlphaBeta line =
        fit_alpha_beta(made_by(28, [&](double size) { return (40e-6 + size / 10e9) * noise(random); }));
    EXPECT_NEAR(line.alpha.base() / 40e-6, 1, 0.05);
    EXPECT_NEAR(1 / line.beta.base() / 10e9, 1, 0.05);
  }
}

TEST(Fit, NeitherNumberIsNegative) {
  const AlphaBeta falling = fit_alpha_beta(made_by(5, [](double size) { return 1e-3 / size; }));
  EXPECT_GE(falling.beta.base(), 0);
  const AlphaBeta steep = fit_alpha_beta(made_by(5, [](double size) { return size * size; }));
  EXPECT_GE(steep.alpha.base(), 0);
}

TEST(Fit, SaysWhichNumberThePointsCannotTell) {
  const auto line = [](double size) { return 40e-6 + size / 10e9; };
  const Points all = made_by(28, line);
  EXPECT_TRUE(tells_alpha(fit_alpha_beta(all), all));
  EXPECT_TRUE(tells_beta(fit_alpha_beta(all), all));
  const Points large(all.begin() + 23, all.end());  // from 64 MiB, where 40 us are less than a hundredth
  EXPECT_FALSE(tells_alpha(fit_alpha_beta(large), large));
  const Points small(all.begin(), all.begin() + 10);
  EXPECT_FALSE(tells_beta(fit_alpha_beta(small), small));
}

TEST(Fit, SegmentsFindWhereTheProtocolChanges) {
  const auto protocols = [](double size) {
    return size < 1e5 ? 20e-6 + size / 1e9 : size < 2e7 ? 90e-6 + size / 20e9 : 600e-6 + size / 90e9;
  };
  const Points points = made_by(28, protocols);
  const std::vector<Segment> segments = fit_segments(points, 3);
  ASSERT_EQ(segments.size(), 3U);
  for (const Table::Point& point : points) {
    EXPECT_NEAR(at(segments, point.payload) / point.time, 1, 1e-9) << point.payload.base();
  }
  EXPECT_GT(segments[1].from, 65536_B);
  EXPECT_LT(segments[1].from, 131072_B);
  EXPECT_LT(held_out(points,
                     [](const Points& others) -> Prophet {
                       return [lines = fit_segments(others, 3)](Bytes payload) { return at(lines, payload); };
                     })
                .median,
            1e-9);
  EXPECT_GT(held_out(points,
                     [](const Points& others) -> Prophet {
                       return [line = fit_alpha_beta(others)](Bytes payload) { return line.at(payload); };
                     })
                .median,
            0.05);
  EXPECT_TRUE(fit_segments(Points(points.begin(), points.begin() + 8), 3).empty());
}

TEST(Fit, MonotoneKeepsWhatRisesAndTakesMediansElsewhere) {
  const Points rising = made_by(10, [](double size) { return size; });
  const Points same = monotone(rising);
  for (std::size_t i = 0; i < rising.size(); ++i) {
    EXPECT_EQ(same[i].time, rising[i].time);
  }
  Points spiked = rising;
  spiked[4].time = spiked[4].time * 1000;
  const Points cleaned = monotone(spiked);
  ASSERT_EQ(cleaned.size(), rising.size());
  for (std::size_t i = 1; i < cleaned.size(); ++i) {
    EXPECT_GE(cleaned[i].time, cleaned[i - 1].time);
    EXPECT_EQ(cleaned[i].payload, rising[i].payload);
  }
  EXPECT_EQ(cleaned[3].time, rising[3].time);
  EXPECT_LE(cleaned[4].time, rising[9].time);  // the spike is gone
}

TEST(Fit, OneSlowTimeDoesNotMoveItsNeighbour) {
  const Points points = {{16384_B, 150_us}, {32768_B, 3214_us}, {65536_B, 160_us}, {131072_B, 200_us}};
  const Points cleaned = monotone(points);
  EXPECT_EQ(cleaned[0].time, 150_us);
  EXPECT_EQ(cleaned[1].time, 160_us);
  EXPECT_EQ(cleaned[2].time, 160_us);
  EXPECT_EQ(cleaned[3].time, 200_us);
}

TEST(Fit, MonotoneHoldsOnNoise) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> noise(0, 1);
    const Points points =
        monotone(made_by(30, [&](double size) { return (1e-4 + size / 1e9) * noise(random); }));
    for (std::size_t i = 1; i < points.size(); ++i) {
      EXPECT_GE(points[i].time, points[i - 1].time);
    }
  }
}

TEST(Fit, ThinnedPointsKeepBothEndsAndSpread) {
  Points points;
  for (int i = 1; i <= 1000; ++i) {
    points.push_back({Bytes::of(i * 1024.0), Seconds::of(i)});
  }
  const Points few = thinned(points, 40);
  EXPECT_LE(few.size(), 40U);
  EXPECT_GE(few.size(), 25U);
  EXPECT_EQ(few.front().payload, points.front().payload);
  EXPECT_EQ(few.back().payload, points.back().payload);
  EXPECT_EQ(thinned(few, 40).size(), few.size());
}

}  // namespace
}  // namespace breakeven
