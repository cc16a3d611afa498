// Tables of times that a benchmark of collectives printed -> the times of exchanges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiles/import/log_lines.h"
#include "profiles/import/network.h"

namespace breakeven {

/// A collective as a program names it.
struct KnownCollective {
  std::string_view name;
  Exchange exchange;
  bool size_to_each = false;  ///< the size is what a rank sends to EACH other one: MPI_Alltoall's count
};
/// Null for what is no exchange that a step waits for.
const KnownCollective* find_collective(std::span<const KnownCollective> known, std::string_view name);

struct CollectiveTable {
  std::string title;                            ///< as the program has it
  const KnownCollective* collective = nullptr;  ///< null: not one that a step waits for
  std::size_t workers = 0;                      ///< 0: the file does not say
  struct Row {
    Bytes size;  ///< as the program counts it
    Seconds time;
    std::size_t line = 0;
  };
  std::vector<Row> rows;
};

/// Makes tables of a log that prints a title, below it a line with the names of columns, below that rows.
class TableBuilder {
 public:
  /// `title` and `header` are examples of such lines, for errors. `lines` must live as long.
  TableBuilder(const LogLines& lines, std::span<const KnownCollective> known, std::string title,
               std::string header)
      : lines_(lines), known_(known), title_line_(std::move(title)), header_line_(std::move(header)) {}

  /// Rows below are no longer those of the table before.
  void start(std::string title);
  void among(std::size_t workers) { workers_ = workers; }
  /// There are so many columns. `time`: which holds the time; nothing: none does. `size`: which the size.
  void head(std::size_t columns, std::optional<std::size_t> time, std::size_t size = 0);
  /// Whether this line may be a row of a table.
  [[nodiscard]] bool open() const { return columns_ > 0; }
  /// Takes this line if it is a row.
  void row();
  [[nodiscard]] std::vector<CollectiveTable> take() { return std::move(tables_); }

 private:
  const LogLines& lines_;
  std::span<const KnownCollective> known_;
  std::string title_line_, header_line_, title_;
  std::size_t workers_ = 0, columns_ = 0, time_ = 0, size_ = 0;
  std::vector<CollectiveTable> tables_;
};

/// Adds the rows of `tables` and a note a table to `log`. `workers` (--ranks) says what a table leaves open,
/// and picks those tables that say it. Throws Error where nothing remains; `expected` says what to give.
NetworkLog with_rows(NetworkLog log, const std::vector<CollectiveTable>& tables, const std::string& where,
                     std::optional<std::size_t> workers, const std::string& expected);

}  // namespace breakeven
