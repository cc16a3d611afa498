// Reads what the Intel MPI Benchmarks (IMB-MPI1) print: a table a collective and number of processes. The
// slowest process counts, since a step waits for it. Formats: intel/mpi-benchmarks, src_c/IMB_output.c.
#include <algorithm>

#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"

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
      tables_.start(std::string(title));
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
    } else if (tables_.open() && !was_not_run(lines_.row())) {
      tables_.row();
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

  /// "#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
  void take_header(const Tokens& tokens) {
    const auto begin = std::find(tokens.begin(), tokens.end(), "#bytes");
    const auto slowest = std::find(begin, tokens.end(), "t_max[usec]");
    tables_.head(
        static_cast<std::size_t>(tokens.end() - begin),
        slowest == tokens.end() ? std::nullopt : std::optional(static_cast<std::size_t>(slowest - begin)));
  }

  bool was_not_run(const Tokens& row) {
    const bool left_out =
        row.size() > 1 && (row[1].starts_with("out-of-mem") || row[1].starts_with("time-out") ||
                           row[1].starts_with("int-overflow"));
    not_run_ += left_out ? 1 : 0;
    return left_out;
  }

  LogLines lines_;
  TableBuilder tables_{lines_, kCollectives, "# Benchmarking Allreduce",
                       "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]"};
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
