// Do the README's commands run, and print what it shows?
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

/// Splits a command line at spaces; double quotes hold words together.
std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  bool quoted = false;
  bool open = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      open = false;
    } else {
      if (!open) {
        result.emplace_back();
        open = true;
      }
      result.back() += c;
    }
  }
  return result;
}

struct Shown {
  std::string command, output;
};

/// Every "$ ..." line of the console blocks, with the output below it.
std::vector<Shown> shown_commands() {
  std::ifstream readme(std::string(BREAKEVEN_SOURCE_DIR) + "/README.md");
  std::vector<Shown> result;
  bool console = false;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("```")) {
      console = line == "```console";
    } else if (console && line.starts_with("$ ")) {
      result.push_back({line.substr(2), ""});
    } else if (console && !result.empty()) {
      result.back().output += line + "\n";
    }
  }
  return result;
}

TEST(Readme, CommandsPrintWhatItShows) {
  const auto commands = shown_commands();
  ASSERT_GE(commands.size(), 4U);
  for (const Shown& shown : commands) {
    SCOPED_TRACE(shown.command);
    const std::string prefix = "./dev run ";
    ASSERT_TRUE(shown.command.starts_with(prefix));
    const Result result = invoke(words(shown.command.substr(prefix.size())));
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.out, shown.output);
  }
}

}  // namespace
}  // namespace breakeven::cli
