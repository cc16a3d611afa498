// `breakeven man`: the manual page in roff (man(7)), from the tables.
#include <ostream>

#include "cli/app.h"
#include "cli/manual.h"
#include "cli/output.h"

namespace breakeven::cli {
namespace {

/// Text that troff prints as it is: backslashes and hyphens escaped, and no line that begins like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += "\\&";
    }
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string option_entry(const ManualOption& option) {
  std::string entry = ".TP\n";
  if (option.letter != 0) {
    entry.append("\\fB\\-").append(1, option.letter).append("\\fR, ");
  }
  entry += "\\fB\\-\\-" + roff(option.name) + "\\fR";
  if (!option.value.empty()) {
    entry += " \\fI" + roff(option.value) + "\\fR";
  }
  return entry + "\n" + roff(option.help) + "\n";
}

std::string command_section(const Command& row) {
  std::string text = ".SH \"BREAKEVEN " + std::string(row.name) + "\"\n.B " + roff(usage_line(row)) +
                     "\n.PP\n" + roff(row.summary) + "\n";
  if (!row.details.empty()) {
    text += ".PP\n" + roff(row.details) + "\n";
  }
  if (row.scenario) {
    text += ".PP\nTakes the scenario options below.\n";
  }
  for (const ManualSection& section : sections(row)) {
    if (section.title != "options") {
      continue;
    }
    for (const ManualOption& option : section.options) {
      text += option_entry(option);
    }
  }
  for (const Example& example : row.examples) {
    text += ".PP\nExample: " + roff(example.what) + "\n.PP\n.nf\n" + roff(example_text(example.line, 78)) +
            ".fi\n";
  }
  return text;
}

std::string page() {
  std::string text = ".TH BREAKEVEN 1 \"\" \"breakeven " BREAKEVEN_VERSION "\" \"User Commands\"\n";
  text +=
      ".SH NAME\nbreakeven \\- does compressing the gradients beat plain all\\-reduce on my setup?\n.SH "
      "SYNOPSIS\n"
      ".B breakeven\n.I COMMAND\n[\\fIOPTIONS\\fR]\n";
  text += ".SH DESCRIPTION\n";
  text += roff(
      "Predicts one training step of a neural network on many workers, with plain all-reduce and with each "
      "compression "
      "scheme, and says whether compression pays, by how much, and where that flips: bandwidth, workers, "
      "codec time. It "
      "answers from closed-form models and a timeline of the step, without a cluster.\n");
  for (const Command& row : commands()) {
    text += command_section(row);
  }
  for (const ManualSection& section : sections(command("query"))) {
    if (section.title == "options") {
      continue;
    }
    text += ".SH \"SCENARIO OPTIONS: " + roff(section.title) + "\"\n";
    for (const ManualOption& option : section.options) {
      text += option_entry(option);
    }
  }
  for (const Topic& topic : topics()) {
    text += ".SH \"" + std::string(topic.title) + "\"\n.nf\n" + roff(topic.text) + ".fi\n";
  }
  return text;
}

}  // namespace

int man(const Context& context) {
  write_all(context.request.get("output", "-"), context.out, page());
  return kAnswered;
}

}  // namespace breakeven::cli
