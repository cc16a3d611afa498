// What help, man page and completion are made from, in the order in which they show it.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

/// One option as a reader sees it.
struct ManualOption {
  std::string name;  ///< without dashes
  char letter = 0;
  std::string value;  ///< empty: a switch
  std::string help;
};
struct ManualSection {
  std::string title;
  std::vector<ManualOption> options;
};
/// The sections of one command: the scenario's groups in the order of the table, then its own options.
std::vector<ManualSection> sections(const Command& row);

struct Topic {
  std::string_view name, title;
  std::string_view text;  ///< paragraphs; lines that begin with two spaces stay as they are
};
/// exit-codes, units, schemes.
const std::vector<Topic>& topics();

/// A command line to paste: a broken line ends with a backslash.
std::string example_text(std::string_view line, std::size_t width);
/// `text` in lines of at most `width` columns, each behind `indent` spaces and those that its own line begins
/// with.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

}  // namespace breakeven::cli
