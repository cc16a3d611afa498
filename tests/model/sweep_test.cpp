// Do results leave in order, whatever the threads, and does an error end the sweep?
#include "model/sweep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace breakeven {
namespace {

TEST(Sweep, OutputIsTheSameForAnyNumberOfThreads) {
  std::string expected;
  for (std::size_t i = 0; i < 500; ++i) {
    expected += std::to_string(i) + "\n";
  }
  for (const std::size_t threads : {1U, 2U, 7U, 64U}) {
    std::string out;
    run_in_order(
        500, threads, [](std::size_t chunk, std::size_t) { return std::to_string(chunk) + "\n"; },
        [&](std::string&& text) {
          out += text;
          return true;
        });
    EXPECT_EQ(out, expected) << threads;
  }
  run_in_order(
      0, 2, [](std::size_t, std::size_t) { return "x"; },
      [](std::string&&) -> bool { throw std::logic_error("no chunk"); });
}

TEST(Sweep, WorkersNeverRunFarAhead) {
  std::atomic<std::size_t> produced = 0;
  std::size_t consumed = 0;
  std::size_t most = 0;
  run_in_order(
      300, 2,
      [&](std::size_t, std::size_t worker) {
        EXPECT_LT(worker, 2U);
        ++produced;
        return std::string("x");
      },
      [&](std::string&&) {
        most = std::max(most, produced.load() - consumed);
        ++consumed;
        return true;
      });
  EXPECT_EQ(consumed, 300U);
  EXPECT_LE(most, 9U);  // four chunks a thread, and the one in hand
}

TEST(Sweep, AnErrorOfEitherSideEndsIt) {
  EXPECT_THROW(run_in_order(
                   100, 3,
                   [](std::size_t chunk, std::size_t) -> std::string {
                     if (chunk == 40) {
                       throw std::runtime_error("producer");
                     }
                     return "x";
                   },
                   [](std::string&&) { return true; }),
               std::runtime_error);
  EXPECT_THROW(run_in_order(
                   100, 3, [](std::size_t, std::size_t) { return std::string("x"); },
                   [](std::string&&) -> bool { throw std::runtime_error("consumer"); }),
               std::runtime_error);
}

TEST(Sweep, TheConsumerCanStopEarly) {
  std::size_t consumed = 0;
  run_in_order(
      1000, 2, [](std::size_t, std::size_t) { return std::string("x"); },
      [&](std::string&&) { return ++consumed < 5; });
  EXPECT_EQ(consumed, 5U);
}

}  // namespace
}  // namespace breakeven
