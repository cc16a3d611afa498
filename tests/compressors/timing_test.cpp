// Does the timing library run what a plan calls encoding and decoding, no more and no less? (No time is
// judged.)
#include "compressors/trial/timing.h"

#include <gmock/gmock.h>

#include <cstring>

#include "model/error.h"

namespace breakeven {
namespace {

using testing::ElementsAre;

/// Calls as they come: "e0" of one worker, "d1/4" among four.
using Log = std::vector<std::string>;

class Logging final : public Kernel {
 public:
  Logging(Plan plan, std::size_t workers, Log& log)
      : plan_(std::move(plan)), suffix_(workers == 1 ? "" : "/" + std::to_string(workers)), log_(log) {}
  std::span<const std::byte> encode(std::size_t round, std::span<const float> /*gradient*/) override {
    log_.push_back("e" + std::to_string(round) + suffix_);
    sent_.resize(static_cast<std::size_t>(plan_[round].payload.base()));
    return sent_;
  }
  void decode(std::size_t round, std::span<const std::byte> /*received*/,
              std::span<float> /*mean*/) override {
    log_.push_back("d" + std::to_string(round) + suffix_);
  }

 private:
  Plan plan_;
  std::string suffix_;
  Log& log_;
  std::vector<std::byte> sent_;
};

/// Rounds of which only the numbers of coded elements matter.
struct Coded {
  double encode = 0, decode = 0;
  Exchange exchange = Exchange::all_reduce;
  bool by_worker = false;
};
class Planned final : public Compressor {
 public:
  explicit Planned(std::vector<Coded> rounds, bool code = true) : rounds_(std::move(rounds)), code_(code) {}
  [[nodiscard]] Plan plan(std::span<const Shape> /*tensors*/, std::size_t workers) const override {
    Plan plan;
    for (const Coded& coded : rounds_) {
      Round round;
      round.encode.elements = coded.encode;
      round.decode.elements = coded.decode;
      round.decode.repeats = coded.by_worker ? static_cast<double>(workers) : 1;
      round.exchange = coded.exchange;
      round.payload = Bytes::of(16);
      plan.push_back(round);
    }
    return plan;
  }
  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    return code_ ? std::make_unique<Logging>(plan(tensors, worker.workers), worker.workers, log) : nullptr;
  }
  mutable Log log;

 private:
  std::vector<Coded> rounds_;
  bool code_;
};

/// What one cold repeat calls, the call before it that is not timed included.
Log calls_of(const Planned& scheme) {
  CodecTimer timer(scheme, 64, 1, GradientKind::normal);
  scheme.log.clear();
  static_cast<void>(timer.time(1, true));
  return scheme.log;
}

TEST(Timing, WhatThePlanDoesNotCountApartBelongsToEncoding) {
  // As PowerSGD: a dense round, then the factors; the time lies in the first encoding and the last decoding.
  const Planned scheme({{0, 0}, {64, 0}, {0, 64}});
  EXPECT_THAT(calls_of(scheme), ElementsAre("e0", "d0", "e1", "d1", "e2", "d2",  //
                                            "e0", "d0", "e1", "d1", "e2", "d2"));
}

TEST(Timing, CodingsOfTheirOwnAreNotCountedTwice) {
  // As 1-bit Adam: the sum of the chunks and the coding of the sum have elements of their own.
  const Planned scheme({{64, 64, Exchange::all_to_all}, {16, 64, Exchange::all_gather}});
  EXPECT_THAT(calls_of(scheme), ElementsAre("e0", "d1", "e0", "d1"));
}

TEST(Timing, GatheredPayloadsAreDecodedTogetherToo) {
  const Planned gathered({{64, 64, Exchange::all_gather, true}});
  EXPECT_THAT(calls_of(gathered), ElementsAre("e0", "d0", "d0/4", "e0", "d0", "d0/4"));
  EXPECT_TRUE(time_codec(gathered, 64, {.repeats = 3}).decode_next.has_value());
  const Planned summed({{64, 64}});
  EXPECT_FALSE(time_codec(summed, 64, {.repeats = 3}).decode_next.has_value());
}

TEST(Timing, NoFurtherPayloadLooksFree) {
  const Planned gathered({{64, 64, Exchange::all_gather, true}});  // one payload takes as long as four
  for (int i = 0; i < 20; ++i) {
    const CodecTime time = time_codec(gathered, 64, {.repeats = 3});
    EXPECT_GT(time.decode_next.value_or(time.decode), Seconds{});
  }
}

TEST(Timing, EveryFigureComesFromTheRepeats) {
  const Planned scheme({{64, 64}});
  const CodecTime time = time_codec(scheme, 64, {.repeats = 5});
  EXPECT_EQ(time.elements, 64);
  EXPECT_GT(time.encode, Seconds{});
  EXPECT_GT(time.decode, Seconds{});
  EXPECT_GT(time.read, Seconds{});
  EXPECT_LE(time.least_encode, time.encode);
  EXPECT_LE(time.least_decode, time.decode);
  EXPECT_EQ(time.spread, std::max(time.encode_spread, time.decode_spread));
  const CodecTime once = time_codec(scheme, 64, {.repeats = 1});
  EXPECT_EQ(once.spread, 0);
  EXPECT_EQ(once.least_encode, once.encode);
}

TEST(Timing, WhatIsSentAsItIsHasNoTime) {
  const Planned scheme({{0, 0}});
  EXPECT_THAT(calls_of(scheme), ElementsAre());
  EXPECT_EQ(time_codec(scheme, 64, {}).elements, 0);
}

TEST(Timing, ASchemeWithoutCodeIsAnError) {
  EXPECT_THROW(time_codec(Planned({{64, 64}}, false), 64, {}), Error);
}

TEST(Timing, AMessageIsANearlySquareMatrixAndTheRest) {
  EXPECT_THAT(timed_message(1 << 20), ElementsAre(Shape{1024, 1024}));
  EXPECT_THAT(timed_message(25'557'032), ElementsAre(Shape{5055, 5055}, Shape{4007, 1}));
  EXPECT_THAT(timed_message(3), ElementsAre(Shape{3, 1}));
  for (std::size_t n = 1; n < 300; ++n) {
    EXPECT_EQ(elements(timed_message(n)), n);
  }
}

TEST(Timing, MemoryCountsEveryPayload) {
  const Planned summed({{64, 64}});
  const Planned gathered({{64, 64, Exchange::all_gather, true}});
  EXPECT_GE(timing_memory(summed, 1 << 20), Bytes::of(2 * 4 * (1 << 20))) << "gradient and mean";
  EXPECT_GT(timing_memory(gathered, 1 << 20), 1.9 * timing_memory(summed, 1 << 20));
}

}  // namespace
}  // namespace breakeven
