// Arguments -> Request, by CLI11 as the tokenizer and the tables as the grammar. The only file that knows
// CLI11.
#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>

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

}  // namespace

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
    const bool letters = last.size() >= 2 && last[0] == '-' && last[1] != '-';  // of a group the last: -qs
    const auto one = std::find_if(flags().begin(), flags().end(),
                                  [&](const Flag& f) { return letters && f.letter == last.back(); });
    const std::string name = letters && one != flags().end()
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

}  // namespace breakeven::cli
