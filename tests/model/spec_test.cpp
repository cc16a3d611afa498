// Are specs checked against their rows, and do measured, given and canonical texts mean what they say?
#include "model/spec.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/codec.h"
#include "model/error.h"
#include "model/registry.h"
#include "tests/model/fakes.h"

namespace breakeven {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::vector<Param> rows() {
  return {{.name = "rank",
           .kind = Param::Kind::integer,
           .fallback = "4",
           .low = 1,
           .high = 1024,
           .choices = {},
           .help = ""},
          {.name = "ratio",
           .kind = Param::Kind::fraction,
           .fallback = "1%",
           .low = 0,
           .high = 1,
           .choices = {},
           .help = "",
           .above_low = true},
          {.name = "cap",
           .kind = Param::Kind::bytes,
           .fallback = "25MiB",
           .low = 0,
           .high = 1e12,
           .choices = {},
           .help = ""},
          {.name = "wait",
           .kind = Param::Kind::time,
           .fallback = "5ms",
           .low = 0,
           .high = 1,
           .choices = {},
           .help = ""},
          {.name = "index",
           .kind = Param::Kind::choice,
           .fallback = "u64",
           .choices = {"u32", "u64"},
           .help = ""}};
}

TEST(Spec, ValuesAreReadByTheirKind) {
  const Params params(rows(), "rank=8,ratio=5%,cap=1 MiB,wait=2us,index=u32");
  EXPECT_EQ(params.count("rank"), 8U);
  EXPECT_DOUBLE_EQ(params.number("ratio"), 0.05);
  EXPECT_DOUBLE_EQ(params.number("cap"), 1048576);
  EXPECT_DOUBLE_EQ(params.number("wait"), 2e-6);
  EXPECT_TRUE(params.is("index", "u32"));
  EXPECT_THROW((void)params.number("none"), std::out_of_range);
}

TEST(Spec, CanonicalTextHoldsOnlyWhatDiffers) {
  EXPECT_EQ(Params(rows(), "").text(), "");
  EXPECT_EQ(Params(rows(), "index=u64,rank=4,ratio=0.01").text(), "");
  EXPECT_EQ(Params(rows(), "index=u32,rank=8").text(), "rank=8,index=u32");
  EXPECT_EQ(Params(rows(), Params(rows(), "cap=1 MiB,rank=8").text()).text(), "rank=8,cap=1MiB");
}

TEST(Spec, WhatDoesNotFitIsRefused) {
  const auto read = [](const char* text) { return message([text] { Params(rows(), text); }); };
  EXPECT_EQ(read("rank"), "cannot read \"rank\": expected key=value");
  EXPECT_EQ(read("rank="), "cannot read \"rank=\": expected key=value");
  EXPECT_EQ(read("rank=4,,"), "nothing follows the last comma: expected key=value");
  EXPECT_EQ(read("rank=0"), "rank: \"0\" is out of range: expected 1 to 1024");
  EXPECT_EQ(read("ratio=0"), "ratio: \"0\" is out of range: expected above 0 and at most 1");
  EXPECT_EQ(read("ratio=101%"), "ratio: \"101%\" is out of range: expected above 0 and at most 1");
  EXPECT_EQ(read("ratio=nan"), "ratio: \"nan\" is not a finite number: expected a number");
  EXPECT_EQ(read("cap=25"), "cap: \"25\" has no unit: expected a number and a unit, such as 25MiB or 97.5MB");
  EXPECT_EQ(read("index=u16"), "index: unknown value \"u16\": expected one of u32, u64");
  EXPECT_EQ(read("rnak=4"),
            "unknown parameter \"rnak\": expected one of rank, ratio, cap, wait, index (did you mean rank?)");
  EXPECT_EQ(read("rank=4,rank=5"), "\"rank\" is given twice: expected each key once");
}

Registry registry() {
  Registry result;
  result.add({.name = "fake",
              .summary = "",
              .params = rows(),
              .placement = Placement::hook,
              .source = "",
              .make = [](const Params&) { return std::make_unique<testing::Fake>(0.5, 3_ms, 2_ms); }});
  return result;
}

TEST(Registry, MakesByCanonicalSpecAndKeepsGivenTimesApart) {
  const Registry schemes = registry();
  const Candidate candidate = schemes.make("fake:encode=10ms,rank=8,decode=0s");
  EXPECT_EQ(candidate.spec, "fake:rank=8,encode=0.01s,decode=0s");
  EXPECT_EQ(candidate.plain_spec, "fake:rank=8");
  EXPECT_DOUBLE_EQ(candidate.encode->base(), 0.01);
  EXPECT_EQ(*candidate.decode, Seconds{});
  EXPECT_FALSE(schemes.make("fake").encode);
  EXPECT_EQ(schemes.make(candidate.spec).spec, candidate.spec);
}

TEST(Registry, ErrorsNameTheScheme) {
  Registry schemes = registry();
  EXPECT_EQ(message([&] { (void)schemes.make("fkae"); }),
            "unknown scheme \"fkae\": expected fake (did you mean fake?)");
  EXPECT_EQ(message([&] { (void)schemes.make("fake:rank=0"); }),
            "fake: rank: \"0\" is out of range: expected 1 to 1024");
  EXPECT_EQ(message([&] { (void)schemes.make("fake:"); }),
            "fake: nothing follows the colon: expected name:key=value");
  EXPECT_EQ(message([&] { (void)schemes.make("fake:encode=-1ms"); }),
            "fake: encode: \"-1ms\" is out of range: expected 0 s to 1e+06 s");
  EXPECT_EQ(
      message([&] { schemes.add({.name = "fake", .summary = "", .params = {}, .source = "", .make = {}}); }),
      "scheme \"fake\" exists already: expected a name of its own");
}

TEST(Codec, CurvesInterpolateWithAFixedAndAPerElementPart) {
  const Curve curve{{{1000, 1_ms}, {2000, 2_ms}, {4000, 6_ms}}};
  EXPECT_DOUBLE_EQ(curve.at(10).base(), 1e-3);
  EXPECT_DOUBLE_EQ(curve.at(1500).base(), 1.5e-3);
  EXPECT_DOUBLE_EQ(curve.at(2000).base(), 2e-3);
  EXPECT_NEAR(curve.at(5000).base(), 8e-3, 1e-15);
  EXPECT_TRUE(curve.covers(1000));
  EXPECT_FALSE(curve.covers(999));
  EXPECT_DOUBLE_EQ((Curve{{{1000, 1_ms}}}.at(3000).base()), 3e-3);
  // A curve that falls, by noise, does not fall on.
  const Curve noisy{{{1000, 2_ms}, {2000, 1500_us}}};
  EXPECT_DOUBLE_EQ(noisy.at(1500).base(), 1.75e-3);
  EXPECT_DOUBLE_EQ(noisy.at(1e9).base(), 1.5e-3);
}

TEST(Codec, AMeasuredCurveReplacesTheRooflineAndGathersDecodeOncePerPayload) {
  class Gathered final : public Compressor {
   public:
    [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
      Round round;
      round.exchange = Exchange::all_gather;
      round.encode.elements = round.decode.elements = static_cast<double>(elements(tensors));
      round.decode.repeats = static_cast<double>(workers);
      return {round, Round{}};
    }
  };
  const CodecCosts costs{
      "x", "y", Origin::measured, Curve{{{1000, 1_ms}, {2000, 2_ms}}}, Curve{{{1000, 3_ms}}}, {}, 0, ""};
  const auto timed = with_costs(std::make_shared<Gathered>(), costs);
  const Shape shape{1000, 1};
  const Plan plan = timed->plan({&shape, 1}, 4);
  EXPECT_DOUBLE_EQ(plan[0].encode.known->base(), 1e-3);
  EXPECT_DOUBLE_EQ(plan[0].decode.known->base(), 12e-3);
  EXPECT_EQ(plan[0].encode.origin, Origin::measured);
  EXPECT_EQ(*plan[1].encode.known, Seconds{});
}

TEST(Codec, GivenTimesAreSharedByElements) {
  const auto timed = with_given(std::make_shared<testing::Fake>(0.5, 3_ms, 2_ms), 40_ms, 20_ms, 4000);
  const Shape shape{1000, 1};
  const Plan plan = timed->plan({&shape, 1}, 4);
  EXPECT_DOUBLE_EQ(plan[0].encode.known->base(), 10e-3);
  EXPECT_DOUBLE_EQ(plan[0].decode.known->base(), 5e-3);
  EXPECT_EQ(plan[0].decode.origin, Origin::given);
}

}  // namespace
}  // namespace breakeven
