// Reads what gloo's benchmark prints: medians of a collective's times. Formats: pytorch/gloo,
// gloo/benchmark/runner.cc; until 2020 sizes were elements only.
#include <algorithm>

#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr KnownCollective kCollectives[] = {
    {"allreduce", Exchange::all_reduce},
    {"allgather", Exchange::all_gather},
    {"reduce_scatter", Exchange::reduce_scatter},
    {"alltoall", Exchange::all_to_all, true},
};
constexpr double kFloat = 4;   // bytes; an element is a float unless the run said otherwise
constexpr double kUint64 = 8;  // an element of its alltoall, whatever its column of sizes counts

/// "allreduce_ring_chunked", "cuda_allreduce_halving_doubling", "new_allreduce_ring".
const KnownCollective* collective_of(std::string_view algorithm) {
  const std::string words = "_" + std::string(algorithm) + "_";
  const auto says = [&](std::string_view word) {
    return words.find("_" + std::string(word) + "_") != std::string::npos;
  };
  if (says("local") || says("v")) {  // no network; another size for each rank
    return nullptr;
  }
  const auto* found = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                   [&](const KnownCollective& one) { return says(one.name); });
  return found == std::end(kCollectives) ? nullptr : found;
}

class Gloo {
 public:
  Gloo(std::string_view text, const std::string& where) : lines_(text, where) {}

  std::vector<CollectiveTable> tables() {
    while (lines_.next()) {
      const Tokens& tokens = lines_.tokens();
      if (has(tokens, "p50") && has(tokens, "elements")) {
        take_header(tokens);
      } else if (!take_run(tokens) && columns_ > 0) {
        take_row(lines_.row(columns_));
      }
    }
    return std::move(tables_);
  }

  std::vector<std::string> notes;

 private:
  /// "Algorithm:   allreduce_ring", or "ALLREDUCE_RING" below a rule; "Options:  processes=4,
  /// inputs=1, threads=1".
  bool take_run(const Tokens& tokens) {
    bool taken = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string_view token = tokens[i];
      if (token.ends_with(',')) {
        token.remove_suffix(1);
      }
      if (i > 0 && tokens[i - 1] == "Algorithm:") {
        start(token);
        taken = true;
      }
      if (constexpr std::string_view kProcesses = "processes="; token.starts_with(kProcesses)) {
        workers_ = lines_.count(token.substr(kProcesses.size()));
        taken = true;
      }
      for (const std::string_view option : {"inputs=", "threads="}) {
        if (token.starts_with(option) && token.substr(option.size()) != "1") {
          notes.push_back(quote(token) + ": times of several at once in a process, not of one exchange");
        }
      }
    }
    const bool below_a_rule = below_a_rule_;
    below_a_rule_ =
        tokens.empty() ? below_a_rule : tokens[0].find_first_not_of('=') == std::string_view::npos;
    if (below_a_rule && tokens.size() == 1 && !below_a_rule_) {
      std::string name(tokens[0]);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      start(name);
      taken = true;
    }
    return taken;
  }

  void start(std::string_view algorithm) {
    algorithm_ = algorithm;
    workers_ = 0;
    columns_ = 0;
  }

  /// "size (B)   elements   min (us)   p50 (us)   p99 (us)   max (us)   bandwidth (GB/s)   iterations"
  void take_header(const Tokens& tokens) {
    columns_ = 0;
    size_.reset();
    unit_ = 0;
    const auto begin = std::find_if(tokens.begin(), tokens.end(), [](std::string_view token) {
      return token == "size" || token == "elements";
    });
    for (auto token = begin; token != tokens.end(); ++token) {
      if (token->starts_with('(')) {
        continue;
      }
      if (*token == "size") {
        size_ = columns_;
      } else if (*token == "elements") {
        elements_ = columns_;
      } else if (*token == "p50") {
        median_ = columns_;
        const std::string_view unit = token + 1 == tokens.end() ? std::string_view{} : *(token + 1);
        unit_ = unit == "(us)" ? 1e-6 : unit == "(ns)" ? 1e-9 : 0;
      }
      ++columns_;
    }
    if (unit_ == 0) {
      lines_.fail("the times have no unit", "p50 (us) or p50 (ns)");
    }
    if (algorithm_.empty()) {
      notes.emplace_back("the file names no algorithm: taken for an all-reduce");
    }
    if (!size_) {
      notes.emplace_back("elements are taken for floats of 4 bytes");
    }
    tables_.push_back(
        {algorithm_, algorithm_.empty() ? kCollectives : collective_of(algorithm_), workers_, {}});
  }

  void take_row(const Tokens& row) {
    if (row.empty()) {
      return;
    }
    CollectiveTable& table = tables_.back();
    const bool wide = table.collective != nullptr && table.collective->exchange == Exchange::all_to_all;
    const bool bytes = size_ && !wide;
    const auto count = static_cast<double>(lines_.count(row[bytes ? *size_ : elements_]));
    table.rows.push_back({Bytes::of(bytes ? count : count * (wide ? kUint64 : kFloat)),
                          lines_.time(row[median_], unit_), lines_.number()});
  }

  LogLines lines_;
  bool below_a_rule_ = false;  ///< "====="
  std::string algorithm_;
  std::optional<std::size_t> size_;  ///< columns
  std::size_t elements_ = 0, median_ = 0;
  std::size_t columns_ = 0;  ///< 0: not in a table
  double unit_ = 0;
  std::size_t workers_ = 0;
  std::vector<CollectiveTable> tables_;
};

}  // namespace

NetworkLog read_gloo(std::string_view text, const std::string& where, std::optional<std::size_t> workers) {
  Gloo gloo(text, where);
  const std::vector<CollectiveTable> tables = gloo.tables();
  NetworkLog log;
  log.program = "gloo's benchmark";
  log.notes = std::move(gloo.notes);
  return with_rows(std::move(log), tables, where, workers,
                   "what gloo's benchmark prints, from its line of elements, min, p50 on");
}

}  // namespace breakeven
