// Does a codec profile that we write read back as it was, and does a person like to read it?
#include <gtest/gtest.h>

#include <random>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

void expect_equal(const Curve& a, const Curve& b) {
  ASSERT_EQ(a.points.size(), b.points.size());
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    EXPECT_EQ(a.points[i].elements, b.points[i].elements);
    EXPECT_EQ(a.points[i].time.base(), b.points[i].time.base());
  }
}

void expect_equal(const CodecProfile& a, const CodecProfile& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.summary, b.summary);
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.conditions, b.conditions);
  ASSERT_EQ(a.costs.size(), b.costs.size());
  for (std::size_t i = 0; i < a.costs.size(); ++i) {
    EXPECT_EQ(a.costs[i].scheme, b.costs[i].scheme);
    EXPECT_EQ(a.costs[i].device, b.costs[i].device);
    EXPECT_EQ(a.costs[i].origin, b.costs[i].origin);
    EXPECT_EQ(a.costs[i].spread, b.costs[i].spread);
    EXPECT_EQ(a.costs[i].source, b.costs[i].source);
    expect_equal(a.costs[i].encode, b.costs[i].encode);
    expect_equal(a.costs[i].decode, b.costs[i].decode);
    expect_equal(a.costs[i].decode_next, b.costs[i].decode_next);
  }
}

CodecProfile example() {
  CodecProfile profile;
  profile.name = "mine";
  profile.source = "breakeven measure";
  profile.conditions = {{"machine", "a \"fast\" one"}, {"threads", "1"}};
  CodecCosts costs;
  costs.scheme = "topk:ratio=5%";
  costs.device = "cpu";
  costs.source = profile.source;
  costs.encode.points = {{1024, Seconds::of(1.5e-6)}, {25557032, Seconds::of(0.0123)}};
  costs.decode.points = {{1024, Seconds::of(250e-9)}};
  costs.spread = 0.025;
  profile.costs = {costs};
  return profile;
}

TEST(WriteCodec, IsShortAndReadable) {
  EXPECT_EQ(write_codec(example()), R"({
  "schema": 1,
  "name": "mine",
  "source": "breakeven measure",
  "device": "cpu",
  "origin": "measured",
  "conditions": {
    "machine": "a \"fast\" one",
    "threads": "1"
  },
  "costs": [
    {
      "scheme": "topk:ratio=5%",
      "encode": [[1024, "1.5 us"], [25557032, "12.3 ms"]],
      "decode": [[1024, "250 ns"]],
      "spread": "2.5%"
    }
  ]
}
)");
}

TEST(WriteCodec, ReadsBackTheSameValues) {
  constexpr unsigned kSeed = 20240611;
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> exponent(-18, 24);
  std::uniform_real_distribution<double> share(0, 1);
  const auto curve = [&](std::size_t points) {
    Curve result;
    double elements = 0;
    for (std::size_t i = 0; i < points; ++i) {
      elements += i % 2 == 0 ? std::floor(1 + share(random) * 1e6) : share(random) + 1e-3;
      // Whatever a double holds; whole microseconds, as people round; and nothing.
      const double whole = std::floor(share(random) * 1e6) / 1e6;
      result.points.push_back({elements, Seconds::of(i % 3 == 0   ? std::pow(10, exponent(random))
                                                     : i % 3 == 1 ? whole
                                                                  : 0)});
    }
    return result;
  };
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", profile " + std::to_string(i));
    CodecProfile profile = example();
    profile.summary = i % 2 == 0 ? "gr\u00fc\u00dfe \\ \"quoted\"" : "";
    profile.costs.clear();
    for (int c = 0; c < 1 + i % 3; ++c) {
      CodecCosts costs;
      costs.scheme = "topk:ratio=" + std::to_string(c + 1) + "%";
      costs.device = "cpu";
      costs.origin = i % 2 == 0 ? Origin::measured : Origin::published;
      costs.encode = curve(1 + static_cast<std::size_t>(i % 5));
      costs.decode = curve(2);
      costs.decode_next = c == 0 ? Curve{} : curve(3);
      costs.spread = c == 1 ? 0 : share(random);
      costs.source = c == 0 ? profile.source : "another";
      profile.costs.push_back(costs);
    }
    const std::string text = write_codec(profile);
    expect_equal(profile, read_codec(text, "written"));
    EXPECT_EQ(text, write_codec(read_codec(text, "written")));
  }
}

TEST(WriteCodec, ReplacesWhatAProfileCannotHold) {
  CodecProfile profile = example();
  profile.conditions = {{"machine", "two\nlines\x7f"}, {"compiler", "g\xff++"}, {"simd", ""}};
  const CodecProfile read = read_codec(write_codec(profile), "written");
  ASSERT_EQ(read.conditions.size(), 2U);
  EXPECT_EQ(read.conditions[0].second, "two lines ");
  EXPECT_EQ(read.conditions[1].second, "g\ufffd++");
}

TEST(WriteCodec, IsOfOneDevice) {
  CodecProfile profile = example();
  profile.costs.push_back(profile.costs.front());
  profile.costs.back().device = "gpu";
  EXPECT_EQ(
      failure([&] { (void)write_codec(profile); }),
      "value codec profile: has costs of several devices or origins: expected costs of one device and one "
      "origin");
  profile.costs.clear();
  EXPECT_EQ(failure([&] { (void)write_codec(profile); }),
            "value codec profile: has no costs: expected costs of one device and one origin");
}

TEST(Rounded, KeepsTheDigitsThatAProfileShows) {
  CodecProfile profile = example();
  profile.costs.front().encode.points = {{1024, rounded(Seconds::of(1.2345678e-5))},
                                         {2048, rounded(Seconds::of(0.99999999))},
                                         {4096, rounded(Seconds{})}};
  EXPECT_NE(write_codec(profile).find(R"([[1024, "12.346 us"], [2048, "1 s"], [4096, "0 ns"]])"),
            std::string::npos)
      << write_codec(profile);
  EXPECT_EQ(rounded(Seconds::of(1.2345678e-5), 2).base(), 12e-6);
}

}  // namespace
}  // namespace breakeven
