#include "profiles/import/collective_tables.h"

#include <algorithm>
#include <set>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRanks = 1 << 20;
constexpr Bytes kMostBytes = Bytes::of(1e15);

std::string rows_of(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

std::string_view meaning(const KnownCollective& collective) {
  if (collective.size_to_each) {
    return "sent to each rank: that times the ranks is one's contribution";
  }
  switch (collective.exchange) {
    case Exchange::all_gather:
      return "what one rank contributes";
    case Exchange::all_to_all:
      return "what one rank sends to all";
    default:
      return "the whole vector";
  }
}

class Reading {
 public:
  Reading(NetworkLog log, const std::string& where, std::optional<std::size_t> workers)
      : log_(std::move(log)), where_(where), given_(workers) {}

  void add(const CollectiveTable& table) {
    if (table.rows.empty()) {
      return;
    }
    if (table.collective == nullptr) {
      note(rows_of(table.rows.size()) + " of " + quote(table.title) +
           " dropped: only all-reduce, all-gather, reduce-scatter and all-to-all say what a step takes");
      return;
    }
    if (table.workers > 0 && (given_ ? table.workers != *given_ : table.workers < 2)) {
      others_.insert(table.workers);
      note(rows_of(table.rows.size()) + " of " + quote(table.title) + " among " +
           std::to_string(table.workers) +
           (given_ ? " ranks dropped: --ranks " + std::to_string(*given_)
                   : " rank dropped: it exchanges nothing"));
      return;
    }
    take(table, given_.value_or(table.workers));
  }

  NetworkLog finish(const std::string& expected) {
    if (!log_.rows.empty()) {
      return std::move(log_);
    }
    if (given_ && !others_.empty()) {
      std::string counts;
      for (const std::size_t count : others_) {
        counts += (counts.empty() ? "" : ", ") + std::to_string(count);
      }
      throw Error(Fault::value, "--ranks",
                  "the file has no times among " + std::to_string(*given_) + " ranks",
                  (others_.size() == 1 ? "" : "one of ") + counts);
    }
    const std::string why = log_.notes.empty() ? std::string() : " (" + log_.notes.back() + ")";
    throw Error(Fault::file, where_, "has no rows to use" + why, expected);
  }

 private:
  void note(std::string text) { log_.notes.push_back(std::move(text)); }

  void take(const CollectiveTable& table, std::size_t workers) {
    const KnownCollective& collective = *table.collective;
    if (collective.size_to_each && workers == 0) {
      throw Error(Fault::file, where_, "does not say among how many ranks", "--ranks N");
    }
    if (workers > kMostRanks) {
      throw Error(Fault::file, where_, std::to_string(workers) + " ranks",
                  "at most " + std::to_string(kMostRanks));
    }
    const double parts = collective.size_to_each ? static_cast<double>(workers) : 1;
    std::vector<Bytes> sizes;
    for (const CollectiveTable::Row& row : table.rows) {
      if (row.size > Bytes{}) {
        CollectiveTime time;
        time.exchange = collective.exchange;
        time.workers = workers;
        time.payload = row.size * parts;
        if (time.payload > kMostBytes) {
          throw Error(Fault::file, where_ + ": line " + std::to_string(row.line),
                      "a message of " + to_string(row.size), "at most " + to_string(kMostBytes));
        }
        time.time = row.time;
        time.line = row.line;
        log_.rows.push_back(time);
        sizes.push_back(row.size);
      }
    }
    const std::size_t empty = table.rows.size() - sizes.size();
    if (empty > 0) {
      note(rows_of(empty) + " of size 0 dropped");
    }
    if (sizes.empty()) {
      return;
    }
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    note(words_of(collective.exchange) +
         (workers == 0 ? " among a number of ranks that the file does not say"
                       : " among " + std::to_string(workers) + " ranks" + (given_ ? " (--ranks)" : "")) +
         ": " + rows_of(sizes.size()) + ", " + to_string(*least) + " to " + to_string(*most) + ", " +
         std::string(meaning(collective)));
  }

  NetworkLog log_;
  const std::string& where_;
  std::optional<std::size_t> given_;
  std::set<std::size_t> others_;  ///< numbers of ranks whose tables were dropped
};

}  // namespace

const KnownCollective* find_collective(std::span<const KnownCollective> known, std::string_view name) {
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const KnownCollective& one) { return one.name == name; });
  return found == known.end() ? nullptr : &*found;
}

void TableBuilder::start(std::string title) {
  title_ = std::move(title);
  workers_ = 0;
  columns_ = 0;
}

void TableBuilder::head(std::size_t columns, std::optional<std::size_t> time, std::size_t size) {
  if (title_.empty()) {
    lines_.fail("the table has no title", "a line such as " + title_line_);
  }
  const KnownCollective* collective = find_collective(known_, title_);
  if (collective != nullptr && !time) {
    lines_.fail("cannot understand this header", header_line_);
  }
  columns_ = columns;
  time_ = time.value_or(0);
  size_ = size;
  tables_.push_back({title_, collective, workers_, {}});
}

void TableBuilder::row() {
  CollectiveTable& table = tables_.back();
  const Tokens row = table.collective == nullptr ? lines_.row() : lines_.row(columns_);
  if (row.empty()) {
    return;
  }
  CollectiveTable::Row taken;
  if (table.collective != nullptr) {
    taken.size = Bytes::of(static_cast<double>(lines_.count(row[size_])));
    // An empty message is a call that does nothing, whose time may be 0.
    taken.time = taken.size > Bytes{} ? lines_.time(row[time_]) : Seconds{};
    taken.line = lines_.number();
  }
  table.rows.push_back(taken);
}

NetworkLog with_rows(NetworkLog log, const std::vector<CollectiveTable>& tables, const std::string& where,
                     std::optional<std::size_t> workers, const std::string& expected) {
  Reading reading(std::move(log), where, workers);
  for (const CollectiveTable& table : tables) {
    reading.add(table);
  }
  return reading.finish(expected);
}

}  // namespace breakeven
