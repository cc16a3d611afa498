#include "bench/run.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>

#include "bench/kernels.h"
#include "model/error.h"

namespace breakeven::bench {
namespace {

using Run = benchmark::BenchmarkReporter::Run;

/// As Google Benchmark names it: with how it is timed.
std::string full_name(const Row& row) {
  return name_of(row.subject) + (row.own_clock                ? "/manual_time"
                                 : by_wall_clock(row.subject) ? "/real_time"
                                                              : "");
}

/// Google Benchmark's own rule for --benchmark_filter.
class Filter {
 public:
  explicit Filter(const std::string& text)
      : all_(text.empty() || text == "all"), inverse_(text.starts_with("-")) {
    if (!all_) {
      try {
        pattern_ = std::regex(text.substr(inverse_ ? 1 : 0), std::regex::extended);
      } catch (const std::regex_error&) {
        throw Error(Fault::value, "--benchmark_filter", "\"" + text + "\"", "a regular expression");
      }
    }
  }
  [[nodiscard]] bool takes(const std::string& name) const {
    return all_ || std::regex_search(name, pattern_) != inverse_;
  }

 private:
  bool all_, inverse_;
  std::regex pattern_;
};

/// Of one call, in `run`: an aggregate's spread is a plain number.
double seconds_of(const Run& run) {
  const std::string& clock = run.run_name.time_type;
  const double time =
      clock == "real_time" || clock == "manual_time" ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
  return time / benchmark::GetTimeUnitMultiplier(run.time_unit);
}
double spread_of(const Run& run) {
  const std::string& clock = run.run_name.time_type;
  return clock == "real_time" || clock == "manual_time" ? run.real_accumulated_time
                                                        : run.cpu_accumulated_time;
}

/// Several runs of Google Benchmark as one, told to everybody who wants to know.
class FanOut final : public benchmark::BenchmarkReporter {
 public:
  FanOut(const Options& options, Report& report) : report_(report) {
    if (options.rows) {
      listeners_.emplace_back(benchmark::CreateDefaultDisplayReporter());
    }
    if (options.out) {
      file_.open(*options.out);
      if (!file_) {
        throw Error(Fault::file, *options.out, "cannot be written", "a path of a new file");
      }
      listeners_.push_back(std::make_unique<benchmark::JSONReporter>());
      listeners_.back()->SetOutputStream(&file_);
    }
  }

  void expect(const Row& row) { subjects_[name_of(row.subject)] = row.subject; }

  bool ReportContext(const Context& context) override {
    if (!started_) {
      Context wide = context;
      constexpr std::size_t kName = 80;
      wide.name_field_width = kName;
      for (const auto& listener : listeners_) {
        listener->ReportContext(wide);
      }
    }
    started_ = true;
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    tell(runs);
    const Run* median = nullptr;
    Measured measured;
    for (const Run& run : runs) {
      if (run.error_occurred) {
        std::cerr << "bench: " << run.benchmark_name() << ": " << run.error_message << '\n';
        failed_ = true;
        return;
      }
      if (run.aggregate_name == "cv") {
        measured.spread = spread_of(run);
      } else if (run.aggregate_name == "median" || (median == nullptr && run.aggregate_name.empty())) {
        median = &run;
      }
    }
    if (median == nullptr) {
      return;
    }
    measured.seconds = seconds_of(*median);
    if (const auto rate = median->counters.find("bytes_per_second"); rate != median->counters.end()) {
      measured.rate = rate->second.value;
    }
    const auto found = subjects_.find(median->run_name.function_name);
    if (found == subjects_.end()) {
      report_.add(median->run_name.str(), measured);
      return;
    }
    report_.add(found->second, measured);
    if (found->second.what == "decode") {
      decodes_.emplace(name_of(found->second), std::make_pair(found->second, *median));
    }
  }

  /// Ends a group: adds what follows from its rows.
  void derive() {
    for (const auto& [name, decode] : decodes_) {
      Subject one = decode.first;
      one.workers = 1;
      const auto found = decodes_.find(name_of(one));
      if (decode.first.workers == 1 || found == decodes_.end()) {
        continue;
      }
      one.what = "decode_next";
      Run next = decode.second;
      const Run& single = found->second.second;
      const auto further = [&](double many, double few) {
        const double each =
            many / static_cast<double>(next.iterations) - few / static_cast<double>(single.iterations);
        return each / (kGathered - 1) * static_cast<double>(next.iterations);
      };
      next.run_name.function_name = name_of(one);
      next.real_accumulated_time = further(next.real_accumulated_time, single.real_accumulated_time);
      next.cpu_accumulated_time = further(next.cpu_accumulated_time, single.cpu_accumulated_time);
      if (next.real_accumulated_time <= 0 || next.cpu_accumulated_time <= 0) {
        continue;  // less than the clock can tell apart
      }
      next.counters.clear();
      next.report_label = "computed: (decode4 - decode) / 3";
      tell({next});
    }
    decodes_.clear();
    subjects_.clear();
  }

  void finish() {
    for (const auto& listener : listeners_) {
      if (started_) {
        listener->Finalize();
      }
    }
    file_.flush();
    if (file_.is_open() && !file_) {
      throw Error(Fault::file, "--benchmark_out", "cannot be written", "room for it");
    }
  }

  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void tell(const std::vector<Run>& runs) {
    for (const auto& listener : listeners_) {
      listener->ReportRuns(runs);
    }
  }

  Report& report_;
  std::ofstream file_;
  std::vector<std::unique_ptr<benchmark::BenchmarkReporter>> listeners_;
  std::map<std::string, Subject> subjects_;
  std::map<std::string, std::pair<Subject, Run>> decodes_;
  bool started_ = false, failed_ = false;
};

void add_row(const Row& row) {
  auto* const added = benchmark::RegisterBenchmark(name_of(row.subject).c_str(), row.run);
  if (row.own_clock) {
    added->UseManualTime();
  } else if (by_wall_clock(row.subject)) {
    added->UseRealTime();
  }
}

bool run_group(const Group& group, const Filter& filter, FanOut& out) {
  std::vector<std::size_t> threads;
  for (const Row& row : group.rows) {
    if (filter.takes(full_name(row))) {
      out.expect(row);
      add_row(row);
      threads.push_back(row.subject.threads);
    }
  }
  for (const Row& row : group.yardsticks) {
    if (std::find(threads.begin(), threads.end(), row.subject.threads) != threads.end()) {
      out.expect(row);
      add_row(row);
    }
  }
  if (!threads.empty()) {
    benchmark::RunSpecifiedBenchmarks(&out, "all");
    out.derive();
  }
  benchmark::ClearRegisteredBenchmarks();
  return !threads.empty();
}

}  // namespace

bool run(const Options& options, const std::vector<GroupMaker>& groups, Report& report) {
  const Filter filter(options.filter);
  FanOut out(options, report);
  std::ostringstream unheard;  // that nothing matched: another group may
  out.SetErrorStream(&unheard);
  bool any = benchmark::RunSpecifiedBenchmarks(&out, options.filter.empty() ? "all" : options.filter) > 0;
  benchmark::ClearRegisteredBenchmarks();
  out.SetErrorStream(&std::cerr);
  const bool progress = isatty(STDERR_FILENO) != 0 && !options.list;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (progress) {
      std::cerr << "\rbench: " << i + 1 << " of " << groups.size() << std::flush;
    }
    any = run_group(groups[i](), filter, out) || any;
  }
  if (progress) {
    std::cerr << "\r\033[K";
  }
  if (!options.list) {
    out.finish();
  }
  if (!any) {
    throw Error(Fault::value, "--benchmark_filter", "\"" + options.filter + "\" matches nothing",
                "part of a name that --benchmark_list_tests shows");
  }
  return !out.failed();
}

}  // namespace breakeven::bench
