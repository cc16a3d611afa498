// How fast is the model? Read each figure against the yardsticks that run beside it: a pass over memory, and
// starting a process that does nothing.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "compressors/builtin.h"
#include "model/sweep.h"
#include "model/verdict.h"
#include "profiles/catalogue.h"
#include "profiles/grid_runner.h"
#include "profiles/setup.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace breakeven {
namespace {

OptionValues values(const char* method, const char* schedule = "ddp") {
  return {{"model", "resnet50"},   {"device", "v100"},        {"batch", "32"},    {"workers", "64"},
          {"bandwidth", "10Gbps"}, {"workers-per-node", "4"}, {"method", method}, {"schedule", schedule}};
}
Registry registry() {
  Registry result;
  add_builtin(result);
  return result;
}

/// Yardstick: one read of a vector that does not fit into the caches.
void read_memory(benchmark::State& state) {
  const std::vector<double> data(std::size_t{1} << 23, 1.0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(std::accumulate(data.begin(), data.end(), 0.0));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(data.size() * sizeof(double)));
}
BENCHMARK(read_memory);

/// One step of ResNet-50 (161 tensors) with its network priced, by spec.
void step(benchmark::State& state, const char* method, const char* spec, const char* schedule = "ddp") {
  const Catalogue catalogue;
  const ScenarioSetup setup = resolve(values(method, schedule), catalogue);
  const Candidate candidate = priced(registry().make(spec), setup);
  Forecast forecast(setup.scenario, *candidate.compressor);
  for (auto _ : state) {
    benchmark::DoNotOptimize(forecast.run(setup.scenario.fabric));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(step, timeline_plain, "timeline", "none");
BENCHMARK_CAPTURE(step, timeline_powersgd, "timeline", "powersgd:rank=4");
BENCHMARK_CAPTURE(step, closed_form_plain, "closed-form", "none");
// Pieces of 4 MB: a million elements.
BENCHMARK_CAPTURE(step, timeline_p3, "timeline", "none", "p3:slice=1000000");
BENCHMARK_CAPTURE(step, timeline_bytescheduler, "timeline", "none", "bytescheduler:partition=1000000");

/// The best buckets anew for each network, as a search for a bandwidth asks for them.
void optimal(benchmark::State& state, const char* model) {
  const Catalogue catalogue;
  OptionValues asked = values("timeline", "optimal");
  asked["model"] = model;
  const ScenarioSetup setup = resolve(asked, catalogue);
  const Candidate plain = registry().make("none");
  Forecast forecast(setup.scenario, *plain.compressor);
  Fabric fabric = setup.scenario.fabric;
  for (auto _ : state) {
    fabric.across.bandwidth *= 1 + 1e-9;
    benchmark::DoNotOptimize(forecast.run(fabric));
  }
}
BENCHMARK_CAPTURE(optimal, resnet50, "resnet50");
BENCHMARK_CAPTURE(optimal, bert_large, "bert-large");
BENCHMARK_CAPTURE(optimal, densenet201, "densenet201");

/// The same from the scenario on: buckets, plans and timeline.
void predict_resnet50(benchmark::State& state) {
  const Catalogue catalogue;
  const ScenarioSetup setup = resolve(values("timeline"), catalogue);
  const Candidate plain = registry().make("none");
  for (auto _ : state) {
    Forecast forecast(setup.scenario, *plain.compressor);
    benchmark::DoNotOptimize(forecast.run(setup.scenario.fabric));
  }
}
BENCHMARK(predict_resnet50);

/// From the embedded text: a catalogue reads each profile once.
void load_model(benchmark::State& state, const char* name) {
  for (auto _ : state) {
    const Catalogue catalogue;
    benchmark::DoNotOptimize(catalogue.model(name));
  }
}
BENCHMARK_CAPTURE(load_model, resnet50, "resnet50");
BENCHMARK_CAPTURE(load_model, gpt2_xl, "gpt2-xl");

void judge_powersgd(benchmark::State& state) {
  const Catalogue catalogue;
  const ScenarioSetup setup = resolve(values("timeline"), catalogue);
  const Candidate plain = registry().make("none");
  const Candidate candidate = priced(registry().make("powersgd:rank=4"), setup);
  for (auto _ : state) {
    benchmark::DoNotOptimize(judge(setup.scenario, *plain.compressor, *candidate.compressor));
  }
}
BENCHMARK(judge_powersgd);

/// A whole process, its output thrown away.
void run_process(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(
        const_cast<char*>(argument.c_str()));  // NOLINT: posix_spawn's signature; it does not write
  }
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ) != 0 ||
      waitpid(child, &status, 0) != child || status != 0) {
    std::abort();
  }
  posix_spawn_file_actions_destroy(&actions);
}

void process_true(benchmark::State& state) {
  for (auto _ : state) {
    run_process({"/bin/true"});
  }
}
BENCHMARK(process_true)->UseRealTime()->Unit(benchmark::kMillisecond);

void process_query(benchmark::State& state) {
  const std::vector<std::string> command = {BREAKEVEN_PROGRAM,
                                            "query",
                                            "--model",
                                            "resnet50",
                                            "--device",
                                            "v100",
                                            "--batch",
                                            "64",
                                            "--workers",
                                            "64",
                                            "--workers-per-node",
                                            "4",
                                            "--bandwidth",
                                            "10Gbps",
                                            "--scheme",
                                            "powersgd:rank=4",
                                            "--scheme",
                                            "topk:ratio=1%",
                                            "--scheme",
                                            "signsgd",
                                            "--scheme",
                                            "int8"};
  for (auto _ : state) {
    run_process(command);
  }
}
BENCHMARK(process_query)->UseRealTime()->Unit(benchmark::kMillisecond);

/// A million closed-form setups to a CSV file, as the program does it, on two threads.
void process_sweep_million(benchmark::State& state) {
  const std::vector<std::string> command = {BREAKEVEN_PROGRAM, "sweep",
                                            "--model",         "resnet50",
                                            "--device",        "v100",
                                            "--batch",         "32",
                                            "--workers",       "8,16,32,64",
                                            "--method",        "closed-form",
                                            "--bandwidth",     "1Gbps..1000Gbps+0.1Gbps",
                                            "--latency",       "1us..25us+1us",
                                            "--scheme",        "powersgd:rank=4",
                                            "--format",        "csv",
                                            "--threads",       "2"};
  constexpr std::int64_t kRows = 999100;
  for (auto _ : state) {
    run_process(command);
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(process_sweep_million)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace breakeven
