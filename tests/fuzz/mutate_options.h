// Mutates a command line by its options, so that the fuzzer gets past the parser: sets one to a value that it
// takes, or takes one away.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cli/command.h"
#include "compressors/builtin.h"
#include "profiles/catalogue.h"
#include "profiles/option_values.h"

namespace breakeven::fuzz {

using Words = std::vector<std::string>;
using Random = std::minstd_rand;

inline const std::string& pick(const Words& words, Random& random) {
  return words[random() % words.size()];
}

/// Values of one kind: everyday ones, and both ends of what is taken.
inline Words numbers(OptionKind kind) {
  switch (kind) {
    case OptionKind::bytes:
      return {"100MB", "1GiB", "1MiB", "1B", "0.1B", "1e-18B", "1e15B", "25MiB", "0B"};
    case OptionKind::time:
      return {"0s", "1us", "10ms", "100ms", "1s", "1e-18s", "1e6s"};
    case OptionKind::bandwidth:
      return {"1Gbps", "10Gbit/s", "25Gbps", "100GB/s", "1bps", "1e-18B/s", "1e18B/s"};
    case OptionKind::rate:
      return {"253 /s", "1/s", "1e-18/s", "1e12/s"};
    case OptionKind::count:
      return {"1", "2", "3", "4", "8", "16", "64", "1000", "1048576", "0", "1000000000"};
    case OptionKind::fraction:
      return {"0", "1%", "50%", "1", "1e-18", "100"};
    case OptionKind::factor:
      break;
  }
  return {"1", "1.07", "1.5", "10"};
}

inline Words values_of(const Option& option) {
  static const Catalogue catalogue;
  if (const OptionRule* rule = option_rule(option.name)) {
    return numbers(rule->kind);
  }
  const Words words = cli::choices(option.value);
  if (!words.empty()) {
    return words;
  }
  if (option.name == "schedule") {
    return {"ddp", "equal", "bsp", "wfbp", "ddp:cap=1GB,first=1B", "equal:cap=1MiB", "equal:cap=1B"};
  }
  if (option.name == "backward-log") {
    return {"missing.log"};
  }
  return catalogue.names(option.name == "host" ? "devices" : option.name + "s");
}

inline Words schemes() {
  Registry registry;
  add_builtin(registry);
  Words specs = {"topk:ratio=1e-18",          "topk:encode=1ms,decode=0s",       "randomk:ratio=100%",
                 "powersgd:rank=65536",       "signsgd:encode=1e6s,decode=1e6s", "int8:block=8,min_size=0",
                 "acpsgd:rank=1,min_ratio=2", "qsgd:encode=1e-18s,decode=1e-18s"};
  for (const auto& entry : registry.all()) {
    specs.push_back(entry.first);
  }
  return specs;
}

/// `lines` with one option set, taken away or given a second value.
inline void mutate_options(Words& lines, Random& random) {
  static const Words all_schemes = schemes();
  const auto& options = scenario_options();
  const Option& option = options[random() % options.size()];
  const bool scheme = random() % 4 == 0;
  const std::string name = scheme ? "--scheme" : "--" + option.name;
  const std::string value = pick(scheme ? all_schemes : values_of(option), random);
  if (random() % 8 == 0 && std::find(lines.begin(), lines.end(), "--format") == lines.end()) {
    lines.emplace_back("--format=json");  // what most can be checked of
  }
  if (random() % 8 == 0) {
    std::replace(lines.begin(), lines.end(), std::string("query"), std::string("sweep"));
  }
  const auto found = std::find(lines.begin(), lines.end(), name);
  if (found == lines.end() || found + 1 == lines.end()) {
    lines.push_back(name);
    lines.push_back(value);
    return;
  }
  switch (random() % 4) {
    case 0:
      lines.erase(found, found + 2);
      break;
    case 1:
      *(found + 1) += "," + value;
      break;
    default:
      *(found + 1) = value;
  }
}

}  // namespace breakeven::fuzz
