// The seam between the program and its commands: one table of commands, one table of flags, and what a
// command is handed.
#pragma once

#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/environment.h"
#include "model/registry.h"
#include "profiles/catalogue.h"
#include "profiles/options.h"

namespace breakeven::cli {

/// Data formats of every command that prints rows.
enum class Format { table, json, jsonl, csv, markdown };

/// An option that is not part of a scenario. Help, man page, completion and parser are made from this table.
struct Flag {
  std::string_view name;   ///< "output", without dashes
  char letter = 0;         ///< 'o' for -o; 0: none
  std::string_view value;  ///< "FILE"; empty: a switch; "a|b|c" in lower case: one of these
  std::string_view help;
  bool repeatable = false;
};
std::span<const Flag> flags();
const Flag& flag(std::string_view name);
/// "table|json" -> its words; empty when `value` is not a list of words ("FILE", "NAME|FILE").
std::vector<std::string> choices(std::string_view value);

/// A checked command line.
struct Request {
  std::vector<std::string> arguments;  ///< positional, after the command's name
  OptionValues scenario;
  std::vector<std::string> schemes;
  std::map<std::string, std::vector<std::string>, std::less<>>
      given;  ///< flag -> its values; a switch has one empty value

  [[nodiscard]] bool has(std::string_view flag) const { return given.contains(flag); }
  /// The last value of a flag, or `fallback`.
  [[nodiscard]] std::string get(std::string_view flag, std::string_view fallback) const;
  [[nodiscard]] Format format() const;
};

/// What a command works with. Data goes to `out`, or through Output where the command takes --output.
struct Context {
  const Request& request;
  const Registry& registry;
  const Catalogue& catalogue;
  const Environment& environment;
  std::ostream& out;
  std::ostream& err;
};

struct Example {
  std::string_view what, line;
};

struct Command {
  std::string_view name, summary;
  std::string_view usage;           ///< what follows the name, without options: "KIND [NAME]"
  std::size_t least = 0, most = 0;  ///< positional arguments
  bool scenario = false;            ///< takes the scenario options
  std::vector<std::string_view> flags;
  std::string_view details;  ///< paragraphs for help and man page
  std::vector<Example> examples;
  int (*run)(const Context&) = nullptr;  ///< returns the exit status; throws Error
};
const std::vector<Command>& commands();
const Command& command(std::string_view name);

int query(const Context&);
int sweep(const Context&);
int solve(const Context&);
int plan(const Context&);
int list(const Context&);
int trace(const Context&);
int measure(const Context&);
int import_profile(const Context&);
int check(const Context&);
int validate(const Context&);
int man(const Context&);
int completion(const Context&);
int help(const Context&);

/// The help text of one command, of a topic, or of the program ("").
std::string help_text(std::string_view topic);
/// Usage of one command in one line.
std::string usage_line(const Command& command);
/// The whole number that a flag gives, from 1 to `most`, or `fallback`. Throws Error (value).
std::size_t count_of(const Request& request, std::string_view flag, std::size_t fallback, std::size_t most);
/// "12,345,678".
std::string grouped(std::size_t count);
/// The text with every fault of `text` as one line: "breakeven: warning: ..." on `err`, unless the user wants
/// it quiet.
void warn(const Context& context, std::string_view text);
/// The same for what only -v asks for.
void note(const Context& context, std::string_view text);

}  // namespace breakeven::cli
