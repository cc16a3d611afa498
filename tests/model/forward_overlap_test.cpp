// Do messages reach into the next forward pass as the published methods say?
#include <gtest/gtest.h>

#include "model/timeline.h"

namespace breakeven {
namespace {

Seconds s(double seconds) {
  return Seconds::of(seconds);
}
Stage on(Resource resource, double seconds) {
  return {resource, Activity::exchange, s(seconds), 0};
}

/// ByteScheduler's contrived example: three layers of 1 s each way, transfers of 1.5, 3 and 1.5 s a direction
/// over a duplex parameter server.
struct Contrived {
  std::vector<Chain> chains;
  std::vector<Seconds> forward = {s(1), s(1), s(1)};

  explicit Contrived(double piece) {
    const double transfer[] = {1.5, 3, 1.5};
    for (std::size_t layer = 3; layer-- > 0;) {
      for (double sent = 0; sent < transfer[layer]; sent += piece) {
        const double size = std::min(piece, transfer[layer] - sent);
        Chain chain{s(static_cast<double>(3 - layer)),
                    {on(Resource::network, size), on(Resource::network_in, size)}};
        chain.rank = chain.part = layer;
        chain.size = Bytes::of(size);
        chains.push_back(chain);
      }
    }
  }
  /// From the start of backward to the end of the next forward pass.
  [[nodiscard]] double period(Order order, std::vector<Span>* spans = nullptr) const {
    return run_timeline({chains, s(3), {}, order, forward}, spans).backward_and_sync().base() + 3;
  }
};

TEST(NextForward, FirstComeFirstServedTakesThirteenUnits) {
  EXPECT_DOUBLE_EQ(Contrived(10).period({}), 13);
}

TEST(NextForward, PartitionsByPriorityTakeNine) {
  std::vector<Span> spans;
  EXPECT_DOUBLE_EQ(Contrived(0.5).period({.priority = true, .credit = {}}, &spans), 9);
  std::vector<double> begins;
  for (const Span& span : spans) {
    if (span.activity == Activity::forward) {
      begins.push_back(span.begin.base());
    }
  }
  EXPECT_EQ(begins, (std::vector<double>{5, 7}));  // layer 2 follows layer 1 at 8 without a gap
}

TEST(NextForward, ALargeCreditIsFirstComeFirstServed) {
  const Contrived pieces(0.5);
  EXPECT_DOUBLE_EQ(pieces.period({.priority = true, .credit = Bytes::of(100)}), pieces.period({}));
  const double some = pieces.period({.priority = true, .credit = Bytes::of(1.5)});
  EXPECT_GE(some, 9);
  EXPECT_LE(some, pieces.period({}));
}

TEST(NextForward, AGroupIsGatheredWhenTheOneBeforeIsReached) {
  // Two groups: reduce-scatters of 1 s, ready at 1 and 2; then 0.5 s and 3 s of all-gather. The first gather
  // starts when both scatters are over, the second when forward reaches the first group (DeAR).
  std::vector<Chain> chains = {{s(1), {on(Resource::network, 1), on(Resource::network, 3)}},
                               {s(2), {on(Resource::network, 1), on(Resource::network, 0.5)}}};
  chains[0].part = 1;
  chains[1].part = 0;
  chains[0].late = chains[1].late = 1;
  const std::vector<Seconds> forward = {s(2), s(1)};
  const Breakdown parts = run_timeline({chains, s(2), {}, {}, forward});
  // Backward 2, scatters until 3, first gather until 3.5, second until 6.5, forward of the second until 7.5.
  EXPECT_DOUBLE_EQ(parts.backward_and_sync().base() + 3, 7.5);
  EXPECT_DOUBLE_EQ(parts.exposed_communication.base(), 2.5);
}

TEST(NextForward, WithoutMessagesItIsForwardAlone) {
  const std::vector<Seconds> forward = {s(0), s(2), s(0)};
  EXPECT_DOUBLE_EQ(run_timeline({{}, s(1), {}, {}, forward}).backward_and_sync().base(), 1);
  EXPECT_DOUBLE_EQ(run_timeline({{}, s(0), {}, {.priority = true, .credit = {}}, forward}).step().base(), 0);
}

TEST(NextForward, ACoordinatorsRoundDelaysAMessage) {
  std::vector<Chain> chains = {{s(1), {on(Resource::network, 1)}}};
  chains[0].delay = s(0.25);
  EXPECT_DOUBLE_EQ(run_timeline(chains, s(1), {}).backward_and_sync().base(), 2.25);
  EXPECT_DOUBLE_EQ(run_timeline(chains, s(4), {}).backward_and_sync().base(), 4);
}

}  // namespace
}  // namespace breakeven
