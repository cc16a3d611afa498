#include "bench/options.h"

#include <string_view>

#include "model/error.h"

namespace breakeven::bench {

const char* const kHelp =
    "usage: breakeven_bench [--scheme SPEC]... [--plugin FILE.so]... [--scheme-file FILE.json]... "
    "[--targets]\n"
    "                       [Google Benchmark's flags, below]\n\n"
    "Times every kernel beside a read pass and a copy of the same vector, then the model, and reports each "
    "in\n"
    "read passes, worst first against its target.\n\n"
    "  --scheme SPEC        time this one, with its parameters, in place of the built-in list; repeatable\n"
    "  --plugin FILE.so     schemes of a shared object, timed like the others; repeatable\n"
    "  --scheme-file FILE   schemes of a JSON file: they have no code to time, which is said; repeatable\n"
    "  --targets            print the targets, an object of JSON a line, and time nothing\n\n"
    "Names: encode/SPEC/ELEMENTS/threads:T/kind:GRADIENT, decode/... of one worker's payload, decode4/... of "
    "four\n"
    "workers' payloads; decode_next/..., what each further payload adds, is computed: (decode4 - decode) / "
    "3.\n"
    "read/... and memcpy/... run beside every scheme. One thread: CPU time; more: real time.\n"
    "Defaults, which flags override: --benchmark_repetitions=9 --benchmark_min_time=0.01\n"
    "--benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true\n"
    "With --benchmark_format=console|json|csv every row goes to stdout, and the report to stderr.\n\n";

namespace {

/// The value of `--name=VALUE` or `--name VALUE` at `at`, which moves to the flag's last argument.
std::optional<std::string> value_of(std::string_view name, const std::vector<std::string>& arguments,
                                    std::size_t& at) {
  const std::string_view argument = arguments[at];
  if (argument == name) {
    if (at + 1 == arguments.size()) {
      throw Error(Fault::value, std::string(name), "has no value", "one");
    }
    return arguments[++at];
  }
  if (argument.starts_with(name) && argument.substr(name.size()).starts_with("=")) {
    return std::string(argument.substr(name.size() + 1));
  }
  return std::nullopt;
}

/// A flag of Google Benchmark that is a truth.
bool is_set(std::string_view argument, std::string_view name) {
  return argument == name || argument == std::string(name) + "=true" || argument == std::string(name) + "=1";
}

}  // namespace

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  options.benchmark = {"--benchmark_repetitions=9", "--benchmark_min_time=0.01",
                       "--benchmark_enable_random_interleaving=true",
                       "--benchmark_report_aggregates_only=true"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto spec = value_of("--scheme", arguments, i)) {
      options.specs.push_back(*spec);
    } else if (const auto plugin = value_of("--plugin", arguments, i)) {
      options.files.push_back(*plugin);
    } else if (const auto file = value_of("--scheme-file", arguments, i)) {
      options.files.push_back(*file);
    } else if (const auto out = value_of("--benchmark_out", arguments, i)) {
      options.out = *out;
    } else if (const auto format = value_of("--benchmark_out_format", arguments, i)) {
      if (*format != "json") {
        throw Error(Fault::value, "--benchmark_out_format", "\"" + *format + "\"", "json");
      }
    } else if (const auto filter = value_of("--benchmark_filter", arguments, i)) {
      options.filter = *filter;
    } else if (arguments[i] == "--targets") {
      options.targets = true;
    } else {
      options.rows = options.rows || arguments[i].starts_with("--benchmark_format=");
      options.list = options.list || is_set(arguments[i], "--benchmark_list_tests");
      options.benchmark.push_back(arguments[i]);
    }
  }
  return options;
}

}  // namespace breakeven::bench
