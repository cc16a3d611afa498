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
        columns_ = 0;
      } else if (const auto size = std::find(tokens.begin(), tokens.end(), "Size");
                 std::any_of(size, tokens.end(), has_unit)) {
        take_header({size, tokens.end()});
      } else if (columns_ > 0) {
        take_row(lines_.row(columns_));
      }
    }
    return std::move(tables_);
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
    title_.clear();
    for (word += 2; word != test; ++word) {  // behind the library
      if (*word != "Latency") {
        title_ += (title_.empty() ? "" : " ") + std::string(*word);
      }
    }
    if (title_.empty()) {  // osu_latency, between two
      title_ = "Latency";
    }
    if (test + 1 != tokens.end() && (test + 1)->starts_with('v')) {
      version_ = " " + std::string(*(test + 1));
    }
    return true;
  }

  static bool has_unit(std::string_view token) { return token.ends_with(')'); }

  /// "Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
  void take_header(const Tokens& tokens) {
    columns_ = 1;
    for (const std::string_view token : tokens) {
      columns_ += has_unit(token) || token == "Iterations" ? 1 : 0;
    }
    if (title_.empty()) {
      lines_.fail("the table has no title", "a line such as # OSU MPI Allreduce Latency Test v5.8");
    }
    const KnownCollective* collective = find_collective(kCollectives, title_);
    if (collective != nullptr && tokens[1] != "Avg" && !tokens[1].starts_with("Latency")) {
      lines_.fail("cannot understand this header", "# Size       Avg Latency(us)");
    }
    tables_.push_back({title_, collective, 0, {}});
  }

  void take_row(const Tokens& row) {
    if (row.empty()) {
      return;
    }
    failed_ += row.back() == "Fail" ? 1 : 0;
    CollectiveTable& table = tables_.back();
    if (table.collective == nullptr) {
      table.rows.emplace_back();
      return;
    }
    table.rows.push_back(
        {Bytes::of(static_cast<double>(lines_.count(row[0]))), lines_.time(row[1]), lines_.number()});
  }

  LogLines lines_;
  std::string title_, version_;
  std::size_t columns_ = 0;  ///< 0: not in a table
  std::size_t failed_ = 0;   ///< rows whose validation failed
  std::vector<CollectiveTable> tables_;
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
