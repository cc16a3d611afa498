// Are the ranges right in which a goal is reached, whatever the shape of what it measures?
#include "model/solve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace breakeven {
namespace {

constexpr double kPi = 3.14159265358979323846;

TEST(LogGrid, HoldsBothEndsAndRisesEvenly) {
  const std::vector<double> grid = log_grid(1e-3, 1e3, 5);
  ASSERT_EQ(grid.size(), 31U);
  EXPECT_EQ(grid.front(), 1e-3);
  EXPECT_EQ(grid.back(), 1e3);
  for (std::size_t i = 1; i < grid.size(); ++i) {
    EXPECT_NEAR(grid[i] / grid[i - 1], std::pow(10, 0.2), 1e-12);
  }
}

TEST(SolveOver, FindsEveryRangeOfWhatIsNotMonotone) {
  const Goal goal{Goal::Of::gain, 0.5};
  const auto wave = [](double x) { return std::sin(2 * kPi * std::log10(x)); };  // above 1/2: 1/12 to 5/12
  const Solution solution = solve_over(log_grid(1, 1e3, 12), goal, wave);
  ASSERT_EQ(solution.ranges.size(), 3U);
  for (std::size_t i = 0; i < solution.ranges.size(); ++i) {
    const Interval& range = solution.ranges[i];
    EXPECT_TRUE(range.begins && range.ends);
    EXPECT_NEAR(std::log10(range.low), static_cast<double>(i) + 1.0 / 12, 1e-12);
    EXPECT_NEAR(std::log10(range.high), static_cast<double>(i) + 5.0 / 12, 1e-12);
    EXPECT_TRUE(goal.reached(wave(range.low))) << "the end that is named reaches the goal";
    EXPECT_TRUE(goal.reached(wave(range.high)));
  }
  EXPECT_NEAR(solution.best, 1, 1e-12);
}

TEST(SolveOver, OpenEndsNowhereAndEverywhere) {
  const std::vector<double> grid = log_grid(1, 100, 3);
  const auto same = [](double x) { return x; };
  const Goal ten{Goal::Of::scaling, 10};
  const Solution rising = solve_over(grid, ten, same);
  ASSERT_EQ(rising.ranges.size(), 1U);
  EXPECT_NEAR(rising.ranges[0].low, 10, 1e-10);
  EXPECT_TRUE(rising.ranges[0].begins);
  EXPECT_FALSE(rising.ranges[0].ends);
  const Solution falling = solve_over(grid, ten, [](double x) { return 100 / x; });
  ASSERT_EQ(falling.ranges.size(), 1U);
  EXPECT_NEAR(falling.ranges[0].high, 10, 1e-10);
  EXPECT_FALSE(falling.ranges[0].begins);
  EXPECT_TRUE(falling.ranges[0].ends);
  const Solution never = solve_over(grid, {Goal::Of::scaling, 101}, same);
  EXPECT_TRUE(never.ranges.empty());
  EXPECT_EQ(never.best, 100);
  const Solution always = solve_over(grid, {Goal::Of::scaling, 1}, same);
  ASSERT_EQ(always.ranges.size(), 1U);
  EXPECT_FALSE(always.ranges[0].begins || always.ranges[0].ends);
}

TEST(SolveOver, AGainMustExceedAScalingMayEqual) {
  const std::vector<double> grid = {1, 2};
  const auto flat = [](double) { return 1.0; };
  EXPECT_TRUE(solve_over(grid, {Goal::Of::gain, 1}, flat).ranges.empty());
  EXPECT_EQ(solve_over(grid, {Goal::Of::scaling, 1}, flat).ranges.size(), 1U);
}

TEST(SolveOverCounts, EndsAreExactCounts) {
  std::vector<std::size_t> counts(5000);
  std::iota(counts.begin(), counts.end(), 1);
  const Goal goal{Goal::Of::scaling, 1};
  for (std::size_t low : {2U, 3U, 77U, 1000U}) {
    const std::size_t high = low * 3 + 1;
    std::size_t looks = 0;
    const Solution solution = solve_over_counts(counts, goal, [&](std::size_t n) {
      ++looks;
      return n >= low && n <= high ? 1.0 : 0.0;
    });
    ASSERT_EQ(solution.ranges.size(), 1U) << low;
    EXPECT_EQ(solution.ranges[0].low, static_cast<double>(low));
    EXPECT_EQ(solution.ranges[0].high, static_cast<double>(high));
    EXPECT_LT(looks, 60U);
  }
  const auto from = [&](std::size_t first) {
    return solve_over_counts(counts, goal, [first](std::size_t n) { return n >= first ? 1.0 : 0.0; }).ranges;
  };
  EXPECT_FALSE(from(1).at(0).begins);
  EXPECT_EQ(from(5000).at(0).low, 5000);
  EXPECT_TRUE(from(5001).empty());
  EXPECT_TRUE(solve_over_counts({}, goal, [](std::size_t) { return 1.0; }).ranges.empty());
}

}  // namespace
}  // namespace breakeven
