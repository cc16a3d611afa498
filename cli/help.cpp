// `breakeven help`, `--help`: from the tables.
#include <algorithm>
#include <ostream>

#include "cli/app.h"
#include "cli/manual.h"
#include "cli/utf8.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

constexpr std::size_t kWidth = 100, kHelpColumn = 32;

std::string option_text(const ManualOption& option) {
  std::string left = option.letter != 0 ? std::string{'-', option.letter, ',', ' '} : std::string(4, ' ');
  left += "--" + option.name + (option.value.empty() ? "" : " " + option.value);
  std::string text = "  " + left;
  std::string help = wrapped(option.help, kHelpColumn, kWidth);
  if (width_of(text) + 2 <= kHelpColumn) {
    help.erase(0, width_of(text));
    return text + help;
  }
  return text + "\n" + help;
}

std::string program_help() {
  std::string text =
      "breakeven: does compressing the gradients beat plain all-reduce on my setup, by how much, and where "
      "does that flip?\n\n"
      "usage: breakeven COMMAND [OPTIONS]\n\ncommands\n";
  for (const Command& row : commands()) {
    text += "  " + std::string(row.name) + std::string(12 - row.name.size(), ' ') + std::string(row.summary) +
            "\n";
  }
  text += "\nbreakeven help COMMAND says more; so do the topics";
  for (const Topic& topic : topics()) {
    text += (topic.name == topics().front().name ? " " : ", ") + std::string(topic.name);
  }
  text += ". breakeven --version names the version.\n\n";
  const Example& first = command("query").examples.front();
  return text + "example: " + std::string(first.what) + "\n" + example_text(first.line, kWidth);
}

std::string command_help(const Command& row) {
  std::string text = "usage: " + usage_line(row) + "\n\n" + wrapped(row.summary, 0, kWidth);
  if (!row.details.empty()) {
    text += "\n" + wrapped(row.details, 0, kWidth);
  }
  for (const ManualSection& section : sections(row)) {
    text += "\n" + section.title + "\n";
    for (const ManualOption& option : section.options) {
      text += option_text(option);
    }
  }
  for (const Example& example : row.examples) {
    text += "\nexample: " + std::string(example.what) + "\n" + example_text(example.line, kWidth);
  }
  return text;
}

std::string wrapped_line(std::string_view text, std::size_t indent, std::size_t width) {
  const std::size_t own = std::min(text.find_first_not_of(' '), text.size());
  indent += own;
  text.remove_prefix(own);
  std::string out;
  std::string line;
  const auto finish = [&] {
    out.append(line.empty() ? 0 : indent, ' ').append(line).append("\n");
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && indent + width_of(line) + 1 + width_of(word) > width) {
      finish();
    }
    line.append(line.empty() ? "" : " ").append(word);
  }
  finish();
  return out;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  for (bool more = true; more;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += wrapped_line(text.substr(0, end), indent, width);
    more = end < text.size();
    text.remove_prefix(more ? end + 1 : end);
  }
  return out;
}

std::string example_text(std::string_view line, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::string text = wrapped(line, kIndent, width - kIndent);
  for (std::size_t end = text.find('\n'); end + 1 < text.size(); end = text.find('\n', end + 3)) {
    text.insert(end, " \\");
  }
  return text;
}

std::vector<ManualSection> sections(const Command& row) {
  std::vector<ManualSection> all;
  const auto section = [&](const std::string& title) -> ManualSection& {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const ManualSection& one) { return one.title == title; });
    return found != all.end() ? *found : all.emplace_back(ManualSection{title, {}});
  };
  if (row.scenario) {
    for (const Option& option : scenario_options()) {
      section(option.group).options.push_back(ManualOption{option.name, 0, option.value, option.help});
    }
  }
  for (const std::string_view name : row.flags) {
    const Flag& one = flag(name);
    section("options").options.push_back(
        ManualOption{std::string(one.name), one.letter, std::string(one.value), std::string(one.help)});
  }
  return all;
}

const std::vector<Topic>& topics() {
  static const std::vector<Topic> rows = {
      {"exit-codes", "EXIT STATUS",
       "  0   answered, whatever the verdict\n"
       "  1   could not: a file that cannot be read, understood or written\n"
       "  2   usage, or a value that cannot be\n"
       "With query --exit-verdict an answer exits with\n"
       "  0   a scheme named with --scheme pays\n"
       "  10  none of them pays\n"
       "  11  too close to call\n"
       "An error is one line on standard error and nothing on standard output:\n"
       "  breakeven: error: WHERE: what is wrong: expected what\n"},
      {"units", "UNITS",
       "Every quantity carries its unit; a bare number is refused where a unit\n"
       "belongs. Case matters: b is a bit, B a byte.\n"
       "  sizes       B kB MB GB TB (powers of 1000), KiB MiB GiB TiB (of 1024)\n"
       "  times       s ms us ns\n"
       "  bandwidths  bit/s kbit/s Mbit/s Gbit/s Tbit/s, or bps kbps ... Tbps: bits\n"
       "              B/s kB/s MB/s GB/s TB/s, KiB/s MiB/s GiB/s TiB/s: bytes\n"
       "  rates       /s k/s, FLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s\n"
       "  fractions   0.01 or 1%\n"},
      {"schemes", "SCHEMES",
       "A scheme is NAME or NAME:KEY=VALUE,KEY=VALUE: topk:ratio=1%,index=u64. Every\n"
       "scheme also takes encode=TIME and decode=TIME: its codec times for the whole\n"
       "gradient of one step, where you have measured them. breakeven list schemes\n"
       "shows all, breakeven list schemes NAME the parameters of one. A scheme of your\n"
       "own comes with --scheme-file FILE.json, or with --plugin FILE.so.\n"},
  };
  return rows;
}

std::string help_text(std::string_view topic) {
  if (topic.empty()) {
    return program_help();
  }
  std::vector<std::string> known;
  for (const Command& row : commands()) {
    if (row.name == topic) {
      return command_help(row);
    }
    known.emplace_back(row.name);
  }
  for (const Topic& row : topics()) {
    if (row.name == topic) {
      return std::string(row.text);
    }
    known.emplace_back(row.name);
  }
  throw Error(Fault::value, '"' + std::string(topic) + '"', "unknown command or topic", one_of(known, topic));
}

int help(const Context& context) {
  context.out << help_text(context.request.arguments.empty() ? "" : context.request.arguments.front());
  return kAnswered;
}

}  // namespace breakeven::cli
