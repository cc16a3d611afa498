// Reads what nccl-tests prints, of every era since 2017, and RCCL's: a header that names the columns, and
// rows among whatever else a cluster's log holds. Formats: NVIDIA/nccl-tests, src/common.cu.
#include <algorithm>
#include <utility>

#include "profiles/import/nccl_columns.h"

namespace breakeven {
namespace {

class Text {
 public:
  Text(std::string_view text, std::string where, std::optional<std::size_t> workers)
      : lines_(text, where), where_(std::move(where)), workers_(workers) {}

  NetworkLog read() {
    while (lines_.next()) {
      take(lines_.tokens());
    }
    finish();
    return nccl_log(tables_, program_, where_, workers_);
  }

 private:
  void take(const Tokens& tokens) {
    if (const auto first = row_begin(tokens, columns_)) {
      take_row({tokens.begin() + static_cast<std::ptrdiff_t>(*first), tokens.end()});
      return;
    }
    if (RankLines::is_header(tokens)) {
      if (columns_) {
        finish();
      } else {
        ranks_.forget_list();
      }
      collective_ = std::exchange(next_collective_, {});
      titled_ = false;
      ranks_.take_header(tokens, lines_);
      ranks_.launched(std::exchange(next_processes_, 0));
    }
    table_.failed = table_.failed || (has(tokens, "bounds") && has(tokens, "FAILED"));
    take_program(tokens);
    take_name(tokens);
    if (RankLines::is_rank(tokens)) {
      if (columns_) {  // the ranks of another run, whose first lines are missing
        finish();
      }
      ranks_.take_rank(tokens, lines_);
    } else if (has(tokens, "algbw") && has(tokens, "busbw")) {
      take_header();
    } else {
      ranks_.take_info(tokens, lines_);
      if (!columns_) {
        ranks_.take_cut(tokens);
      }
    }
  }

  /// "# nccl-tests version 2.18.0"
  void take_program(const Tokens& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if ((tokens[i] == "nccl-tests" || tokens[i] == "rccl-tests") && i + 2 < tokens.size() &&
          tokens[i + 1] == "version") {
        program_ = std::string(tokens[i]) + " " + std::string(tokens[i + 2]);
      }
      if (tokens[i] == "RCCL" && program_ == "nccl-tests") {
        program_ = "rccl-tests";
      }
    }
  }

  /// "./build/all_reduce_perf -b 8", "# Collective test starting: all_reduce_perf_mpi", "## all_gather_perf":
  /// a name belongs to the rows below, and nothing takes it from what the program itself says. Prose between
  /// rows ends no table: it may be about any. A line of several names tells nothing.
  void take_name(const Tokens& tokens) {
    std::string name;
    std::size_t at = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::string found = program_in(tokens[i]);
      if (found.empty() || (i > 0 && tokens[i - 1] == "concluded:")) {
        continue;
      }
      if (!name.empty() && found != name) {
        return;
      }
      name = found;
      at = i;
    }
    const bool title = at > 0 && tokens[at - 1] == "starting:";
    if (name.empty() || (titled_ && !title)) {
      return;
    }
    titled_ = title;
    const bool prose = !tokens[0].starts_with('#') && tokens[at].find('/') == std::string_view::npos &&
                       !is_command(tokens, at);
    if (!prose && !table_.rows.empty() && name != collective_) {
      finish_table();  // another run, maybe without a header of its own
    }
    next_collective_ = name;
    if (const std::size_t processes = RankLines::processes(tokens, at, lines_); processes > 0) {
      next_processes_ = processes;
    }
  }
  /// "all_reduce" of "./build/all_reduce_perf"; empty: no program.
  static std::string program_in(std::string_view token) {
    const std::size_t end = token.find("_perf");
    if (end == std::string_view::npos) {
      return {};
    }
    const std::size_t before = token.find_last_not_of("abcdefghijklmnopqrstuvwxyz_", end);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return begin < end ? std::string(token.substr(begin, end - begin)) : std::string();
  }
  /// A line of its own, what a colon announces, or a program with its options.
  static bool is_command(const Tokens& tokens, std::size_t program) {
    const bool last = program + 1 == tokens.size();
    return last ? program == 0 || tokens[program - 1].ends_with(':')
                : tokens[program + 1].size() > 1 && tokens[program + 1].starts_with('-');
  }

  void take_header() {
    NcclColumns columns = nccl_columns(lines_);
    if (!table_.rows.empty()) {  // the next cycle of the same run, or another run pasted below
      const std::string collective = collective_;
      finish_table();
      collective_ = collective;
    }
    columns_ = std::move(columns);
  }

  void take_row(const Tokens& row) {
    if (!columns_) {
      lines_.fail("a row above the line that names its columns",
                  "the whole output of nccl-tests, with its header");
    }
    if (next_processes_ > 0) {
      ranks_.launched(std::exchange(next_processes_, 0));
    }
    if (table_.rows.empty() && !next_collective_.empty()) {
      collective_ = std::exchange(next_collective_, {});
      titled_ = false;
    }
    table_.rows.push_back(nccl_row(lines_, row, *columns_));
  }

  /// Rows that follow may still be below its header, of its ranks.
  void finish_table() {
    if (!table_.rows.empty()) {
      table_.collective = std::exchange(collective_, {});
      table_.ranks = ranks_.ranks();
      tables_.push_back(std::move(table_));
    }
    table_ = {};
  }
  void finish() {
    finish_table();
    ranks_ = {};
    columns_.reset();
    collective_.clear();
  }

  LogLines lines_;
  std::string where_;
  std::optional<std::size_t> workers_;
  std::string program_ = "nccl-tests";
  std::string collective_, next_collective_;  ///< of this run; named since, of the rows below
  std::size_t next_processes_ = 0;            ///< of the command that was named since
  bool titled_ = false;                       ///< the program itself named the rows below
  RankLines ranks_;
  std::optional<NcclColumns> columns_;
  NcclTable table_;
  std::vector<NcclTable> tables_;
};

}  // namespace

NetworkLog read_nccl_tests(std::string_view text, const std::string& where,
                           std::optional<std::size_t> workers) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    return read_nccl_json(text, where, workers);
  }
  return Text(text, where, workers).read();
}

}  // namespace breakeven
