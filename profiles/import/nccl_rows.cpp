// Rows of nccl-tests -> times of collectives: which of them count, among how many workers, of what payload.
#include "profiles/import/nccl_rows.h"

#include <algorithm>

#include "model/error.h"
#include "profiles/import/nccl_bandwidths.h"
#include "profiles/import/run.h"

namespace breakeven {
namespace {

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
    const RankCount count = ranks_of(table, rows, *collective);
    const std::size_t workers = count.workers;
    const RankSpread spread = spread_of(table.ranks, workers);
    std::size_t below_a_byte = 0;
    std::size_t milliseconds = 0;
    for (const NcclRow* row : rows) {
      const NcclTimes& times = times_of(*row, *collective);
      CollectiveTime time;
      time.exchange = collective->exchange;
      time.workers = workers;
      time.per_node = spread.per_node;
      time.uneven = spread.uneven;
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
    tell(*collective, rows, count, spread);
    tell_wrong(table, rows);
    if (milliseconds > 0) {
      note("times are milliseconds, as size / algbw says");
    }
    if (below_a_byte > 0) {
      note(counted(below_a_byte, "row") + " of less than a byte a worker dropped");
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
        note(counted(table.rows.size(), "row") + " of " + table.collective +
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
      note(counted(table.rows.size(), "row") +
           " of a collective without a name dropped: put a line with its program above them, such as "
           "all_gather_perf");
      return nullptr;
    }
    return &kCollectives[less_than_all(largest.in_place ? *largest.in_place : *largest.out_of_place) ? 2 : 0];
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
      note(counted(empty, "row") + " of size 0 dropped");
    }
    if (others > 0) {
      note(counted(others, "row") + " of other types or operations than " + type + " and " + operation +
           " dropped");
    }
    return rows;
  }

  /// Where bandwidths fit no whole number nothing is known by them: times may be averaged in another way.
  RankCount ranks_of(const NcclTable& table, const std::vector<const NcclRow*>& rows,
                     const Collective& collective) {
    RankRange range;
    for (const NcclRow* row : rows) {
      const NcclTimes& times = times_of(*row, collective);
      refuse_impossible(*row, times, collective.exchange);
      narrow(range, *row, times, collective.exchange);
    }
    const auto check = [&](std::size_t workers, Fault fault, const std::string& place,
                           const std::string& source) {
      if (range.tells() && !range.holds(workers)) {
        const std::string fits = choice_of({}, range);
        throw Error(fault, place, source + ", but busbw / algbw is that of " + fits, "--ranks " + fits);
      }
    };
    if (given_) {
      check(*given_, Fault::value, "--ranks", std::to_string(*given_) + " ranks");
      return {*given_, "--ranks"};
    }
    RankCount count = count_of(table.ranks, range);
    if (count.workers > 0) {
      check(count.workers, Fault::file, where_, count.from);
    } else if (log.choice.empty()) {
      log.choice = choice_of(table.ranks, range);
    }
    if (!range.tells() && count.workers == 0) {
      note("busbw / algbw fits no whole number of ranks: it does not tell them");
    }
    return count;
  }

  void tell(const Collective& collective, const std::vector<const NcclRow*>& rows, const RankCount& count,
            const RankSpread& spread) {
    const auto [least, most] = std::minmax_element(
        rows.begin(), rows.end(), [](const NcclRow* a, const NcclRow* b) { return a->size < b->size; });
    const auto size = [](const NcclRow* row) { return to_string(Bytes::of(static_cast<double>(row->size))); };
    std::string text(collective.words);
    text += count.workers == 0 ? " among a number of ranks that the file does not say"
                               : " among " + std::to_string(count.workers) + " ranks (" + count.from + ")";
    if (spread.per_node > 0) {
      text += ", " + std::to_string(spread.per_node) + " on a host";
    }
    if (spread.uneven) {
      text += ", more on one host than on another";
    }
    const auto placed = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [&](const NcclRow* row) { return in_place(*row, collective); }));
    const std::string places = placed == rows.size() ? "in place"
                               : placed == 0         ? "out of place"
                                                     : std::to_string(placed) + " in place, " +
                                                   std::to_string(rows.size() - placed) + " out of place";
    note(text + ": " + counted(rows.size(), "row") + " of " + rows.front()->type + ", " + size(*least) +
         " to " + size(*most) + ", " + places);
  }

  void tell_wrong(const NcclTable& table, const std::vector<const NcclRow*>& rows) {
    const auto wrong = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const NcclRow* row) { return row->wrong; }));
    if (wrong > 0 || table.failed) {
      note("warning: the run computed wrong results" +
           (wrong > 0 ? " in " + counted(wrong, "row") : std::string()) +
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
