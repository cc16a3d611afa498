// Reads what nccl-tests prints, of every era since 2017, and RCCL's: a header that names the columns, and
// rows among whatever else a cluster's log holds. Formats: NVIDIA/nccl-tests, src/common.cu.
#include <algorithm>
#include <array>
#include <utility>

#include "model/error.h"
#include "profiles/import/nccl_rows.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 15> kTypes = {"int8",     "uint8",    "int32",    "uint32", "int64",
                                                     "uint64",   "half",     "float",    "double", "char",
                                                     "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"};

/// Where the columns of a row stand, from its size on.
struct Columns {
  struct Half {
    std::size_t time = 0, algorithm = 0, bus = 0;
    std::size_t wrong = 0;  ///< 0: does not say
  };
  std::size_t type = 0, operation = 0;  ///< operation 0: has none
  std::vector<Half> halves;             ///< out of place, in place
  [[nodiscard]] std::size_t least() const { return halves.back().bus + 1; }
  [[nodiscard]] bool in_order() const {
    if (type == 0 || halves.empty() || halves.size() > 2) {
      return false;
    }
    std::size_t before = std::max(type, operation);
    for (const Half& half : halves) {
      if (half.time <= before || half.algorithm <= half.time || half.bus <= half.algorithm) {
        return false;
      }
      before = half.bus;
    }
    return true;
  }
};

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
  [[nodiscard]] std::string place() const { return lines_.place(); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const {
    lines_.fail(std::move(wrong), std::move(expected));
  }

  void take(const Tokens& tokens) {
    if (const auto first = row_begin(tokens)) {
      take_row({tokens.begin() + static_cast<std::ptrdiff_t>(*first), tokens.end()});
      return;
    }
    if (RankLines::is_header(tokens)) {
      finish();
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
      take_header(tokens);
    } else {
      ranks_.take_info(tokens, lines_);
      if (!columns_) {
        ranks_.take_cut(tokens);
      }
    }
  }

  /// The place of the size in a row, behind the prefixes that launchers put in front.
  [[nodiscard]] std::optional<std::size_t> row_begin(const Tokens& tokens) const {
    constexpr std::size_t kMostPrefixes = 4;
    for (std::size_t i = 0; i < kMostPrefixes && i + 2 < tokens.size(); ++i) {
      const Tokens rest(tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.end());
      const bool known = std::find(kTypes.begin(), kTypes.end(), rest[2]) != kTypes.end();
      if (is_count(rest[1]) && ((known && is_count(rest[0])) || fills_columns(rest))) {
        return i;
      }
    }
    return std::nullopt;
  }
  /// A row whatever its size and type are: those may be new, or wrong.
  [[nodiscard]] bool fills_columns(const Tokens& tokens) const {
    const auto time_or_none = [&](const Columns::Half& half) {
      return tokens[half.time] == "N/A" ||
             (read_printed(tokens[half.time]) && read_printed(tokens[half.algorithm]) &&
              read_printed(tokens[half.bus]));
    };
    return columns_ && tokens.size() >= columns_->least() && read_printed(tokens[0]) &&
           !read_printed(tokens[columns_->type]) &&
           std::all_of(columns_->halves.begin(), columns_->halves.end(), time_or_none);
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

  void take_header(const Tokens& tokens) {
    const auto begin = std::find_if(tokens.begin(), tokens.end(),
                                    [](std::string_view word) { return word == "size" || word == "bytes"; });
    Columns columns;
    Columns::Half half;
    for (auto token = begin; token != tokens.end(); ++token) {
      const auto column = static_cast<std::size_t>(token - begin);
      if (*token == "cputime") {
        fail("the times are the CPU's, which only starts a collective", "a run without -C 1");
      }
      columns.type = *token == "type" ? column : columns.type;
      columns.operation = *token == "redop" || *token == "op" ? column : columns.operation;
      half.time = *token == "time" ? column : half.time;
      half.algorithm = *token == "algbw" ? column : half.algorithm;
      if (*token == "busbw") {
        half.bus = column;
        columns.halves.push_back(half);
      }
      if (*token == "#wrong" && !columns.halves.empty()) {
        columns.halves.back().wrong = column;
      }
    }
    if (!columns.in_order()) {
      fail("cannot understand this header", "size count type redop root time algbw busbw, twice");
    }
    if (!table_.rows.empty()) {  // the next cycle of the same run, or another run pasted below
      const std::string collective = collective_;
      finish_table();
      collective_ = collective;
    }
    columns_ = columns;
  }

  void take_row(const Tokens& tokens) {
    if (!columns_) {
      fail("a row above the line that names its columns", "the whole output of nccl-tests, with its header");
    }
    if (tokens.size() < columns_->least()) {
      fail("the row is cut short: " + std::to_string(tokens.size()) + " columns",
           "at least " + std::to_string(columns_->least()));
    }
    if (next_processes_ > 0) {
      ranks_.launched(std::exchange(next_processes_, 0));
    }
    if (table_.rows.empty() && !next_collective_.empty()) {
      collective_ = std::exchange(next_collective_, {});
      titled_ = false;
    }
    NcclRow row;
    row.line = lines_.number();
    row.place = place();
    row.type = tokens[columns_->type];
    row.operation = columns_->operation == 0 ? "" : tokens[columns_->operation];
    try {
      row.size = parse_count(tokens[0]);
    } catch (const Error& error) {
      throw error.inside(row.place, Fault::file);
    }
    row.out_of_place = times(tokens, columns_->halves.front(), row.size);
    if (columns_->halves.size() > 1) {
      row.in_place = times(tokens, columns_->halves[1], row.size);
    }
    if (!row.out_of_place && !row.in_place) {
      fail("the row has no time", "microseconds");
    }
    for (const Columns::Half& half : columns_->halves) {
      const auto wrong =
          half.wrong > 0 && half.wrong < tokens.size() ? read_printed(tokens[half.wrong]) : std::nullopt;
      row.wrong = row.wrong || (wrong && wrong->value > 0);
    }
    table_.rows.push_back(std::move(row));
  }

  /// Nothing for a half that was not run.
  [[nodiscard]] std::optional<NcclTimes> times(const Tokens& tokens, const Columns::Half& half,
                                               std::size_t size) const {
    if (tokens[half.time] == "N/A") {
      return std::nullopt;
    }
    const auto number = [&](std::size_t column, std::string_view what, bool above_zero) {
      const auto printed = read_printed(tokens[column]);
      if (!printed || printed->value < 0 || (above_zero && printed->value == 0)) {
        fail("cannot use " + quote(tokens[column]) + " as " + std::string(what),
             above_zero ? "a number above 0" : "a number");
      }
      return *printed;
    };
    NcclTimes result;
    result.time = number(half.time, "a time", size > 0);
    result.algorithm_bandwidth = number(half.algorithm, "an algorithm bandwidth", false);
    result.bus_bandwidth = number(half.bus, "a bus bandwidth", false);
    return result;
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
  std::optional<Columns> columns_;
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
