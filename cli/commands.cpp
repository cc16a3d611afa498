// The two tables: what the program can do, and the options that are not part of a scenario.
#include <algorithm>
#include <stdexcept>

#include "cli/command.h"

namespace breakeven::cli {
namespace {

constexpr Flag kFlags[] = {
    {"scheme", 's', "SCHEME", "a scheme to judge, NAME or NAME:KEY=VALUE,... (repeatable; see list schemes)",
     true},
    {"format", 0, "table|json|jsonl|csv|markdown",
     "how the answer is written (default table); all but table and markdown use base units: seconds, bytes, "
     "bytes per second"},
    {"output", 'o', "FILE", "write to FILE, whole or not at all, instead of standard output (-)"},
    {"explain", 0, "", "also every formula with its numbers put in, and the origin of each input"},
    {"exit-verdict", 0, "",
     "exit with 0 when a named scheme pays, 10 when none does, 11 when it is too close to call"},
    {"names", 0, "", "only the names, one a line"},
    {"threads", 0, "N", "threads to use (default: all); the rows and their order do not depend on it"},
    {"progress", 0, "auto|always|never", "a running count on standard error (default auto: on a terminal)"},
    {"dry-run", 0, "", "only the number of rows"},
    {"profiles", 0, "DIR",
     "also the profiles in DIR/models, DIR/devices, DIR/fabrics, DIR/codecs, DIR/sweeps (repeatable)", true},
    {"color", 0, "auto|always|never",
     "colour (default auto: on a terminal, unless NO_COLOR is set or TERM is dumb)"},
    {"quiet", 'q', "", "no warnings"},
    {"verbose", 'v', "", "on standard error also where each figure comes from"},
    {"help", 'h', "", "this text"},
};

constexpr std::string_view kQueryDetails =
    "Says first what an infinitely fast network would bring, since no scheme can gain more. Then for each "
    "scheme: the step, the "
    "gain over plain all-reduce, the network time that stays exposed, the codec time and where it comes "
    "from, and where the "
    "scheme pays. Plain all-reduce in 16 bit is always a row when the gradients are fp32.";

constexpr std::string_view kSweepDetails =
    "GRID is a name (list sweeps) or a JSON file. Every scenario option takes a list (8,16,32) or a range "
    "(1Gbps..100Gbps*2 by a "
    "factor, 10Gbps..50Gbps+10Gbps by a step); rows are every combination, and what the command line says "
    "replaces what the grid says. "
    "Rows are streamed in the order of the grid, so that memory does not grow with them; the count of setups "
    "in which compression "
    "pays goes to standard error.";

std::vector<Command> table() {
  return {
      {.name = "query",
       .summary = "one setup, every scheme, a verdict",
       .usage = "",
       .scenario = true,
       .flags = {"scheme", "format", "output", "explain", "exit-verdict", "profiles", "color", "quiet",
                 "verbose", "help"},
       .details = kQueryDetails,
       .examples =
           {{"ResNet-50 on 64 V100 behind a 10 Gbit/s network, four schemes",
             "breakeven query --model resnet50 --device v100 --batch 64 --workers 64 --workers-per-node 4 "
             "--bandwidth 10Gbps --scheme powersgd:rank=4 --scheme topk:ratio=1% --scheme signsgd --scheme "
             "int8"},
            {"with your own step times and nothing but the gradient's size",
             "breakeven query --gradient-bytes 97.5MiB --forward 33ms --backward 65ms --workers 16 "
             "--bandwidth 25Gbps --scheme topk:ratio=1%,encode=8ms,decode=1ms"}},
       .run = query},
      {.name = "sweep",
       .summary = "many setups at once: a grid becomes a table",
       .usage = "[GRID]",
       .most = 1,
       .scenario = true,
       .flags = {"scheme", "format", "output", "threads", "progress", "dry-run", "profiles", "color", "quiet",
                 "verbose", "help"},
       .details = kSweepDetails,
       .examples = {{"the grid of \"On the Utility of Gradient Compression\"",
                     "breakeven sweep agarwal2022 --format csv"},
                    {"your own: every combination of two lists",
                     "breakeven sweep --model resnet50 --device v100 --batch 64 --workers 8,16,32,64 "
                     "--bandwidth 1Gbps..100Gbps*2 --scheme powersgd:rank=4 --scheme signsgd"}},
       .run = sweep},
      {.name = "trace",
       .summary = "one step's timeline, for Perfetto or chrome://tracing",
       .usage = "",
       .scenario = true,
       .flags = {"scheme", "output", "profiles", "quiet", "help"},
       .details = "One track a resource: compute, codec, host, copy, network. Times are in microseconds from "
                  "the start of the step. "
                  "Open the file on https://ui.perfetto.dev.",
       .examples =
           {{"a step with PowerSGD",
             "breakeven trace --model resnet50 --device v100 --batch 64 --workers 64 --bandwidth 10Gbps "
             "--scheme powersgd:rank=4 -o step.json"}},
       .run = trace},
      {.name = "list",
       .summary = "what there is to choose from, and each one in detail",
       .usage = "models|devices|fabrics|schemes|schedules|codecs|sweeps [NAME]",
       .least = 1,
       .most = 2,
       .flags = {"format", "output", "names", "profiles", "color", "quiet", "help"},
       .details =
           "Without NAME one row each; with NAME everything that is known about that one, with its source.",
       .examples = {{"all schemes", "breakeven list schemes"},
                    {"one scheme's parameters", "breakeven list schemes powersgd"}},
       .run = list},
      {.name = "help",
       .summary = "help on a command or a topic",
       .usage = "[COMMAND|exit-codes|units|schemes]",
       .most = 1,
       .flags = {"help"},
       .details = "",
       .examples = {},
       .run = help},
      {.name = "man",
       .summary = "the manual page, in roff",
       .usage = "",
       .flags = {"output", "help"},
       .details = "",
       .examples = {{"read it", "breakeven man -o breakeven.1 && man ./breakeven.1"}},
       .run = man},
      {.name = "completion",
       .summary = "the completion script of a shell",
       .usage = "bash|zsh|fish",
       .least = 1,
       .most = 1,
       .flags = {"output", "help"},
       .details = "",
       .examples = {{"for this bash session", "source <(breakeven completion bash)"}},
       .run = completion},
  };
}

template <class Range>
const auto& named(const Range& range, std::string_view name) {
  const auto found =
      std::find_if(range.begin(), range.end(), [&](const auto& row) { return row.name == name; });
  if (found == range.end()) {
    throw std::logic_error("no row named " + std::string(name));
  }
  return *found;
}

}  // namespace

std::span<const Flag> flags() {
  return kFlags;
}

const Flag& flag(std::string_view name) {
  return named(flags(), name);
}

const std::vector<Command>& commands() {
  static const std::vector<Command> rows = table();
  return rows;
}

const Command& command(std::string_view name) {
  return named(commands(), name);
}

std::vector<std::string> choices(std::string_view value) {
  std::vector<std::string> words;
  if (value.find('|') == std::string_view::npos ||
      std::any_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
    return words;
  }
  while (!value.empty()) {
    const std::size_t end = std::min(value.find('|'), value.size());
    words.emplace_back(value.substr(0, end));
    value.remove_prefix(std::min(end + 1, value.size()));
  }
  return words;
}

std::string Request::get(std::string_view flag, std::string_view fallback) const {
  const auto found = given.find(flag);
  return found == given.end() ? std::string(fallback) : found->second.back();
}

Format Request::format() const {
  const auto names = choices(breakeven::cli::flag("format").value);
  const auto found = std::find(names.begin(), names.end(), get("format", "table"));
  return static_cast<Format>(found - names.begin());
}

std::string usage_line(const Command& command) {
  std::string line = "breakeven ";
  line.append(command.name);
  line += command.flags.empty() ? "" : " [OPTIONS]";
  return command.usage.empty() ? line : line.append(" ").append(command.usage);
}

}  // namespace breakeven::cli
