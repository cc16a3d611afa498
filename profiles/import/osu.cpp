// Reads what the OSU micro-benchmarks print for blocking collectives, MPI's and NCCL's, versions 3 to 7. They
// never say among how many ranks. Formats: osu-micro-benchmarks, c/util/osu_util_mpi.c.
#include <algorithm>

#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"

namespace breakeven {
namespace {

// What a size is: c/mpi/collective/blocking. Reduce_scatter's is divided among the ranks.
constexpr KnownCollective kCollectives[] = {
    {"Allreduce", Exchange::all_reduce},
    {"Allgather", Exchange::all_gather},
    {"Reduce_scatter", Exchange::reduce_scatter},
    {"All-to-All Personalized Exchange", Exchange::all_to_all, true},
    {"Alltoall", Exchange::all_to_all, true},
};

class Osu {
 public:
  Osu(std::string_view text, const std::string& where) : lines_(text, where) {}

  std::vector<CollectiveTable> tables() {
    while (lines_.next()) {
      const Tokens& tokens = lines_.tokens();
      if (take_title(tokens)) {
        continue;
      }
      if (const auto size = std::find(tokens.begin(), tokens.end(), "Size");
          std::any_of(size, tokens.end(), has_unit)) {
        take_header({size, tokens.end()});
      } else if (tables_.open()) {
        const Tokens row = lines_.row();
        failed_ += !row.empty() && row.back() == "Fail" ? 1 : 0;
        tables_.row();
      }
    }
    return tables_.take();
  }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  /// "# OSU MPI-CUDA Allreduce Latency Test v5.8"
  bool take_title(const Tokens& tokens) {
    const auto test = std::find(tokens.begin(), tokens.end(), "Test");
    auto word = std::find_if(tokens.begin(), test, [](std::string_view token) { return token == "OSU"; });
    if (test == tokens.end() || test - word < 3) {
      return false;
    }
    std::string title;
    for (word += 2; word != test; ++word) {  // behind the library
      if (*word != "Latency") {
        title += (title.empty() ? "" : " ") + std::string(*word);
      }
    }
    tables_.start(title.empty() ? "Latency" : title);  // osu_latency, between two
    if (test + 1 != tokens.end() && (test + 1)->starts_with('v')) {
      version_ = " " + std::string(*(test + 1));
    }
    return true;
  }

  static bool has_unit(std::string_view token) { return token.ends_with(')'); }

  /// "Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
  void take_header(const Tokens& tokens) {
    std::size_t columns = 1;
    for (const std::string_view token : tokens) {
      columns += has_unit(token) || token == "Iterations" ? 1 : 0;
    }
    const bool timed = tokens[1] == "Avg" || tokens[1].starts_with("Latency");
    tables_.head(columns, timed ? std::optional<std::size_t>(1) : std::nullopt);
  }

  LogLines lines_;
  TableBuilder tables_{lines_, kCollectives, "# OSU MPI Allreduce Latency Test v5.8",
                       "# Size       Avg Latency(us)"};
  std::string version_;
  std::size_t failed_ = 0;  ///< rows whose validation failed
};

}  // namespace

NetworkLog read_osu(std::string_view text, const std::string& where, std::optional<std::size_t> workers) {
  Osu osu(text, where);
  const std::vector<CollectiveTable> tables = osu.tables();
  NetworkLog log;
  log.program = "OSU micro-benchmarks" + osu.version();
  if (osu.failed() > 0) {
    log.notes.push_back("warning: the run computed wrong results in " + std::to_string(osu.failed()) +
                        (osu.failed() == 1 ? " row" : " rows") +
                        ": its times may not be those of a working network");
  }
  return with_rows(std::move(log), tables, where, workers,
                   "what osu_allreduce prints, from # OSU MPI Allreduce Latency Test on");
}

}  // namespace breakeven
