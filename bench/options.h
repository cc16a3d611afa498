// The benchmark's own flags; everything else goes to Google Benchmark.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace breakeven::bench {

struct Options {
  std::vector<std::string> files;      ///< of schemes: --plugin, --scheme-file
  std::vector<std::string> specs;      ///< --scheme: these in place of the built-in list
  std::string filter;                  ///< --benchmark_filter
  std::optional<std::string> out;      ///< --benchmark_out
  bool rows = false;                   ///< --benchmark_format: every row on stdout
  bool targets = false;                ///< --targets
  bool list = false;                   ///< --benchmark_list_tests
  std::vector<std::string> benchmark;  ///< for Google Benchmark: the defaults, then what was given
};

/// Throws Error (value).
Options read_options(const std::vector<std::string>& arguments);
/// The own flags, for --help.
extern const char* const kHelp;

}  // namespace breakeven::bench
