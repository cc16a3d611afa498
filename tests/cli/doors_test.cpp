// Do a user's own schemes work wherever a built-in one does?
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Doors : public WithFiles {};

/// A JSON file or a shared object, and the scheme that it brings.
struct Door {
  std::vector<std::string> flags;
  std::string scheme;
};
std::vector<Door> doors() {
  return {{{"--scheme-file", described("two-bit")}, "two-bit"},
          {{"--scheme-file=" + described("low-rank-4")}, "low-rank-4"},
          {{"--plugin", plugin("every")}, "every"},
          {{"--plugin", plugin("every")}, "every:k=5"}};
}

TEST_F(Doors, ListShowsTheScheme) {
  for (const Door& door : doors()) {
    const std::string name = door.scheme.substr(0, door.scheme.find(':'));
    EXPECT_THAT(invoke(joined({"list", "schemes", "--names"}, door.flags)).out,
                HasSubstr("\n" + name + "\n"));
    const Result one = invoke(joined({"list", "schemes", name}, door.flags));
    EXPECT_EQ(one.status, 0) << one.err;
    EXPECT_THAT(one.out, HasSubstr(name == "every" ? "kernel                   yes" : "described only"));
    EXPECT_EQ(invoke({"list", "schemes", name}).status, kUsage) << "only with its door open";
  }
}

TEST_F(Doors, QuerySweepAndTraceTakeTheScheme) {
  for (const Door& door : doors()) {
    const std::vector<std::string> arguments =
        joined(joined(resnet_setup(), door.flags), {"-s", door.scheme});
    const Result query = invoke(joined({"query", "--format", "csv"}, arguments));
    EXPECT_EQ(query.status, 0) << query.err;
    EXPECT_THAT(query.out, HasSubstr("\n" + door.scheme + ","));
    const Result sweep = invoke(joined({"sweep", "--format", "csv"}, arguments));
    EXPECT_EQ(sweep.status, 0) << sweep.err;
    EXPECT_THAT(sweep.out, HasSubstr("\n" + door.scheme + ","));
    const Result trace = invoke(joined({"trace"}, arguments));
    EXPECT_EQ(trace.status, 0) << trace.err;
    EXPECT_THAT(trace.out, HasSubstr("\"scheme\": \"" + door.scheme + "\""));
  }
}

TEST_F(Doors, AGridNamesTheScheme) {
  const std::string grid = write(
      "grid.json",
      R"({"schema": 1, "base": {"gradient-bytes": "1MB", "forward": "5ms", "backward": "9ms", "device": "v100",
          "workers": 4, "bandwidth": "1Gbps"}, "schemes": ["every:k=4", "two-bit", "topk"]})");
  const Result result = invoke(
      {"sweep", grid, "--format", "csv", "--plugin", plugin("every"), "--scheme-file", described("two-bit")});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, testing::AllOf(HasSubstr("every:k=4,"), HasSubstr("two-bit,"), HasSubstr("topk,")));
}

TEST_F(Doors, TimesOfASchemesFileAreUsed) {
  const std::string file = write("timed.json", R"({
    "schema": 1, "name": "timed", "source": "made up",
    "rounds": [{"exchange": "all_gather", "payload": {"per_element": "1 bit"}}],
    "costs": [{"device": "v100", "origin": "measured", "encode": [[1000, "3 ms"]], "decode": [[1000, "2 ms"]]}]})");
  const std::vector<std::string> arguments = {"query",     "--format",  "csv",           "--gradient-bytes",
                                              "4kB",       "--forward", "5ms",           "--backward",
                                              "9ms",       "-s",        "timed",         "-q",
                                              "--workers", "1",         "--bandwidth",   "10Gbps",
                                              "--device",  "v100",      "--scheme-file", file};
  const Result result = invoke(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("measured")) << result.out;
}

TEST_F(Doors, TimesForADeviceThatNoProfileKnowsAreSaid) {
  const std::string file = write("timed.json", R"({
    "schema": 1, "name": "timed", "rounds": [{"exchange": "all_gather", "payload": {"per_element": "1 bit"}}],
    "costs": [{"device": "v10", "origin": "measured", "encode": [[1000, "3 ms"]], "decode": [[1000, "2 ms"]]}]})");
  const Result result = invoke({"list", "schemes", "--scheme-file", file});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err,
            "breakeven: warning: " + file +
                ": no device profile is named \"v10\" (did you mean v100?): only a query whose device has "
                "that name uses these times\n");
  EXPECT_EQ(invoke({"list", "schemes", "--scheme-file", file, "-q"}).err, "");
}

TEST_F(Doors, AFilesContentSaysWhatItIs) {
  const std::string text = read(described("two-bit"));
  for (const char* const name : {"two-bit.txt", "no-ending", "two-bit.so"}) {
    const Result result = invoke({"check", write(name, "\n  " + text)});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("two-bit"));
  }
  const std::string object = path("every.so.1");
  std::filesystem::copy_file(plugin("every"), object);
  const Result result = invoke({"check", object});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("every"));
  EXPECT_THAT(invoke({"check", path("missing.txt")}).err, HasSubstr("missing.txt: no such file"));
  EXPECT_THAT(invoke({"check", write("text.so", "text")}).err, HasSubstr("text.so: cannot be loaded: "));
}

TEST_F(Doors, APipeIsReadOnce) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string text = read(described("two-bit"));
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const Result result = invoke({"check", pipe});
  writer.join();
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("two-bit"));
}

TEST_F(Doors, WhatCannotComeInIsSaidInOneLine) {
  const auto error = [](const std::vector<std::string>& flags) {
    const Result result = invoke(joined({"list", "schemes"}, flags));
    EXPECT_EQ(result.status, kFailed) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string taken = write("taken.json", R"({"schema": 1, "name": "topk",
    "rounds": [{"exchange": "all_gather", "payload": {"per_element": "1 bit"}}]})");
  EXPECT_EQ(error({"--scheme-file", taken}),
            "breakeven: error: " + taken + ": scheme \"topk\" exists already: expected a name of its own\n");
  EXPECT_EQ(invoke({"check", taken}).err, error({"--scheme-file", taken}));
  EXPECT_EQ(error({"--plugin", plugin("every"), "--plugin", plugin("every")}),
            "breakeven: error: " + plugin("every") +
                ": scheme \"every\" exists already: expected a name of its own\n");
  EXPECT_THAT(error({"--scheme-file", path("missing.json")}),
              StartsWith("breakeven: error: " + path("missing.json") + ": no such file"));
  EXPECT_THAT(error({"--plugin", path("missing.so")}),
              StartsWith("breakeven: error: " + path("missing.so") + ": cannot be loaded: "));
  EXPECT_THAT(error({"--plugin", taken}), StartsWith("breakeven: error: " + taken + ": cannot be loaded: "));
  EXPECT_THAT(error({"--plugin", plugin("version_2")}), HasSubstr("a plugin of version 2 of the interface"));
  EXPECT_EQ(invoke({"list", "schemes", "--plugin"}).err,
            "breakeven: error: --plugin: value missing: expected FILE\n");
}

TEST_F(Doors, ACommandWithoutSchemesHasNoDoors) {
  EXPECT_THAT(invoke({"man", "--plugin", plugin("every")}).err, HasSubstr("--plugin: unknown option"));
  EXPECT_THAT(invoke({"help", "validate"}).out, Not(HasSubstr("--scheme-file")));
}

}  // namespace
}  // namespace breakeven::cli
