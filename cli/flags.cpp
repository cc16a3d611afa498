// The table of options that are not part of a scenario, and what a request says of them.
#include <algorithm>
#include <stdexcept>

#include "cli/command.h"
#include "model/error.h"
#include "model/units.h"

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
    {"threads", 0, "N",
     "threads: of a sweep (default: all; its rows do not depend on it), of each kernel that is measured, or "
     "of "
     "the benchmarks to import (default: 1)"},
    {"scaling", 0, "FRACTION",
     "a measured scaling factor, such as 60%: the step of one worker alone / the step among all"},
    {"target-scaling", 0, "FRACTION",
     "the scaling factor that is wanted, 100% being linear (default: 95% and 99%; repeatable)", true},
    {"progress", 0, "auto|always|never", "a running count on standard error (default auto: on a terminal)"},
    {"dry-run", 0, "", "only the number of rows"},
    {"elements", 0, "LIST",
     "gradient elements of the messages, as a list or a range (default 1024,65536,1048576,16777216)"},
    {"repeats", 0, "N", "timings of each, of which the median counts (default 15)"},
    {"gradients", 0, "normal|heavy-tailed", "the made-up gradients that are coded (default normal)"},
    {"cold", 0, "", "the profile holds the times with emptied caches; without it, with warm ones"},
    {"map", 0, "PATTERN=SIDE:SPEC",
     "benchmarks named PATTERN time SIDE (encode, decode, decode_next) of the scheme SPEC; in PATTERN {n} is "
     "the number of gradient elements, * anything but a slash (repeatable)",
     true},
    {"name", 0, "NAME", "name of the profile (default measured or imported)"},
    {"device", 0, "NAME", "the device that the times are for, as a query names it (default cpu)"},
    {"batch", 0, "N", "samples of one worker in the times of a run or a table (default 1)"},
    {"no-sync", 0, "TRACE",
     "the same run without exchange, as under DDP's no_sync(): with it the slowdown of backward (gamma) is "
     "known"},
    {"compute-dtype", 0, "fp32|tf32|fp16|bf16", "what the times of a table were computed in (default fp32)"},
    {"ranks", 0, "N", "workers of a network benchmark that is imported, where its output does not say"},
    {"ranks-per-node", 0, "N", "the same: its workers on one node"},
    {"sequence", 0, "N", "tokens of a sample, for the FLOPs of a language model"},
    {"scheme-file", 0, "FILE", "also the scheme that this JSON file describes (repeatable)", true},
    {"plugin", 0, "FILE", "also the schemes of this shared object (repeatable)", true},
    {"profiles", 0, "DIR",
     "also the profiles in DIR/models, DIR/devices, DIR/fabrics, DIR/codecs, DIR/sweeps, DIR/published "
     "(repeatable)",
     true},
    {"color", 0, "auto|always|never",
     "colour (default auto: on a terminal, unless NO_COLOR is set or TERM is dumb)"},
    {"quiet", 'q', "", "no warnings"},
    {"verbose", 'v', "", "on standard error also where each figure comes from"},
    {"help", 'h', "", "this text"},
};

}  // namespace

std::span<const Flag> flags() {
  return kFlags;
}

const Flag& flag(std::string_view name) {
  const auto found =
      std::find_if(flags().begin(), flags().end(), [&](const Flag& row) { return row.name == name; });
  if (found == flags().end()) {
    throw std::logic_error("no flag named " + std::string(name));
  }
  return *found;
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

std::size_t count_of(const Request& request, std::string_view flag, std::size_t fallback, std::size_t most) {
  if (!request.has(flag)) {
    return fallback;
  }
  const std::string text = request.get(flag, "");
  try {
    const std::size_t count = parse_count(text);
    if (count == 0 || count > most) {
      throw Error(Fault::value, {}, "\"" + text + "\" is out of range", "1 to " + std::to_string(most));
    }
    return count;
  } catch (const Error& error) {
    throw error.inside("--" + std::string(flag), Fault::value);
  }
}

std::string grouped(std::size_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

}  // namespace breakeven::cli
