// Rows of nccl-tests -> times of collectives: which of them count, among how many workers, of what payload.
#include "profiles/import/nccl_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

// Two printed decimals no longer tell a group from its neighbour.
constexpr std::size_t kMostInferred = 64;

struct Collective {
  std::string_view name;
  Exchange exchange;
  std::string_view words;
};
constexpr Collective kCollectives[] = {
    {"all_reduce", Exchange::all_reduce, "all-reduce"},
    {"all_gather", Exchange::all_gather, "all-gather"},
    {"reduce_scatter", Exchange::reduce_scatter, "reduce-scatter"},
    {"alltoall", Exchange::all_to_all, "all-to-all"},
};

std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// An interval of group sizes.
struct Range {
  double low = 2, high = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool holds(std::size_t n) const {
    return static_cast<double>(n) >= low && static_cast<double>(n) <= high;
  }
  [[nodiscard]] std::string text() const {
    const double least = std::max(std::ceil(low), 2.0);
    if (std::isinf(high)) {
      return significant(least, 6) + " or more";
    }
    return least > high ? "no whole number"
                        : significant(least, 6) + " to " + significant(std::floor(high), 6);
  }
  /// The one whole number inside, where there is one that can be told.
  [[nodiscard]] std::optional<std::size_t> only() const {
    const double least = std::ceil(low);
    if (least > static_cast<double>(kMostInferred) || least > high || least + 1 <= high) {
      return std::nullopt;
    }
    return static_cast<std::size_t>(least);
  }
};

/// bus bandwidth / algorithm bandwidth is 2(n-1)/n of an all-reduce, (n-1)/n of the others (nccl-tests,
/// doc/PERFORMANCE.md). The algorithm bandwidth is size/time, which has more digits than what is printed.
void narrow(Range& range, const NcclRow& row, const NcclTimes& times, Exchange exchange) {
  constexpr double kSlack = 1e-9;
  const double least_time = times.time.value - times.time.rounding;
  const double most_time = times.time.value + times.time.rounding;
  const auto size = static_cast<double>(row.size);
  const double whole = exchange == Exchange::all_reduce ? 2 : 1;
  const auto workers_of = [&](double bus, double time) {
    const double factor = bus * 1e3 * time / size / whole;  // (n-1)/n
    return factor >= 1 ? std::numeric_limits<double>::infinity() : 1 / (1 - factor);
  };
  range.low = std::max(
      range.low, workers_of(times.bus_bandwidth.value - times.bus_bandwidth.rounding, least_time) - kSlack);
  range.high = std::min(
      range.high, workers_of(times.bus_bandwidth.value + times.bus_bandwidth.rounding, most_time) + kSlack);
}

bool less_than_all(const NcclTimes& times) {
  return times.bus_bandwidth.value + times.bus_bandwidth.rounding <
         times.algorithm_bandwidth.value - times.algorithm_bandwidth.rounding;
}

/// A row's own arithmetic: size / time = algorithm bandwidth. Newer versions print microseconds, those of
/// 2017 milliseconds.
double microseconds(const NcclRow& row, const NcclTimes& times) {
  constexpr double kTolerance = 0.02;
  const Printed& printed = times.algorithm_bandwidth;
  const double time = times.time.value;
  const double expected = static_cast<double>(row.size) / time / 1e3;
  const double slack = printed.rounding + kTolerance * printed.value + expected * times.time.rounding / time;
  if (std::abs(expected - printed.value) <= slack) {
    return time;
  }
  if (std::abs(expected / 1e3 - printed.value) <= slack && printed.value > 0) {
    return time * 1e3;
  }
  throw Error(
      Fault::file, row.place,
      std::to_string(row.size) + " bytes in " + exact(time) + " us are not " + exact(printed.value) + " GB/s",
      "columns as nccl-tests prints them");
}

class Reading {
 public:
  Reading(std::string where, std::optional<std::size_t> workers)
      : where_(std::move(where)), given_(workers) {}

  void add(const NcclTable& table) {
    if (table.rows.empty()) {
      return;
    }
    const Collective* collective = collective_of(table);
    if (collective == nullptr) {
      return;
    }
    const std::vector<const NcclRow*> rows = wanted(table);
    if (rows.empty()) {
      return;
    }
    refuse_less_than_all(rows, *collective);
    const auto [workers, from] = workers_of(table, rows, *collective);
    std::size_t below_a_byte = 0;
    std::size_t milliseconds = 0;
    for (const NcclRow* row : rows) {
      const NcclTimes& times = times_of(*row, *collective);
      CollectiveTime time;
      time.exchange = collective->exchange;
      time.workers = workers;
      time.per_node = spread_counts(table) ? table.per_node : 0;
      time.uneven = spread_counts(table) && table.uneven;
      time.payload = Bytes::of(static_cast<double>(row->size));
      if (collective->exchange == Exchange::all_gather && workers > 0) {
        time.payload = time.payload / static_cast<double>(workers);  // printed is what all contribute
      }
      const double taken = microseconds(*row, times);
      milliseconds += taken > times.time.value ? 1 : 0;
      time.time = Seconds::of(taken * 1e-6);
      time.line = row->line;
      if (time.payload < 1_B) {
        ++below_a_byte;
        continue;
      }
      log.rows.push_back(time);
    }
    tell(table, *collective, rows, workers, from);
    tell_wrong(table, rows);
    if (milliseconds > 0) {
      note("times are milliseconds, as size / algbw says");
    }
    if (below_a_byte > 0) {
      note(count_of(below_a_byte, "row") + " of less than a byte a worker dropped");
    }
  }

  NetworkLog log;

 private:
  void note(std::string text) { log.notes.push_back(std::move(text)); }

  /// Old programs print no operation where nothing is added.
  static bool contradicts(std::string_view operation, Exchange exchange) {
    constexpr std::string_view kSums[] = {"sum", "prod", "min", "max", "avg", "mulsum"};
    const bool adds = exchange == Exchange::all_reduce || exchange == Exchange::reduce_scatter;
    return adds ? operation == "none"
                : std::find(std::begin(kSums), std::end(kSums), operation) != std::end(kSums);
  }

  const Collective* collective_of(const NcclTable& table) {
    if (!table.collective.empty()) {
      const auto* found = std::find_if(std::begin(kCollectives), std::end(kCollectives),
                                       [&](const Collective& c) { return c.name == table.collective; });
      if (found == std::end(kCollectives)) {
        note(count_of(table.rows.size(), "row") + " of " + table.collective +
             " dropped: only all_reduce, all_gather, reduce_scatter and alltoall say what a step takes");
        return nullptr;
      }
      if (!contradicts(table.rows.front().operation, found->exchange)) {
        return found;
      }
      note("the name " + table.collective + " stands above rows of redop " + table.rows.front().operation +
           ", which is another collective's: it does not count");
    }
    // Without a name: what adds up is an all-reduce, or where less than the whole passes a reduce-scatter.
    const NcclRow& largest = *std::max_element(table.rows.begin(), table.rows.end(),
                                               [](const auto& a, const auto& b) { return a.size < b.size; });
    if (largest.operation.empty() || largest.operation == "none") {
      note(count_of(table.rows.size(), "row") +
           " of a collective without a name dropped: put a line with its program above them, such as "
           "all_gather_perf");
      return nullptr;
    }
    return &kCollectives[less_than_all(largest.in_place ? *largest.in_place : *largest.out_of_place) ? 2 : 0];
  }

  /// Rank lines of another number of ranks than --ranks say nothing of where those were.
  [[nodiscard]] bool spread_counts(const NcclTable& table) const {
    return !given_ || *given_ == table.workers;
  }

  /// Frameworks reduce gradients in place; an all-to-all cannot.
  static bool in_place(const NcclRow& row, const Collective& collective) {
    return !row.out_of_place || (row.in_place && collective.exchange != Exchange::all_to_all);
  }
  static const NcclTimes& times_of(const NcclRow& row, const Collective& collective) {
    return in_place(row, collective) ? *row.in_place : *row.out_of_place;
  }

  /// One type and one operation, those of gradients where they are there; no empty messages.
  std::vector<const NcclRow*> wanted(const NcclTable& table) {
    const auto pick = [&](std::string NcclRow::*member, std::initializer_list<const char*> preferred) {
      for (const char* value : preferred) {
        if (std::any_of(table.rows.begin(), table.rows.end(),
                        [&](const NcclRow& row) { return row.*member == value; })) {
          return std::string(value);
        }
      }
      return table.rows.front().*member;
    };
    const std::string type = pick(&NcclRow::type, {"float", "bfloat16", "half"});
    const std::string operation = pick(&NcclRow::operation, {"sum"});
    std::vector<const NcclRow*> rows;
    std::size_t empty = 0;
    std::size_t others = 0;
    for (const NcclRow& row : table.rows) {
      if (row.type != type || row.operation != operation) {
        ++others;
      } else if (row.size == 0) {
        ++empty;
      } else {
        rows.push_back(&row);
      }
    }
    if (empty > 0) {
      note(count_of(empty, "row") + " of size 0 dropped");
    }
    if (others > 0) {
      note(count_of(others, "row") + " of other types or operations than " + type + " and " + operation +
           " dropped");
    }
    return rows;
  }

  /// What reaches every worker passes at least once, so that no all-reduce's bus bandwidth is the lower one.
  static void refuse_less_than_all(const std::vector<const NcclRow*>& rows, const Collective& collective) {
    if (collective.exchange != Exchange::all_reduce) {
      return;
    }
    for (const NcclRow* row : rows) {
      const NcclTimes& times = times_of(*row, collective);
      const bool one_worker = times.bus_bandwidth.value == 0;
      if (!one_worker && less_than_all(times)) {
        throw Error(Fault::file, row->place,
                    "busbw " + exact(times.bus_bandwidth.value) + " is below algbw " +
                        exact(times.algorithm_bandwidth.value) + ", which no all-reduce's is",
                    "rows of an all-reduce, or the name of their program above them");
      }
    }
  }

  std::pair<std::size_t, std::string> workers_of(const NcclTable& table,
                                                 const std::vector<const NcclRow*>& rows,
                                                 const Collective& collective) const {
    Range range;
    for (const NcclRow* row : rows) {
      NcclTimes times = times_of(*row, collective);
      const double factor = microseconds(*row, times) / times.time.value;
      times.time.value *= factor;
      times.time.rounding *= factor;
      narrow(range, *row, times, collective.exchange);
    }
    const std::optional<std::size_t> inferred = range.only();
    const std::string printed = inferred ? std::to_string(*inferred) : range.text();
    const auto check = [&](std::size_t workers, Fault fault, const std::string& place,
                           const std::string& source) {
      // Times that were averaged differently than bandwidths leave no number at all: then nothing is known.
      if (range.low <= range.high && !range.holds(workers)) {
        throw Error(fault, place, source + ", but busbw / algbw is that of " + printed, "--ranks " + printed);
      }
    };
    if (given_) {
      check(*given_, Fault::value, "--ranks", std::to_string(*given_) + " ranks");
      return {*given_, "--ranks"};
    }
    if (table.workers > 0) {
      check(table.workers, Fault::file, where_, table.workers_from);
      return {table.workers, table.workers_from};
    }
    return {inferred.value_or(0), "busbw / algbw"};
  }

  void tell(const NcclTable& table, const Collective& collective, const std::vector<const NcclRow*>& rows,
            std::size_t workers, const std::string& from) {
    const auto [least, most] = std::minmax_element(
        rows.begin(), rows.end(), [](const NcclRow* a, const NcclRow* b) { return a->size < b->size; });
    const auto size = [](const NcclRow* row) { return to_string(Bytes::of(static_cast<double>(row->size))); };
    std::string text(collective.words);
    text += workers == 0 ? " among a number of ranks that the file does not say"
                         : " among " + std::to_string(workers) + " ranks (" + from + ")";
    if (workers > 0 && spread_counts(table) && table.per_node > 0) {
      text += ", " + std::to_string(table.per_node) + " on a host";
    }
    if (workers > 0 && spread_counts(table) && table.uneven) {
      text += ", more on one host than on another";
    }
    const auto placed = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const NcclRow* row) { return in_place(*row, collective); }));
    const std::string places = placed == rows.size() ? "in place"
                               : placed == 0         ? "out of place"
                                                     : std::to_string(placed) + " in place, " +
                                                   std::to_string(rows.size() - placed) + " out of place";
    note(text + ": " + count_of(rows.size(), "row") + " of " + rows.front()->type + ", " + size(*least) +
         " to " + size(*most) + ", " + places);
  }

  void tell_wrong(const NcclTable& table, const std::vector<const NcclRow*>& rows) {
    const auto wrong = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const NcclRow* row) { return row->wrong; }));
    if (wrong > 0 || table.failed) {
      note("warning: the run computed wrong results" +
           (wrong > 0 ? " in " + count_of(wrong, "row") : std::string()) +
           ": its times may not be those of a working network");
    }
  }

  std::string where_;
  std::optional<std::size_t> given_;
};

}  // namespace

NetworkLog nccl_log(const std::vector<NcclTable>& tables, std::string program, const std::string& where,
                    std::optional<std::size_t> workers) {
  Reading reading(where, workers);
  reading.log.program = std::move(program);
  for (const NcclTable& table : tables) {
    reading.add(table);
  }
  if (reading.log.rows.empty()) {
    const std::string why =
        reading.log.notes.empty() ? std::string() : " (" + reading.log.notes.front() + ")";
    throw Error(Fault::file, where, "has no rows to use" + why,
                "the table that nccl-tests prints, such as all_reduce_perf -b 8 -e 1G -f 2");
  }
  return std::move(reading.log);
}

}  // namespace breakeven
