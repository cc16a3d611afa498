// Every kernel and the model, timed beside yardsticks of the same run.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <set>
#include <thread>

#include "bench/kernels.h"
#include "bench/message.h"
#include "bench/options.h"
#include "bench/peers.h"
#include "bench/report.h"
#include "bench/run.h"
#include "bench/targets.h"
#include "bench/votes.h"
#include "cli/doors.h"
#include "cli/machine.h"
#include "compressors/builtin.h"
#include "compressors/simd/target.h"
#include "model/error.h"

namespace breakeven::bench {
namespace {

void help() {
  std::fputs(kHelp, stdout);
  benchmark::PrintDefaultHelp();
}

/// Google Benchmark's part of the command line; it ends the process for --help.
void initialise(const std::vector<std::string>& flags) {
  static char program[] = "breakeven_bench";  // kept by Google Benchmark
  std::vector<std::string> texts = flags;
  std::vector<char*> arguments = {program};
  for (std::string& text : texts) {
    arguments.push_back(text.data());
  }
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data(), help);
  if (count > 1) {
    throw Error(Fault::value, arguments[1], "unknown flag", "--help lists them");
  }
}

void describe_machine() {
  benchmark::AddCustomContext("machine", cli::cpu_model());
  benchmark::AddCustomContext("compiler", cli::compiler());
  benchmark::AddCustomContext("simd", simd_target());
}

/// Built-in schemes with their defaults and as the targets want them; those of files with their defaults.
std::vector<Candidate> candidates(Registry& registry, const Options& options, std::vector<Target>& wanted) {
  add_builtin(registry);
  for (const std::string& file : options.files) {
    for (Scheme& scheme : cli::schemes_of(file)) {
      registry.add(std::move(scheme));
    }
  }
  std::vector<std::string> specs = options.specs;
  for (Target& target : wanted) {
    if (target.what != "majority") {
      target.spec = registry.make(target.spec).plain_spec;
    }
  }
  if (specs.empty()) {
    for (const auto& [name, scheme] : registry.all()) {
      specs.push_back(name);
      for (const Target& target : wanted) {
        if (split_spec(target.spec).name == name) {
          specs.push_back(target.spec);
        }
      }
    }
  }
  std::vector<Candidate> result;
  std::set<std::string> seen;
  for (const std::string& spec : specs) {
    Candidate candidate = registry.make(spec);
    if (!seen.insert(candidate.plain_spec).second) {
      continue;
    }
    if (has_kernel(candidate)) {
      result.push_back(std::move(candidate));
    } else {
      std::cerr << "bench: " << candidate.plain_spec << ": described only, there is no code to time\n";
    }
  }
  return result;
}

std::vector<GroupMaker> groups(const std::vector<Candidate>& schemes, bool built_in) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::vector<std::size_t> threads =
      cores > 1 ? std::vector<std::size_t>{1, cores} : std::vector<std::size_t>{1};
  std::vector<GroupMaker> result;
  const auto add = [&](std::vector<Shape> tensors, GradientKind kind, bool others) {
    const auto message = std::make_shared<Message>(std::move(tensors), kind);
    for (const Candidate& candidate : schemes) {
      result.emplace_back([=] { return kernel_group(candidate, message, threads); });
    }
    if (others) {
      result.emplace_back([=] { return vote_group(message); });
      for (const GroupMaker& peer : peer_groups(message)) {
        result.push_back(peer);
      }
    }
    result.emplace_back([=] {
      message->forget();
      return Group{};
    });
  };
  for (const std::size_t elements : {std::size_t{1} << 10U, std::size_t{1} << 16U, std::size_t{1} << 20U}) {
    add(matrix(elements), GradientKind::normal, false);
  }
  add(resnet50(), GradientKind::normal, built_in);
  add(resnet50(), GradientKind::heavy_tailed, false);
  return result;
}

int run_bench(const std::vector<std::string>& arguments) {
  // Pages that were touched once stay: fresh ones would cost more than all that is timed.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  const Options options = read_options(arguments);
  initialise(options.benchmark);
  describe_machine();
  Registry registry;
  std::vector<Target> wanted = targets();
  const std::vector<Candidate> schemes = candidates(registry, options, wanted);
  if (options.targets) {
    std::cout << targets_text(wanted);
    return 0;
  }
  Report report(std::move(wanted));
  const bool clean = run(options, groups(schemes, options.specs.empty()), report);
  if (!options.list) {
    (options.rows ? std::cerr : std::cout)
        << cli::cpu_model() << ", " << simd_target() << ", " << cli::compiler() << "\n\n"
        << report.text();
  }
  return clean ? 0 : 1;
}

}  // namespace
}  // namespace breakeven::bench

int main(int argc, char** argv) {
  try {
    return breakeven::bench::run_bench({argv + 1, argv + argc});
  } catch (const breakeven::Error& error) {
    std::cerr << "bench: error: " << error.what() << '\n';
    return error.fault() == breakeven::Fault::file ? 1 : 2;
  } catch (const std::bad_alloc&) {
    std::cerr << "bench: error: out of memory\n";
    return 1;
  }
}
