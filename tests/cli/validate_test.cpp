// Does `validate` say how close predictions are, in every format, and fail when a bound is broken?
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiles/catalogue.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// 230 ms are predicted; 200 are stated.
std::string talk(const std::string& bound) {
  return R"({"schema": 1, "name": "talk", "summary": "a talk", "source": "slides", "bound": )" + bound +
         R"(, "quantity": "step", "kind": "measured", "tolerance": "10%",
    "options": {"gradient-bytes": "100 MB", "forward": "50 ms", "backward": "100 ms", "workers": 2, "bandwidth": "10 Gbit/s",
                "latency": "0 s", "gamma": 1},
    "cases": [{"id": "right", "expected": "230 ms"}, {"id": "off", "expected": "200 ms", "missing": "a slow disk"}]})";
}

class Validate : public WithFiles {};

TEST_F(Validate, EverySourceKeepsItsBound) {
  const Result result = invoke({"validate", "--format", "json"});
  EXPECT_EQ(result.status, kAnswered) << result.err;
  const json answer = json::parse(result.out);
  EXPECT_EQ(answer.at("schema"), "breakeven.validate");
  EXPECT_EQ(answer.at("sources").size(), Catalogue().names("published").size());
  for (const json& source : answer.at("sources")) {
    EXPECT_TRUE(source.at("holds").get<bool>()) << source.at("name");
    EXPECT_EQ(source.at("results").size(), source.at("cases").get<std::size_t>());
    for (const json& one : source.at("results")) {
      EXPECT_TRUE(one.at("within").get<bool>() || !one.at("missing").get<std::string>().empty())
          << source.at("name") << ": " << one.at("id") << " misses, and nobody says why";
      if (one.at("kind") == "exact") {
        EXPECT_TRUE(one.at("within").get<bool>()) << source.at("name") << ": " << one.at("id");
      }
    }
  }
}

// DDP's own steps, from what was measured of their parts.
TEST_F(Validate, RealStepsOverGlooAreMetAtTheMedianAndEveryWinnerIsRight) {
  const json answer = json::parse(invoke({"validate", "ddp-gloo", "--format", "json"}).out);
  std::vector<double> errors;
  for (const json& one : answer.at("sources")[0].at("results")) {
    if (one.at("quantity") == "sign") {
      EXPECT_TRUE(one.at("within").get<bool>()) << one.at("id");
    } else {
      errors.push_back(std::abs(one.at("error").get<double>()));
    }
  }
  ASSERT_EQ(errors.size(), 53U);
  std::nth_element(errors.begin(), errors.begin() + 26, errors.end());
  EXPECT_LT(errors[26], 0.12);
}

TEST_F(Validate, ABrokenBoundFails) {
  const std::string file = write("talk.json", talk(R"({"within": "100%"})"));
  const Result broken = invoke({"validate", file});
  EXPECT_EQ(broken.status, kFailed);
  EXPECT_EQ(broken.err, "breakeven: 1 of 1 sources breaks its bound\n");
  EXPECT_THAT(broken.out,
              StartsWith("source  cases  within tolerance  median  largest error  bound         holds\n"
                         "talk        2                 1   7.5 %           15 %  100 % within  no\n"));
  EXPECT_EQ(invoke({"validate", write("talk.json", talk(R"({"largest": "14%"})"))}).status, kFailed);
  const Result two = invoke({"validate", file, file});
  EXPECT_EQ(two.err, "breakeven: 2 of 2 sources break their bound\n");
}

TEST_F(Validate, ABoundThatHoldsDoesNot) {
  const Result result =
      invoke({"validate", write("talk.json", talk(R"({"within": "50%", "largest": "16%"})"))});
  EXPECT_EQ(result.status, kAnswered);
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, HasSubstr("2 cases; 1 of 1 sources hold their bound. Every case:"));
  EXPECT_THAT(result.out, HasSubstr("230 ms      0       10 %"));
  EXPECT_THAT(result.out, HasSubstr("+15 %       10 %  a slow disk\n"));
}

TEST_F(Validate, WithoutNamesOnlyMissesAreShown) {
  const std::string folder_of = (folder() / "profiles").string();
  std::filesystem::create_directories(folder_of + "/published");
  std::ofstream(folder_of + "/published/talk.json") << talk(R"({"within": "50%"})");
  const Result result = invoke({"validate", "--profiles", folder_of, "--format", "markdown"});
  EXPECT_EQ(result.status, kAnswered) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("| talk | off | none | step | 200 ms | 230 ms | +15 % | 10 % | a slow disk |\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("| talk | right |")));
  EXPECT_THAT(invoke({"validate", "--profiles", folder_of, "talk", "--format", "markdown"}).out,
              HasSubstr("| talk | right |"));
  EXPECT_THAT(invoke({"list", "published", "--profiles", folder_of}).out, HasSubstr("talk"));
  EXPECT_THAT(invoke({"list", "published", "talk", "--profiles", folder_of}).out, HasSubstr("off, step"));
}

TEST_F(Validate, RowsForPrograms) {
  const std::string file = write("talk.json", talk(R"({"within": "50%"})"));
  const Result csv = invoke({"validate", file, "--format", "csv"});
  EXPECT_THAT(csv.out,
              StartsWith("source,case,kind,quantity,scheme,expected_text,expected,predicted,error,tolerance,"
                         "points,within,missing\ntalk,right,measured,step,none,230 ms,0.23,0.2"));
  const Result rows = invoke({"validate", file, "--format", "jsonl"});
  std::istringstream lines(rows.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(json::parse(line).at("source"), "talk");
  }
  EXPECT_EQ(count, 2U);
}

TEST_F(Validate, UnknownSourcesAndBadFilesAreOneLine) {
  const Result unknown = invoke({"validate", "agarwal2021-equation"});
  EXPECT_EQ(unknown.status, kUsage);
  EXPECT_THAT(
      unknown.err,
      StartsWith("breakeven: error: validate: unknown source \"agarwal2021-equation\": expected one of "));
  EXPECT_THAT(unknown.err, HasSubstr("(did you mean agarwal2021-equations?)\n"));
  const std::string file = write("bad.json", "{\"schema\": 1}");
  const Result bad = invoke({"validate", file});
  EXPECT_EQ(bad.status, kFailed);
  EXPECT_EQ(bad.out, "");
  EXPECT_EQ(bad.err,
            "breakeven: error: " + file + ": the key \"name\" is missing: expected the source's name\n");
}

}  // namespace
}  // namespace breakeven::cli
