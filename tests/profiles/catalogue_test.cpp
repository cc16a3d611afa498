// Which profile does a name mean, and does every embedded one load?
#include "profiles/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compressors/builtin.h"
#include "model/spec.h"
#include "profiles/embedded.h"
#include "profiles/grid.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

std::string named(const std::string& name) {
  return std::string(R"({"schema": 1, "name": ")") + name +
         R"(", "summary": "mine", "tensors": [["w", "3", 1]]})";
}

TEST(Catalogue, AnAddedProfileReplacesTheEmbeddedOneAndTheLastOneWins) {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  (void)first.file("models/resnet50.json", named("resnet50"));
  (void)second.file("models/resnet50.json",
                    R"({"schema": 1, "name": "resnet50", "tensors": [["w", "7", 1]]})");
  Catalogue catalogue;
  EXPECT_EQ(catalogue.model("resnet50").workload.elements(), 25557032U);
  catalogue.add_directory(first.path());
  EXPECT_EQ(catalogue.model("resnet50").workload.elements(), 3U);
  catalogue.add_directory(second.path());
  EXPECT_EQ(catalogue.model("resnet50").workload.elements(), 7U);
  EXPECT_EQ(catalogue.model("resnet18").workload.elements(), 11689512U);
}

TEST(Catalogue, NamesAreSortedAndEachThereOnce) {
  const TemporaryDirectory directory;
  (void)directory.file("models/resnet50.json", named("resnet50"));
  (void)directory.file("models/zz-mine.json", named("zz-mine"));
  (void)directory.file("models/notes.txt", "no profile");
  Catalogue catalogue;
  const std::size_t before = catalogue.names("models").size();
  catalogue.add_directory(directory.path());
  const std::vector<std::string> names = catalogue.names("models");
  EXPECT_EQ(names.size(), before + 1);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(names.back(), "zz-mine");
}

TEST(Catalogue, ABrokenProfileHurtsOnlyWhoAsksForIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("models/broken.json", "{");
  Catalogue catalogue;
  catalogue.add_directory(directory.path());
  EXPECT_EQ(catalogue.model("resnet50").name, "resnet50");
  EXPECT_EQ(failure([&] { (void)catalogue.model("broken"); }),
            "file " + path + ":1:2: syntax error: unexpected end of input: expected string literal");
}

TEST(Catalogue, AnUnknownNameIsABadValueAndAMissingFileIsAFileError) {
  const Catalogue catalogue;
  const std::string unknown = failure([&] { (void)catalogue.device("v10"); });
  EXPECT_TRUE(unknown.starts_with("value --device: unknown device \"v10\": expected one of a100-40gb, "))
      << unknown;
  EXPECT_TRUE(unknown.ends_with("(did you mean v100?)")) << unknown;
  EXPECT_EQ(failure([&] { (void)catalogue.model("./resnet50"); }),
            "file ./resnet50: no such file: expected a profile");
  EXPECT_EQ(failure([&] { (void)catalogue.fabric("nowhere.json"); }),
            "file nowhere.json: no such file: expected a profile");
  EXPECT_TRUE(failure([&] {
                (void)catalogue.sweep("agarwal2021");
              }).starts_with("value sweep: unknown sweep \"agar"));
  EXPECT_TRUE(failure([&] {
                (void)catalogue.codec("");
              }).starts_with("value --codec: unknown codec \"\": expected one"));
}

TEST(Catalogue, AFileMayBearAnyName) {
  const TemporaryDirectory directory;
  EXPECT_EQ(Catalogue().model(directory.file("my.json", named("other"))).name, "other");
}

TEST(Catalogue, AnAddedProfileBearsItsFilesName) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("models/mine.json", named("other"));
  Catalogue catalogue;
  catalogue.add_directory(directory.path());
  EXPECT_EQ(failure([&] { (void)catalogue.model("mine"); }),
            "file " + path + ": /name: is \"other\": expected \"mine\", as the file's name has it");
}

TEST(Catalogue, ADirectoryMustHoldProfiles) {
  const TemporaryDirectory directory;
  const std::string path = directory.path().string();
  Catalogue catalogue;
  EXPECT_EQ(failure([&] { catalogue.add_directory(path); }),
            "file " + path +
                ": holds no profiles: expected a folder models, devices, fabrics, codecs, sweeps or "
                "published in it");
  EXPECT_EQ(failure([&] { catalogue.add_directory(path + "/none"); }),
            "file " + path + "/none: no such directory: expected a directory of profiles");
  const std::string file = directory.file("f", "x");
  EXPECT_EQ(failure([&] { catalogue.add_directory(file); }),
            "file " + file + ": is not a directory: expected a directory of profiles");
}

TEST(Catalogue, ASourcesOwnProfilesAreThereForItAlone) {
  const TemporaryDirectory directory;
  const std::string cases = directory.file("published/mine.json", "{}");
  (void)directory.file("published/mine/models/own.json", named("own"));
  const auto unknown = [](const Catalogue& catalogue, const std::string& model) {
    return failure([&] { (void)catalogue.model(model); }).starts_with("value --model: unknown model");
  };
  Catalogue beside_file;
  beside_file.add_source(cases);
  EXPECT_EQ(beside_file.model("own").workload.elements(), 3U);

  Catalogue added;
  added.add_directory(directory.path());
  EXPECT_TRUE(unknown(added, "own"));
  Catalogue with_source = added;
  with_source.add_source("mine");
  EXPECT_EQ(with_source.model("own").workload.elements(), 3U);
  EXPECT_TRUE(unknown(added, "own"));

  Catalogue built_in;
  EXPECT_TRUE(unknown(built_in, "resnet50-asleep"));
  built_in.add_source("ddp-gloo");
  EXPECT_EQ(built_in.model("resnet50-asleep").workload.elements(), 25557032U);
  EXPECT_EQ(built_in.names("models").size(), Catalogue().names("models").size() + 2);
  built_in.add_source("user-reports");  // has none
  built_in.add_source("-");
}

TEST(Catalogue, FindsTheCurvesOfOneDevice) {
  const TinyCatalogue tiny;
  ASSERT_EQ(tiny.get().codecs_for("gpu").size(), 1U);
  EXPECT_EQ(tiny.get().codecs_for("gpu")[0].scheme, "topk:ratio=0.05");
  EXPECT_TRUE(tiny.get().codecs_for("no such device").empty());
}

TEST(Catalogue, TakesCurvesThatCameWithSomethingElse) {
  const TinyCatalogue tiny;
  Catalogue catalogue = tiny.get();
  CodecProfile profile = catalogue.codec("times");
  profile.name = "mine";
  catalogue.add_codec(profile);
  EXPECT_EQ(catalogue.codecs_for("gpu").size(), 2U);
  EXPECT_EQ(catalogue.codec("mine").source, "a bench");
  EXPECT_EQ(catalogue.list("codecs").size(), tiny.get().list("codecs").size() + 1);
  EXPECT_EQ(failure([&] { catalogue.add_codec(profile); }),
            "value codec profile \"mine\" exists already: expected a name of its own");
  catalogue.add_codec({.name = "empty", .summary = {}, .source = {}, .conditions = {}, .costs = {}});
  EXPECT_EQ(catalogue.codecs_for("gpu").size(), 2U);
  EXPECT_TRUE(failure([&] { (void)catalogue.codec("empty"); }).starts_with("value --codec: unknown codec"));
}

TEST(Catalogue, ListsWhatItHas) {
  const TinyCatalogue tiny;
  const auto row = [&](std::string_view kind, const std::string& name) {
    for (const Listing& listing : tiny.get().list(kind)) {
      if (listing.name == name) {
        return listing.summary + " | " + listing.source;
      }
    }
    return std::string("not listed");
  };
  EXPECT_EQ(row("models", "tiny"), "two layers | made up");
  EXPECT_EQ(row("devices", "gpu"), "a device | a run; data sheet");
  EXPECT_EQ(row("fabrics", "box"), "an instance | vendor");
  EXPECT_EQ(row("codecs", "times"), " | a bench");
  EXPECT_NE(row("sweeps", "agarwal2022"), "not listed");
}

/// All that is built in, with what only published sources need.
Catalogue everything() {
  Catalogue catalogue;
  for (const std::string& name : catalogue.names("published")) {
    catalogue.add_source(name);
  }
  return catalogue;
}

class EmbeddedProfiles : public testing::TestWithParam<std::string_view> {};

TEST_P(EmbeddedProfiles, LoadAndBearTheirFilesNameASummaryAndASource) {
  const Catalogue catalogue = everything();
  const std::vector<Listing> rows = catalogue.list(GetParam());  // reads each one, which checks its name
  EXPECT_FALSE(rows.empty());
  for (const Listing& row : rows) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.source.empty()) << row.name;
  }
}
INSTANTIATE_TEST_SUITE_P(, EmbeddedProfiles,
                         testing::Values("models", "devices", "fabrics", "codecs", "sweeps", "published"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST(EmbeddedNumbers, OfDevicesAndFabricsHaveTheirSource) {
  const Catalogue catalogue = everything();
  for (const std::string& name : catalogue.names("devices")) {
    for (const auto& [key, source] : catalogue.device(name).sources) {
      EXPECT_FALSE(source.empty()) << name << " " << key;
    }
  }
  for (const std::string& name : catalogue.names("fabrics")) {
    const FabricProfile profile = catalogue.fabric(name);
    for (const auto& [key, source] : profile.sources) {
      EXPECT_FALSE(source.empty()) << name << " " << key;
    }
    if (!profile.device.empty()) {
      EXPECT_EQ(catalogue.device(profile.device).device.name, profile.device) << name;
    }
  }
}

TEST(EmbeddedNumbers, OfTimingsHaveTheirSourceAndAKnownDevice) {
  const Catalogue catalogue = everything();
  std::vector<std::string> devices = catalogue.names("devices");
  devices.emplace_back("unstated");  // published without it: for people to read, found by no query
  for (const std::string& name : catalogue.names("models")) {
    for (const Timing& timing : catalogue.model(name).timings) {
      EXPECT_FALSE(timing.source.empty()) << name;
      EXPECT_NE(std::find(devices.begin(), devices.end(), timing.device), devices.end())
          << name << " " << timing.device;
    }
  }
}

TEST(EmbeddedCodecs, NameSchemesAndParametersThatExist) {
  Registry registry;
  add_builtin(registry);
  const Catalogue catalogue = everything();
  for (const std::string& name : catalogue.names("codecs")) {
    for (const CodecCosts& costs : catalogue.codec(name).costs) {
      EXPECT_EQ(registry.make(costs.scheme).spec, costs.scheme) << name << ": not written canonically";
    }
  }
}

TEST(EmbeddedSweeps, HoldOnlyRowsThatCanBeAsked) {
  Registry registry;
  add_builtin(registry);
  const Catalogue catalogue = everything();
  for (const std::string& name : catalogue.names("sweeps")) {
    const Catalogue::Text text = catalogue.sweep(name);
    const Grid grid = read_grid(text.json, text.where);
    EXPECT_GT(grid.rows(), 0U) << name;
    for (const Grid::Case& one : grid.cases) {
      OptionValues values = with(grid.base, one.values);
      for (const Grid::Axis& axis : grid.axes) {
        values[axis.option] = axis.values.front();
      }
      EXPECT_EQ(failure([&] { (void)resolve(values, catalogue); }), "nothing was thrown") << name;
      for (const std::string& scheme : one.schemes.empty() ? grid.schemes : one.schemes) {
        EXPECT_EQ(failure([&] { (void)registry.make(scheme); }), "nothing was thrown")
            << name << " " << scheme;
      }
    }
  }
}

}  // namespace
}  // namespace breakeven
