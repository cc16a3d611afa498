// Arguments -> Request, by CLI11 as the tokenizer and the tables as the grammar. The only file that knows
// CLI11.
#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "cli/command.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "compressors/builtin.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

[[noreturn]] void refuse(std::string where, std::string wrong, std::string expected) {
  throw Error(Fault::value, std::move(where), std::move(wrong), std::move(expected));
}

std::string dashed(std::string_view name) {
  return "--" + std::string(name);
}
std::string in_quotes(std::string_view text) {
  return '"' + std::string(text) + '"';
}

/// What one command understands, by name.
struct Grammar {
  const Command& command;
  CLI::App app;
  std::map<std::string, CLI::Option*, std::less<>> scenario, flags;
  CLI::Option* positional = nullptr;

  explicit Grammar(const Command& row) : command(row) {
    app.set_help_flag();
    app.allow_extras();
    if (row.scenario) {
      for (const Option& option : scenario_options()) {
        scenario[option.name] = add(dashed(option.name));
      }
    }
    for (const std::string_view name : row.flags) {
      const Flag& one = flag(name);
      const std::string names = (one.letter != 0 ? std::string{'-', one.letter, ','} : "") + dashed(name);
      flags[std::string(name)] = one.value.empty() ? app.add_flag(names) : add(names);
    }
    positional = app.add_option("arguments", [](const CLI::results_t&) { return true; });
    positional->expected(0, 1 << 20)->take_all()->allow_extra_args();
  }

  CLI::Option* add(const std::string& names) {
    CLI::Option* option = app.add_option(names, [](const CLI::results_t&) { return true; });
    return option->expected(1)->take_all()->allow_extra_args(false);
  }

  [[nodiscard]] std::vector<std::string> known() const {
    std::vector<std::string> names;
    for (const auto* group : {&scenario, &flags}) {
      for (const auto& [name, option] : *group) {
        names.push_back(dashed(name));
      }
    }
    return names;
  }
  /// "NAME|FILE" of an option, for messages.
  [[nodiscard]] std::string value_of(std::string_view name) const {
    const auto& rows = scenario_options();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Option& option) { return option.name == name; });
    return scenario.contains(name) && row != rows.end() ? row->value : std::string(flag(name).value);
  }
};

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& row : commands()) {
    names.emplace_back(row.name);
  }
  return names;
}

/// Takes the command's name out of `arguments`: the first that is no option and no option's value.
const Command& take_command(std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.starts_with("-")) {
      const bool takes_value = std::any_of(flags().begin(), flags().end(), [&](const Flag& one) {
        return !one.value.empty() &&
               (argument == dashed(one.name) || argument == std::string{'-', one.letter});
      });
      i += takes_value ? 1 : 0;
      continue;
    }
    const auto& rows = commands();
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Command& row) { return row.name == argument; });
    if (found == rows.end()) {
      refuse(in_quotes(argument), "unknown command", one_of(command_names(), argument));
    }
    arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    return *found;
  }
  refuse("breakeven", "no command", one_of(command_names()) + "; breakeven help says more");
}

std::string one_value(const Grammar& grammar, const std::string& name, const std::string& value) {
  const bool is_option = value.starts_with("--") && value.size() > 2;
  if (value.empty() || is_option) {
    refuse(dashed(name), "value missing", grammar.value_of(name));
  }
  return value;
}

void check_choice(const std::string& name, const std::string& value) {
  const auto words = choices(flag(name).value);
  if (!words.empty() && std::find(words.begin(), words.end(), value) == words.end()) {
    refuse(dashed(name), "unknown value " + in_quotes(value), one_of(words, value));
  }
}

void read_scenario(const Grammar& grammar, Request& request) {
  for (const auto& [name, option] : grammar.scenario) {
    if (option->count() > 1) {
      refuse(dashed(name), "given twice", "one value");
    }
    if (option->count() == 1) {
      request.scenario[name] = one_value(grammar, name, option->results().front());
    }
  }
}

void read_flags(const Grammar& grammar, Request& request) {
  for (const auto& [name, option] : grammar.flags) {
    if (option->count() == 0) {
      continue;
    }
    const Flag& row = flag(name);
    std::vector<std::string>& values = request.given[name];
    if (row.value.empty()) {
      const auto& results = option->results();
      if (!std::all_of(results.begin(), results.end(),
                       [](const std::string& text) { return text == "true"; })) {
        refuse(dashed(name), "takes no value", dashed(name) + " alone");
      }
      values = {""};
      continue;
    }
    for (const std::string& value : option->results()) {
      values.push_back(one_value(grammar, name, value));
      check_choice(name, value);
    }
    if (values.size() > 1 && !row.repeatable) {
      refuse(dashed(name), "given twice", "one value");
    }
  }
  if (const auto found = request.given.find("scheme"); found != request.given.end()) {
    request.schemes = found->second;
  }
}

void refuse_unknown(const Grammar& grammar, const std::vector<std::string>& unknown) {
  if (unknown.empty()) {
    return;
  }
  const std::string argument = unknown.front().substr(0, unknown.front().find('='));
  const std::string meant = nearest(argument, grammar.known());
  refuse(argument, "unknown option",
         "an option of " + std::string(grammar.command.name) +
             (meant.empty() ? "" : " (did you mean " + meant + "?)") + ", as breakeven help " +
             std::string(grammar.command.name) + " lists them");
}

Request parse(const Command& row, std::vector<std::string> arguments) {
  Grammar grammar(row);
  for (const std::string& argument :
       arguments) {  // CLI11 would take the next argument for the value of "--option="
    if (argument == "--") {
      break;
    }
    if (argument.starts_with("--") && argument.ends_with("=") && argument.find('=') + 1 == argument.size()) {
      refuse(argument.substr(0, argument.size() - 1), "value missing", "a value behind the =");
    }
  }
  const std::string last = arguments.empty() ? "" : arguments.back();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 reads from the back
  Request request;
  try {
    grammar.app.parse(std::move(arguments));
  } catch (const CLI::ArgumentMismatch&) {  // the only thing that is left to go wrong: the last option lacks
                                            // its value
    const bool is_letter = last.size() == 2 && last[1] != '-';
    const auto one = std::find_if(flags().begin(), flags().end(),
                                  [&](const Flag& f) { return is_letter && f.letter == last[1]; });
    const std::string name = is_letter && one != flags().end()
                                 ? std::string(one->name)
                                 : last.substr(std::min<std::size_t>(2, last.size()));
    refuse(dashed(name), "value missing", grammar.value_of(name));
  } catch (const CLI::ParseError& error) {
    refuse("breakeven", error.what(), usage_line(row));
  }
  std::vector<std::string> unknown = grammar.app.remaining();
  std::erase(unknown, "--");  // ends the options; CLI11 counts it among what is left
  refuse_unknown(grammar, unknown);
  read_flags(grammar, request);
  if (request.has("help")) {
    return request;
  }
  read_scenario(grammar, request);
  request.arguments = grammar.positional->results();
  if (request.arguments.size() > row.most) {
    refuse(in_quotes(request.arguments[row.most]), "unexpected argument", usage_line(row));
  }
  if (request.arguments.size() < row.least) {
    refuse(std::string(row.name), "argument missing", usage_line(row));
  }
  return request;
}

/// --version stands alone, or beside --format.
bool print_version(const std::vector<std::string>& arguments, std::ostream& out) {
  if (std::find(arguments.begin(), arguments.end(), "--version") == arguments.end()) {
    return false;
  }
#ifdef __clang__
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  std::vector<std::string> others = arguments;
  std::erase(others, "--version");
  const bool json = others == std::vector<std::string>{"--format", "json"} ||
                    others == std::vector<std::string>{"--format=json"};
  if (!others.empty() && !json) {
    refuse("--version", "beside " + in_quotes(others.front()), "--version alone or with --format json");
  }
  if (json) {
    JsonWriter writer(true);
    writer.begin_object().member("schema", "breakeven.version").member("schema_version", 1.0);
    writer.member("version", BREAKEVEN_VERSION).member("compiler", compiler).end_object();
    out << writer.take();
  } else {
    out << "breakeven " BREAKEVEN_VERSION " (" << compiler << ")\n";
  }
  return true;
}

int dispatch(std::vector<std::string> arguments, std::ostream& out, std::ostream& err,
             const Environment& environment) {
  if (print_version(arguments, out)) {
    return kAnswered;
  }
  const bool asks_help = !arguments.empty() && (arguments.front() == "--help" || arguments.front() == "-h");
  if (asks_help && arguments.size() == 1) {
    out << help_text("");
    return kAnswered;
  }
  const Command& row = take_command(arguments);
  const Request request = parse(row, std::move(arguments));
  if (request.has("help")) {
    out << help_text(row.name);
    return kAnswered;
  }
  Registry registry;
  add_builtin(registry);
  Catalogue catalogue;
  if (const auto found = request.given.find("profiles"); found != request.given.end()) {
    for (const std::string& directory : found->second) {
      catalogue.add_directory(directory);
    }
  }
  return row.run(Context{request, registry, catalogue, environment, out, err});
}

/// One line, whatever a file or an argument had in it.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  return text;
}

}  // namespace

int run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err,
        const Environment& environment) {
  int status = kFailed;
  std::string wrong;
  try {
    status = dispatch(arguments, out, err, environment);
    flush_standard(out);
    return status;
  } catch (const Error& error) {
    wrong = error.what();
    status = error.fault() == Fault::value ? kUsage : kFailed;
  } catch (const std::bad_alloc&) {
    wrong = "out of memory";
    status = kFailed;
  } catch (const std::exception& error) {
    wrong = std::string("unexpected: ") + error.what();
    status = kFailed;
  }
  err << "breakeven: error: " << one_line(wrong) << '\n' << std::flush;
  return status;
}

void warn(const Context& context, std::string_view text) {
  if (!context.request.has("quiet")) {
    context.err << "breakeven: warning: " << one_line(std::string(text)) << '\n';
  }
}

void note(const Context& context, std::string_view text) {
  if (context.request.has("verbose")) {
    context.err << "breakeven: note: " << one_line(std::string(text)) << '\n';
  }
}

}  // namespace breakeven::cli
