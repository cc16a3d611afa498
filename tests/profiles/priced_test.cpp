// Which codec times does a scheme get: the user's, a curve's, or the roofline's?
#include <gtest/gtest.h>

#include "compressors/builtin.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

/// Encode and decode time that the plan states for 2000 elements, or "roofline".
std::string times(const Candidate& candidate) {
  const std::vector<Shape> shapes = {{2000, 1, Element::f32}};
  const Plan plan = candidate.compressor->plan(shapes, 4);
  Seconds encode;
  Seconds decode;
  for (const Round& round : plan) {
    if (!round.encode.known || !round.decode.known) {
      return "roofline";
    }
    encode += *round.encode.known;
    decode += *round.decode.known;
  }
  return to_string(encode) + " " + to_string(decode) + " " + std::string(name(plan.front().encode.origin));
}

class Priced : public testing::Test {
 protected:
  Priced() { add_builtin(registry_); }
  [[nodiscard]] std::string of(const std::string& spec, const ScenarioSetup& setup) const {
    return times(priced(registry_.make(spec), setup));
  }
  [[nodiscard]] static ScenarioSetup setup() {
    return tiny({{"gradient-bytes", "16000B"}, {"device", "gpu"}, {"backward", "1ms"}, {"workers", "1"}});
  }

  Registry registry_;
};

TEST_F(Priced, ACurveAppliesHoweverItsParametersAreWritten) {
  // 2 ms to encode 2000 elements; decoding takes 1 ms a payload (linear from 0.5 ms for 1000), four payloads.
  EXPECT_EQ(of("topk:ratio=5%", setup()), "2 ms 4 ms measured");
  EXPECT_EQ(of("topk:ratio=0.05", setup()), "2 ms 4 ms measured");
}

TEST_F(Priced, OtherParametersAndOtherSchemesKeepTheRoofline) {
  EXPECT_EQ(of("topk:ratio=1%", setup()), "roofline");
  EXPECT_EQ(of("signsgd", setup()), "roofline");
}

TEST_F(Priced, GivenTimesComeFirstAndAreSharedByElements) {
  // Half of the 4000 elements.
  EXPECT_EQ(of("topk:ratio=5%,encode=8ms,decode=2ms", setup()), "4 ms 1 ms given");
}

TEST_F(Priced, OneGivenTimeAloneIsRefused) {
  EXPECT_EQ(failure([&] { (void)of("topk:encode=8ms", setup()); }),
            "value topk: decode is missing beside encode: expected both (decode=0s where one time stands for "
            "both)");
  EXPECT_EQ(failure([&] { (void)of("topk:decode=8ms", setup()); }),
            "value topk: encode is missing beside decode: expected both (encode=0s where one time stands for "
            "both)");
}

TEST_F(Priced, AGivenTimeIsNoLongerThanAnOptionsTime) {
  EXPECT_EQ(failure([&] { (void)of("topk:encode=1e308s,decode=1s", setup()); }),
            "value topk: encode: \"1e308s\" is out of range: expected 0 s to 1e+06 s");
  EXPECT_EQ(failure([&] { (void)of("topk:encode=0s,decode=1e7s", setup()); }),
            "value topk: decode: \"1e7s\" is out of range: expected 0 s to 1e+06 s");
}

TEST_F(Priced, ACurvesOwnSpreadIsItsUncertainty) {
  ScenarioSetup measured = setup();
  measured.codecs.front().spread = 0.12;
  const Candidate curve = priced(registry_.make("topk:ratio=5%"), measured);
  ASSERT_TRUE(curve.costs);
  EXPECT_EQ(judge_options(measured, curve).codec_uncertainty, 0.12);
  const Candidate roofline = priced(registry_.make("signsgd"), measured);
  EXPECT_FALSE(roofline.costs);
  EXPECT_LT(judge_options(measured, roofline).codec_uncertainty, 0);  // by its origin
}

TEST_F(Priced, ACurveWithUnknownParametersIsAFileError) {
  ScenarioSetup broken = setup();
  broken.codecs.front().scheme = "topk:ration=1%";
  broken.codecs.front().file = "mine.json";
  const std::string message = failure([&] { (void)of("topk", broken); });
  EXPECT_TRUE(message.starts_with("file mine.json: \"topk:ration=1%\": unknown parameter \"ration\": "))
      << message;
}

}  // namespace
}  // namespace breakeven
