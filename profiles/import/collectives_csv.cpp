// Reads this program's own plain form of measured collectives: a row a measurement, under the names of its
// columns. `bytes` is what one rank contributes.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "model/error.h"
#include "profiles/import/collective_tables.h"
#include "profiles/import/csv_table.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::string_view kExample = "collective,ranks,bytes,time_us";
constexpr KnownCollective kCollectives[] = {
    {"all_reduce", Exchange::all_reduce},
    {"all_gather", Exchange::all_gather},
    {"reduce_scatter", Exchange::reduce_scatter},
    {"all_to_all", Exchange::all_to_all},
};
constexpr std::array<std::pair<std::string_view, double>, 4> kTimes = {
    {{"time_us", 1e-6}, {"time_ms", 1e-3}, {"time_s", 1}, {"seconds", 1}}};

/// "AllReduce", "all-reduce" and "allreduce" are all_reduce.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_' && c != '-' && c != ' ') {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

class CollectivesCsv {
 public:
  CollectivesCsv(std::string_view text, const std::string& where)
      : table_(text, where, {"collective", "ranks", "bytes", "time_us", "time_ms", "time_s", "seconds"},
               std::string(kExample)) {
    table_.need("bytes");
    for (const auto& time : kTimes) {
      if (table_.has(time.first)) {
        if (time_ != nullptr) {
          table_.fail("two columns of times", "one of them");
        }
        time_ = &time;
      }
    }
    if (time_ == nullptr) {
      table_.fail("no column of times", "time_us, time_ms, time_s or seconds");
    }
  }

  std::vector<CollectiveTable> tables() {
    while (table_.next()) {
      take_row();
    }
    return std::move(tables_);
  }
  [[nodiscard]] bool named() const { return table_.has("collective"); }

 private:
  void take_row() {
    const KnownCollective& known = named() ? collective() : kCollectives[0];
    const std::size_t ranks = table_.has("ranks") ? table_.count("ranks") : 0;
    if (table_.has("ranks") && ranks < 2) {
      table_.fail(ranks == 1 ? "1 rank exchanges nothing" : "0 ranks exchange nothing", "2 ranks or more");
    }
    const Bytes size = bytes();
    auto table = std::find_if(tables_.begin(), tables_.end(), [&](const CollectiveTable& one) {
      return one.collective == &known && one.workers == ranks;
    });
    if (table == tables_.end()) {
      table = tables_.insert(tables_.end(), {std::string(known.name), &known, ranks, {}});
    }
    table->rows.push_back({size, time(), table_.line()});
  }

  [[nodiscard]] const KnownCollective& collective() const {
    const std::string& name = table_.cell("collective");
    const auto* found =
        std::find_if(std::begin(kCollectives), std::end(kCollectives),
                     [&](const KnownCollective& one) { return letters_of(one.name) == letters_of(name); });
    if (found == std::end(kCollectives)) {
      std::vector<std::string> names;
      for (const KnownCollective& one : kCollectives) {
        names.emplace_back(one.name);
      }
      table_.fail("unknown collective " + quote(name), one_of(names, name));
    }
    return *found;
  }

  /// "1048576" or "1 MiB".
  [[nodiscard]] Bytes bytes() const {
    const std::string& text = table_.cell("bytes");
    const bool plain = text.find_first_not_of("0123456789") == std::string::npos;
    Bytes size;
    try {
      size = plain ? Bytes::of(static_cast<double>(parse_count(text))) : parse<Bytes>(text);
    } catch (const Error& error) {
      throw error.inside(table_.place() + ": bytes", Fault::file);
    }
    if (size < 1_B) {
      table_.fail("0 bytes are no message", "1 byte or more");
    }
    return size;
  }

  [[nodiscard]] Seconds time() const {
    constexpr double kShortest = 1e-12, kLongest = 1e6;
    const double seconds = table_.number(time_->first) * time_->second;
    if (seconds < kShortest || seconds > kLongest) {
      table_.fail("cannot use " + quote(table_.cell(time_->first)) + " as a time", "1e-12 to 1e6 s");
    }
    return Seconds::of(seconds);
  }

  CsvTable table_;
  const std::pair<std::string_view, double>* time_ = nullptr;  ///< the column, and its unit
  std::vector<CollectiveTable> tables_;
};

}  // namespace

NetworkLog read_collectives_csv(std::string_view text, const std::string& where,
                                std::optional<std::size_t> workers) {
  CollectivesCsv csv(text, where);
  const std::vector<CollectiveTable> tables = csv.tables();
  NetworkLog log;
  log.program = "measured collectives";
  if (!csv.named()) {
    log.notes.emplace_back("no column names the collective: taken for an all-reduce");
  }
  return with_rows(std::move(log), tables, where, workers, "rows under " + std::string(kExample));
}

}  // namespace breakeven
