// Are published cases read strictly, and what do they come to?
#include <gtest/gtest.h>

#include "compressors/builtin.h"
#include "profiles/published.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

/// A source with one case, `more` standing for further keys of it.
std::string source(const std::string& cases, const std::string& more = {}) {
  return R"({"schema": 1, "name": "talk", "summary": "a talk", "source": "slides", "bound": {"within": "50%"},
    "kind": "measured", "tolerance": "10%", "quantity": "step",
    "options": {"gradient-bytes": "100 MB", "forward": "50 ms", "backward": "100 ms", "workers": 2, "bandwidth": "10 Gbit/s",
                "latency": "0 s", "gamma": 1},)" +
         more + R"( "cases": [)" + cases + "]}";
}

Published read(const std::string& cases, const std::string& more = {}) {
  return read_published(source(cases, more), "talk.json");
}

CheckedSource checked(const Published& published) {
  Registry registry;
  add_builtin(registry);
  return check(published, Catalogue(), registry);
}

std::string refused(const std::string& cases, const std::string& more = {}) {
  return failure([&] { (void)read(cases, more); });
}

TEST(ReadPublished, ACaseTakesWhatItDoesNotStateFromItsSource) {
  const Published published = read(R"({"id": "a", "expected": "230 ms"},
              {"id": "b", "options": {"workers": 4}, "scheme": "fp16", "quantity": "scaling", "kind": "published",
               "tolerance": "1.5 pp", "expected": "70%", "missing": "a node"})",
                                   R"("left_out": ["c: no setup"],)");
  ASSERT_EQ(published.cases.size(), 2U);
  const PublishedCase& a = published.cases[0];
  EXPECT_EQ(a.options.at("workers"), "2");
  EXPECT_EQ(a.scheme, "none");
  EXPECT_EQ(a.figure, Figure::step);
  EXPECT_EQ(a.kind, CaseKind::measured);
  EXPECT_DOUBLE_EQ(a.expected, 0.23);
  EXPECT_EQ(to_string(a.tolerance), "10 %");
  const PublishedCase& b = published.cases[1];
  EXPECT_EQ(b.options.at("workers"), "4");
  EXPECT_EQ(b.options.at("backward"), "100 ms");
  EXPECT_EQ(b.scheme, "fp16");
  EXPECT_EQ(b.figure, Figure::scaling);
  EXPECT_EQ(b.kind, CaseKind::published);
  EXPECT_DOUBLE_EQ(b.expected, 0.7);
  EXPECT_EQ(to_string(b.tolerance), "1.5 pp");
  EXPECT_EQ(b.missing, "a node");
  EXPECT_EQ(published.left_out, std::vector<std::string>{"c: no setup"});
  EXPECT_EQ(published.least_within, 0.5);
  EXPECT_FALSE(published.largest_error);
}

TEST(ReadPublished, EveryMistakeNamesItsPlace) {
  const std::string at = "file talk.json: /cases/0";
  EXPECT_EQ(refused(R"({"id": "a", "expected": "230"})"),
            at + "/expected: \"230\" has no unit: expected a number and a unit, such as 122ms or 1.6us");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "0 ms"})"), at + "/expected: \"0 ms\" must be above 0");
  EXPECT_EQ(refused(R"({"id": "a", "expectd": "1 ms"})"),
            at + ": unknown key \"expectd\": expected one of id, options, scheme, quantity, kind, expected, "
                 "tolerance, missing (did you mean expected?)");
  EXPECT_EQ(refused(R"({"expected": "1 ms"})"), at + ": the key \"id\" is missing: expected the case's name");
  EXPECT_EQ(refused(R"({"id": "a"})"),
            at + ": the key \"expected\" is missing: expected the value that the source states");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "1 ms", "options": {"worker": 2}})"),
            at + "/options: unknown option \"worker\": expected an option of query (did you mean workers?)");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "1 ms", "tolerance": "1 pp"})"),
            at + "/tolerance: percentage points of what is no share: expected a fraction, such as 5%");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "1 ms", "tolerance": "much"})"),
            at + "/tolerance: \"much\" is no tolerance: expected a fraction, such as 5%, or percentage "
                 "points, such as 1 pp");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "1 ms", "tolerance": "101%"})"),
            at + "/tolerance: \"101%\" is out of range: expected 0% to 100%");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "draws", "quantity": "sign"})"),
            at + "/expected: unknown sign \"draws\": expected one of loses, wins");
  EXPECT_EQ(refused(R"({"id": "a", "expected": "-2", "quantity": "speedup"})"),
            at + "/expected: \"-2\" must be above 0: expected a factor, such as 1.25");
  EXPECT_TRUE(refused(R"({"id": "a", "expected": "1 ms", "quantity": "steps"})")
                  .starts_with(at + "/quantity: unknown quantity \"steps\": expected one of step, "));
  EXPECT_TRUE(refused(R"({"id": "a", "expected": "1 ms", "kind": "guessed"})")
                  .starts_with(at + "/kind: unknown kind \"guessed\": expected one of exact, "));
  EXPECT_EQ(refused(R"({"id": "a", "expected": "1 ms"}, {"id": "a", "expected": "1 ms"})"),
            "file talk.json: /cases/1/id: \"a\" is there twice: expected a name of its own");
}

TEST(ReadPublished, AnOrderingNamesOtherCases) {
  const std::string a = R"({"id": "a", "expected": "1 ms"},)";
  EXPECT_EQ(refused(a + R"({"id": "o", "quantity": "ordering", "expected": ["a"]})"),
            "file talk.json: /cases/1/expected: is a list of 1: expected at least 2");
  EXPECT_EQ(refused(a + R"({"id": "o", "quantity": "ordering", "expected": ["a", "o"]})"),
            "file talk.json: /cases/1/expected/1: unknown case \"o\": expected a (did you mean a?)");
  EXPECT_TRUE(refused(a + R"({"id": "o", "quantity": "ordering", "expected": ["a", "a"], "scheme": "fp16"})")
                  .starts_with("file talk.json: /cases/1: unknown key \"scheme\""));
}

TEST(ReadPublished, ABoundHoldsSomething) {
  const auto bound = [](const std::string& text) {
    return failure([&] {
      (void)read_published(
          R"({"schema": 1, "name": "x", "source": "y", "bound": )" + text + R"(, "cases": []})", "f");
    });
  };
  EXPECT_EQ(
      bound("{}"),
      "file f: /bound: holds nothing: expected \"within\", a share of the cases, or \"largest\", an error");
  EXPECT_EQ(bound(R"({"within": "0%"})"),
            "file f: /bound/within: \"0%\" is out of range: expected above 0 and at most 1, such as 92%");
  EXPECT_EQ(bound(R"({"largest": 0})"),
            "file f: /bound/largest: \"0\" must be above 0: expected a fraction, such as 5%");
}

TEST(CheckPublished, ErrorsMedianAndBound) {
  // 80 ms of network in one message after 150 ms of compute.
  const Published published = read(
      R"({"id": "exact", "expected": "230 ms"}, {"id": "near", "expected": "220 ms"}, {"id": "far", "expected": "115 ms"},
         {"id": "share", "quantity": "scaling", "expected": "66%", "tolerance": "1 pp"},
         {"id": "worth", "quantity": "workers_worth", "expected": 1.3043478},
         {"id": "bytes", "quantity": "payload", "expected": "100 MB"}, {"id": "out", "quantity": "wire", "expected": "100 MB"},
         {"id": "rate", "quantity": "throughput", "options": {"batch": 23}, "expected": "200 /s"},
         {"id": "exchange", "quantity": "communication", "expected": "80 ms"},
         {"id": "sync", "quantity": "backward_and_sync", "expected": "180 ms"},
         {"id": "bus", "quantity": "bus_bandwidth", "expected": "1.25 GB/s"})");
  const CheckedSource result = checked(published);
  const auto error = [&](std::size_t i) { return result.cases.at(i).error; };
  EXPECT_NEAR(error(0), 0, 1e-12);
  EXPECT_NEAR(error(1), 230.0 / 220 - 1, 1e-12);
  EXPECT_NEAR(error(2), 1, 1e-12);
  EXPECT_FALSE(result.cases[2].within);
  EXPECT_NEAR(error(3), 150.0 / 230 - 0.66, 1e-12);
  EXPECT_TRUE(result.cases[3].within);
  for (std::size_t i = 4; i < 11; ++i) {
    EXPECT_NEAR(error(i), 0, 1e-7) << published.cases[i].id;
  }
  EXPECT_EQ(result.within, 10U);
  EXPECT_NEAR(result.largest, 1, 1e-12);
  EXPECT_LT(result.median, 1e-7);
  EXPECT_TRUE(result.holds);
  Published stricter = published;
  stricter.least_within = 0.95;
  EXPECT_FALSE(checked(stricter).holds);
  stricter.least_within = 0.9;
  stricter.largest_error = 0.99;
  EXPECT_FALSE(checked(stricter).holds);
  stricter.largest_error = 1.01;
  EXPECT_TRUE(checked(stricter).holds);
}

TEST(CheckPublished, SignsSpeedupsAndOrders) {
  const std::string half = R"("scheme": "fp16:encode=0s,decode=0s")";
  const CheckedSource result = checked(read(
      R"({"id": "plain", "expected": "230 ms"}, {"id": "half", "expected": "190 ms", )" + half +
      R"(}, {"id": "gain", "quantity": "speedup", "expected": 1.2105263, )" + half +
      R"(}, {"id": "right", "quantity": "sign", "expected": "wins", "tolerance": "0%", )" + half +
      R"(}, {"id": "wrong", "quantity": "sign", "expected": "loses", "tolerance": "0%", )" + half +
      R"(}, {"id": "order", "quantity": "ordering", "kind": "ordering", "expected": ["plain", "half"], "tolerance": "0%"},
            {"id": "reversed", "quantity": "ordering", "kind": "ordering", "expected": ["half", "plain"], "tolerance": "30%"})"));
  EXPECT_NEAR(result.cases[2].error, 0, 1e-7);
  EXPECT_TRUE(result.cases[3].within);
  EXPECT_FALSE(result.cases[4].within);
  EXPECT_NEAR(result.cases[4].error, 230.0 / 190 - 1, 1e-12);
  EXPECT_EQ(result.cases[5].text, "the same");
  EXPECT_EQ(result.cases[5].error, 0);
  EXPECT_EQ(result.cases[6].text, "plain > half");
  EXPECT_NEAR(result.cases[6].error, 230.0 / 190 - 1, 1e-12);
  EXPECT_TRUE(result.cases[6].within) << "neighbours may be out of order by the tolerance";
}

TEST(CheckPublished, ACaseThatCannotBeAskedIsNamed) {
  EXPECT_EQ(
      failure([] { (void)checked(read(R"({"id": "a", "options": {"workers": "x"}, "expected": "1 ms"})")); }),
      "file talk: case a: --workers: cannot read \"x\" as a whole number: expected a whole number, such as "
      "8");
  EXPECT_TRUE(failure([] {
                (void)checked(read(R"({"id": "a", "scheme": "fp15", "expected": "1 ms"})"));
              }).starts_with("file talk: case a: "));
  EXPECT_TRUE(failure([] {
                (void)checked(read(R"({"id": "a", "quantity": "throughput", "expected": "1 /s"})"));
              }).starts_with("file talk: case a: --batch: missing"));
}

}  // namespace
}  // namespace breakeven
