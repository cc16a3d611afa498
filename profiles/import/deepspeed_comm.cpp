// Reads what DeepSpeed's and the EleutherAI cookbook's communication benchmarks print. Their throughput of an
// all-reduce is 2 size / time, so that only durations are used. Formats: EleutherAI/cookbook,
// benchmarks/communication/utils.py.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

// What the description counts: the tensor that a rank puts in.
constexpr KnownCollective kCollectives[] = {
    {"all_reduce", Exchange::all_reduce},         {"allreduce", Exchange::all_reduce},
    {"all_gather", Exchange::all_gather},         {"allgather", Exchange::all_gather},
    {"reduce_scatter", Exchange::reduce_scatter}, {"all_to_all", Exchange::all_to_all},
    {"alltoall", Exchange::all_to_all},           {"alltoallv", Exchange::all_to_all},
};
constexpr std::array<std::pair<std::string_view, double>, 3> kUnits = {
    {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

/// 0: it is none.
double unit_of(std::string_view token) {
  const auto* found =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& unit) { return unit.first == token; });
  return found == kUnits.end() ? 0 : found->second;
}

class Cookbook {
 public:
  Cookbook(std::string_view text, const std::string& where) : lines_(text, where) {}

  std::vector<CollectiveTable> tables() {
    while (lines_.next()) {
      const Tokens& tokens = lines_.tokens();
      if (has(tokens, "Performance") && has(tokens, "devices")) {
        take_title(tokens);
      } else if (has(tokens, "Description") && has(tokens, "Size")) {
        take_header(tokens);
      } else if (in_table_) {
        take_row(tokens);
      }
    }
    return std::move(tables_);
  }

  std::vector<std::string> notes;

 private:
  /// "---- Performance of all_reduce on 16 devices ------"
  void take_title(const Tokens& tokens) {
    const auto of = std::find(tokens.begin(), tokens.end(), "Performance");
    if (tokens.end() - of < 5 || *(of + 1) != "of" || *(of + 3) != "on" || !is_count(*(of + 4))) {
      lines_.fail("cannot understand this title", "---- Performance of all_reduce on 16 devices ----");
    }
    tables_.push_back(
        {std::string(*(of + 2)), find_collective(kCollectives, *(of + 2)), lines_.count(*(of + 4)), {}});
    in_table_ = false;
  }

  /// "Size (Bytes)   Description   Duration   Throughput (Gbps)   BusBW (Gbps)"; --raw: "Duration (us)".
  void take_header(const Tokens& tokens) {
    if (tables_.empty()) {
      lines_.fail("the table has no title", "---- Performance of all_reduce on 16 devices ----");
    }
    unit_ = 0;
    const auto duration = std::find(tokens.begin(), tokens.end(), "Duration");
    if (duration != tokens.end() && duration + 1 != tokens.end() && (duration + 1)->starts_with('(')) {
      unit_ = unit_of((duration + 1)->substr(1, (duration + 1)->size() - 2));
    }
    in_table_ = true;
  }

  /// The tokens of "1048576x4": how many elements of how many bytes.
  static std::pair<std::string_view, std::string_view> description(std::string_view token) {
    const std::size_t cross = token.find('x');
    if (cross == std::string_view::npos || !is_count(token.substr(0, cross)) ||
        !is_count(token.substr(cross + 1))) {
      return {};
    }
    return {token.substr(0, cross), token.substr(cross + 1)};
  }

  /// "4.0 MB", "4194304" (--raw): what stands before the description, its MB being MiB.
  void check_size(const Tokens& tokens, double described) {
    constexpr std::array<std::string_view, 6> kSizes = {"B", "KB", "MB", "GB", "TB", "PB"};
    const auto* unit =
        tokens.size() == 2 ? std::find(kSizes.begin(), kSizes.end(), tokens[1]) : kSizes.begin();
    const auto printed = tokens.empty() || unit == kSizes.end() ? std::nullopt : read_printed(tokens[0]);
    if (!printed) {
      return;
    }
    const double scale = std::pow(1024.0, static_cast<double>(unit - kSizes.begin()));
    const double least_digit = 0.01;  // the last of two decimals may be a 0 that is not printed
    if (std::abs(printed->value * scale - described) > std::max(printed->rounding, least_digit) * scale) {
      notes.push_back("warning: line " + std::to_string(lines_.number()) + ": the size " +
                      std::string(tokens[0]) + (tokens.size() == 2 ? " " + std::string(tokens[1]) : "") +
                      " is not what is described, " + to_string(Bytes::of(described)) + ", which counts");
    }
  }

  /// "4.0 MB   1048576x4   1.234 ms   54.4   51.0". The size is rounded, what describes it is not.
  void take_row(const Tokens& tokens) {
    const auto found = std::find_if(tokens.begin(), tokens.end(),
                                    [](std::string_view token) { return !description(token).first.empty(); });
    if (found == tokens.end()) {
      const auto numbers = std::count_if(tokens.begin(), tokens.end(), [](std::string_view token) {
        return read_printed(token).has_value();
      });
      if (!tokens.empty() && read_printed(tokens[0]) && numbers >= 4) {  // a size, a duration, two bandwidths
        lines_.fail("the row does not say how many elements of how many bytes",
                    "a description such as 1048576x4");
      }
      return;
    }
    const auto [elements, bytes] = description(*found);
    const auto left = static_cast<std::size_t>(tokens.end() - found) - 1;
    const double own = left > 1 ? unit_of(*(found + 2)) : 0;
    const std::size_t least = own > 0 ? 4 : 3;  // a duration, its unit, two bandwidths
    if (left < least) {
      lines_.fail("the row is cut short", "a duration and two bandwidths");
    }
    if (own == 0 && unit_ == 0) {
      lines_.fail("the duration " + quote(*(found + 1)) + " has no unit", "us, ms or s");
    }
    const double described =
        static_cast<double>(lines_.count(elements)) * static_cast<double>(lines_.count(bytes));
    check_size({tokens.begin(), found}, described);
    const Bytes size = Bytes::of(described);
    tables_.back().rows.push_back({size, lines_.time(*(found + 1), own > 0 ? own : unit_), lines_.number()});
  }

  LogLines lines_;
  double unit_ = 0;  ///< of the durations, where the header says; 0: every row does
  bool in_table_ = false;
  std::vector<CollectiveTable> tables_;
};

}  // namespace

NetworkLog read_deepspeed_comm(std::string_view text, const std::string& where,
                               std::optional<std::size_t> workers) {
  Cookbook cookbook(text, where);
  const std::vector<CollectiveTable> tables = cookbook.tables();
  NetworkLog log;
  log.program = "DeepSpeed's communication benchmark";
  log.notes = std::move(cookbook.notes);
  return with_rows(std::move(log), tables, where, workers,
                   "what all_reduce.py --scan prints, from ---- Performance of all_reduce on");
}

}  // namespace breakeven
