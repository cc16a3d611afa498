// `breakeven completion SHELL`: completion scripts from the tables. Names of profiles and schemes are asked
// from the program itself, so that --profiles and new versions need no new script.
#include <algorithm>
#include <ostream>

#include "cli/app.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

/// Kind for `list --names` whose names complete the value of this option.
std::string_view kind_of(std::string_view option) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"model", "models"},   {"device", "devices"},     {"host", "devices"}, {"fabric", "fabrics"},
      {"scheme", "schemes"}, {"schedule", "schedules"}, {"codec", "codecs"},
  };
  const auto* found =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& row) { return row.first == option; });
  return found == std::end(kinds) ? std::string_view{} : found->second;
}

bool takes_file(std::string_view value) {
  return value.find("FILE") != std::string_view::npos || value.find("DIR") != std::string_view::npos;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::vector<ManualOption> all_options(const Command& row) {
  std::vector<ManualOption> all;
  for (ManualSection& section : sections(row)) {
    std::move(section.options.begin(), section.options.end(), std::back_inserter(all));
  }
  return all;
}

/// Kind for `list --names` whose names may stand as positional arguments of a command.
std::string_view argument_kind(const Command& row) {
  return row.usage.find("SCHEME") == std::string_view::npos ? std::string_view{} : "schemes";
}

/// Words that may stand as positional arguments of a command.
std::string argument_words(const Command& row) {
  std::string text;
  if (row.name == "help") {
    for (const Command& other : commands()) {
      text.append(other.name).append(" ");
    }
    for (const Topic& topic : topics()) {
      text.append(topic.name).append(" ");
    }
    text.pop_back();
    return text;
  }
  const std::string_view first = row.usage.substr(0, row.usage.find(' '));
  return joined(choices(first));
}

std::string command_words() {
  std::vector<std::string> names;
  for (const Command& row : commands()) {
    names.emplace_back(row.name);
  }
  return joined(names);
}

/// Shell code of bash and fish that prints the names of a kind.
std::string names_of(std::string_view kind) {
  return "breakeven list " + std::string(kind) + " --names 2>/dev/null";
}

/// Shell code that yields the words for an option's value: "" when only a file name makes sense.
std::string value_words(const ManualOption& option) {
  const std::string_view kind = kind_of(option.name);
  return kind.empty() ? joined(choices(option.value)) : "$(" + names_of(kind) + ")";
}

/// Every option of any command, each once.
std::vector<ManualOption> distinct_options() {
  std::vector<ManualOption> all;
  for (const Command& row : commands()) {
    for (ManualOption& option : all_options(row)) {
      if (std::none_of(all.begin(), all.end(),
                       [&](const ManualOption& other) { return other.name == option.name; })) {
        all.push_back(std::move(option));
      }
    }
  }
  return all;
}

std::string bash() {
  std::string text =
      "# bash completion of breakeven\n"
      "_breakeven() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W \"" +
      command_words() +
      " --help --version\" -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $previous in\n";
  for (const ManualOption& option : distinct_options()) {
    if (option.value.empty()) {
      continue;
    }
    const std::string words = value_words(option);
    text += "    --" + option.name + (option.letter != 0 ? std::string("|-") + option.letter : "") + ")\n";
    if (!words.empty() || takes_file(option.value)) {
      text += std::string("      COMPREPLY=($(compgen") + (takes_file(option.value) ? " -f" : "");
      text += (words.empty() ? "" : " -W \"" + words + "\"") + " -- \"$current\"))\n";
    }
    text += "      return ;;\n";
  }
  text += "  esac\n  case $command in\n";
  for (const Command& row : commands()) {
    const std::string_view kind = argument_kind(row);
    std::string words = kind.empty() ? argument_words(row) : "$(" + names_of(kind) + ")";
    for (const ManualOption& option : all_options(row)) {
      words += (words.empty() ? "--" : " --") + option.name;
    }
    text +=
        "    " + std::string(row.name) + ") COMPREPLY=($(compgen -W \"" + words + "\" -- \"$current\")) ;;\n";
  }
  return text + "  esac\n}\ncomplete -F _breakeven breakeven\n";
}

/// Text inside single quotes of any of the shells.
std::string quoted_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

/// Text of a zsh specification: brackets and colons end its parts.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return quoted_text(out);
}

std::string zsh_option(const ManualOption& option) {
  std::string spec = "      '*--" + option.name + "[" + zsh_text(option.help) + "]";
  if (!option.value.empty()) {
    const std::string_view kind = kind_of(option.name);
    const std::string words = joined(choices(option.value));
    spec += ":" + zsh_text(option.value) + ":";
    spec += !kind.empty()              ? "_breakeven_names " + std::string(kind)
            : !words.empty()           ? "(" + words + ")"
            : takes_file(option.value) ? "_files"
                                       : " ";
  }
  return spec + "'";
}

std::string zsh() {
  std::string text =
      "#compdef breakeven\n# zsh completion of breakeven\n"
      "_breakeven_names() { compadd -- ${(f)\"$(breakeven list $1 --names 2>/dev/null)\"} || _files }\n"
      "_breakeven() {\n"
      "  if (( CURRENT == 2 )); then\n    compadd -- " +
      command_words() +
      " --help --version\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n  case $command in\n";
  for (const Command& row : commands()) {
    text += "    " + std::string(row.name) + ") _arguments \\\n";
    for (const ManualOption& option : all_options(row)) {
      text += zsh_option(option) + " \\\n";
    }
    const std::string_view kind = argument_kind(row);
    const std::string words = argument_words(row);
    text += !kind.empty()   ? "      '*:argument:_breakeven_names " + std::string(kind) + "' ;;\n"
            : words.empty() ? "      ;;\n"
                            : "      '*:argument:(" + words + ")' ;;\n";
  }
  return text + "  esac\n}\ncompdef _breakeven breakeven\n";
}

std::string fish() {
  std::string text = "# fish completion of breakeven\n";
  for (const Command& row : commands()) {
    const std::string command(row.name);
    text += "complete -c breakeven -f -n __fish_use_subcommand -a " + command + " -d '" +
            quoted_text(row.summary) + "'\n";
    const std::string condition = " -n '__fish_seen_subcommand_from " + command + "'";
    const std::string_view arguments = argument_kind(row);
    if (const std::string words = arguments.empty() ? argument_words(row) : "(" + names_of(arguments) + ")";
        !words.empty()) {
      text.append("complete -c breakeven -f").append(condition).append(" -a '").append(words).append("'\n");
    }
    for (const ManualOption& option : all_options(row)) {
      text.append("complete -c breakeven").append(condition).append(" -l ").append(option.name);
      text += option.letter != 0 ? std::string(" -s ") + option.letter : "";
      if (!option.value.empty()) {
        const std::string_view kind = kind_of(option.name);
        const std::string words = kind.empty() ? joined(choices(option.value)) : "(" + names_of(kind) + ")";
        text += (takes_file(option.value) ? " -r" : " -x") + (words.empty() ? "" : " -a '" + words + "'");
      }
      text += " -d '" + quoted_text(option.help) + "'\n";
    }
  }
  return text;
}

}  // namespace

int completion(const Context& context) {
  const std::string& shell = context.request.arguments.front();
  const std::vector<std::string> shells = choices(command("completion").usage);
  if (std::find(shells.begin(), shells.end(), shell) == shells.end()) {
    throw Error(Fault::value, "completion", "unknown shell \"" + shell + "\"", one_of(shells, shell));
  }
  const std::string text = shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish();
  write_all(context.request.get("output", "-"), context.out, text);
  return kAnswered;
}

}  // namespace breakeven::cli
