// Reads what the Intel MPI Benchmarks (IMB-MPI1) print: a table a collective and number of processes. The
// slowest process counts, since a step waits for it. Formats: intel/mpi-benchmarks, src_c/IMB_output.c; with
// #Benchmarking and #procs in front every row says what it is of.
#include <algorithm>

#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

// What #bytes is: Intel MPI Benchmarks User Guide, "Collective Benchmarks".
constexpr KnownCollective kCollectives[] = {
    {"Allreduce", Exchange::all_reduce},
    {"Allgather", Exchange::all_gather},
    {"Reduce_scatter", Exchange::reduce_scatter},
    {"Alltoall", Exchange::all_to_all, true},
};

class Imb {
 public:
  Imb(std::string_view text, const std::string& where) : lines_(text, where) {}

  std::vector<CollectiveTable> tables() {
    while (lines_.next()) {
      take(lines_.tokens());
    }
    if (not_run_ > 0) {
      notes.push_back(std::to_string(not_run_) + (not_run_ == 1 ? " row" : " rows") + " that IMB left out");
    }
    return tables_.take();
  }

  std::string version;
  std::vector<std::string> notes;

 private:
  void take(const Tokens& tokens) {
    if (const std::string_view title = after(tokens, "Benchmarking"); !title.empty()) {
      title_ = title;
      by_row_ = false;
      tables_.start(title_);
    } else if (has(tokens, "#processes")) {
      tables_.among(lines_.count(after(tokens, "=")));
    } else if (has(tokens, "groups") && has(tokens, "simultaneous")) {
      const std::size_t workers = lines_.count(after(tokens, "of"));
      tables_.among(workers);
      notes.push_back("groups of " + std::to_string(workers) + " ran at once: they share the network");
    } else if (has(tokens, "Benchmarks") && has(tokens, "part")) {
      take_version(tokens);
    } else if (has(tokens, "#bytes")) {
      take_header(tokens);
    } else if (by_row_ || tables_.open()) {
      take_row(lines_.row());
    }
  }

  static std::string_view after(const Tokens& tokens, std::string_view word) {
    const auto found = std::find(tokens.begin(), tokens.end(), word);
    return found == tokens.end() || found + 1 == tokens.end() ? std::string_view{} : *(found + 1);
  }

  /// "#    Intel(R) MPI Benchmarks 2021.2, MPI-1 part"
  void take_version(const Tokens& tokens) {
    const auto end = std::find_if(tokens.begin(), tokens.end(),
                                  [](std::string_view token) { return token.ends_with(','); });
    for (auto word = std::find(tokens.begin(), tokens.end(), "Benchmarks"); word < end;) {
      if (++word != tokens.end()) {
        version += " " + std::string(word->substr(0, word->find(',')));
      }
    }
  }

  /// "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]", maybe behind "#Benchmarking #procs"
  void take_header(const Tokens& tokens) {
    const auto column = [&](std::string_view name) { return std::find(tokens.begin(), tokens.end(), name); };
    constexpr std::string_view kCounts[] = {"#", "#Benchmarking", "#procs", "#bytes", "#repetitions"};
    for (const std::string_view token : tokens) {
      if (token.starts_with('#') &&
          std::find(std::begin(kCounts), std::end(kCounts), token) == std::end(kCounts)) {
        lines_.fail("unknown column " + quote(token), std::string(kHeader));
      }
    }
    const auto bytes = column("#bytes");
    const auto slowest = column("t_max[usec]");
    const auto processes = column("#procs");
    const auto begin = std::min(bytes, processes);
    if (slowest < bytes || (processes != tokens.end() && processes + 1 != bytes)) {
      lines_.fail("cannot understand this header", std::string(kHeader));
    }
    const auto place = [&](auto token) { return static_cast<std::size_t>(token - begin); };
    columns_ = place(tokens.end());
    time_ = slowest == tokens.end() ? std::nullopt : std::optional(place(slowest));
    by_row_ = begin != bytes;
    named_ = has(tokens, "#Benchmarking");
    workers_ = 0;
    if (!by_row_) {
      tables_.head(columns_, time_);
    }
  }

  void take_row(const Tokens& row) {
    if (was_not_run(row)) {
      return;
    }
    if (by_row_ && !row.empty()) {
      start_table_of(row);
    }
    tables_.row();
  }

  /// "Allreduce  96  4096  1000  397.88  398.07  397.95"
  void start_table_of(const Tokens& row) {
    const std::size_t workers = lines_.count(row[0]);
    const Tokens& tokens = lines_.tokens();
    const std::string title =
        named_ && tokens.size() > row.size() ? std::string(tokens[tokens.size() - row.size() - 1]) : title_;
    if (workers != workers_ || title != title_) {
      title_ = title;
      workers_ = workers;
      tables_.start(title_);
      tables_.among(workers_);
      tables_.head(columns_, time_, 1);
    }
  }

  bool was_not_run(const Tokens& row) {
    const std::size_t size = by_row_ ? 1 : 0;
    const bool left_out = row.size() > size + 1 &&
                          (row[size + 1].starts_with("out-of-mem") || row[size + 1].starts_with("time-out") ||
                           row[size + 1].starts_with("int-overflow"));
    not_run_ += left_out ? 1 : 0;
    return left_out;
  }

  static constexpr std::string_view kHeader = "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]";

  LogLines lines_;
  TableBuilder tables_{lines_, kCollectives, "# Benchmarking Allreduce", std::string(kHeader)};
  std::string title_;
  std::size_t columns_ = 0, workers_ = 0;
  std::optional<std::size_t> time_;
  bool by_row_ = false, named_ = false;  ///< a row has the processes, and the benchmark
  std::size_t not_run_ = 0;
};

}  // namespace

NetworkLog read_imb(std::string_view text, const std::string& where, std::optional<std::size_t> workers) {
  Imb imb(text, where);
  const std::vector<CollectiveTable> tables = imb.tables();
  NetworkLog log;
  log.program = "Intel MPI Benchmarks" + imb.version;
  log.notes = std::move(imb.notes);
  return with_rows(std::move(log), tables, where, workers,
                   "what IMB-MPI1 Allreduce prints, from # Benchmarking Allreduce on");
}

}  // namespace breakeven
