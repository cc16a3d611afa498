// Is every scheme of this folder registered, once, with what a list prints?
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "tests/compressors/messages.h"

namespace breakeven::test {
namespace {

std::set<std::string> found(const std::filesystem::path& file, const std::string& pattern) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const std::regex regex(pattern);
  std::set<std::string> names;
  for (auto match = std::sregex_iterator(content.begin(), content.end(), regex);
       match != std::sregex_iterator(); ++match) {
    EXPECT_TRUE(names.insert((*match)[1]).second) << "twice: " << (*match)[1];
  }
  return names;
}

TEST(Registration, EveryFileWithASchemeIsListedAndTheReverse) {
  const std::filesystem::path folder = std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "compressors";
  const std::set<std::string> listed = found(folder / "schemes.def", R"(\nSCHEME\((\w+)\))");
  std::set<std::string> defined;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") {
      for (const std::string& name : found(entry.path(), R"(\nScheme (\w+)_scheme\(\))")) {
        EXPECT_EQ(entry.path().stem(), name) << "a scheme has a file of its own";
        defined.insert(name);
      }
    }
  }
  EXPECT_EQ(listed, defined);
  std::set<std::string> registered;
  for (const auto& [name, scheme] : registry().all()) {
    registered.insert(name);
  }
  EXPECT_EQ(listed, registered);
}

TEST(Registration, NamesTheSchemesOfTheDesign) {
  std::vector<std::string> names;
  for (const auto& [name, scheme] : registry().all()) {
    names.push_back(name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("acpsgd", "bf16", "dgc", "fp16", "gtopk", "ideal", "int4", "int8", "none",
                                   "onebit", "powersgd", "qsgd", "randomk", "signsgd", "terngrad", "topk"));
}

TEST(Registration, SaysWhatAListPrints) {
  for (const auto& [name, scheme] : registry().all()) {
    EXPECT_FALSE(scheme.summary.empty()) << name;
    EXPECT_FALSE(scheme.source.empty()) << name;
    std::set<std::string> params;
    for (const Param& param : scheme.params) {
      EXPECT_FALSE(param.help.empty()) << name << ":" << param.name;
      EXPECT_TRUE(params.insert(param.name).second) << name << ":" << param.name;
      EXPECT_TRUE(param.name != "encode" && param.name != "decode") << "taken by every spec";
    }
  }
}

}  // namespace
}  // namespace breakeven::test
