// Tables of times that a benchmark of collectives printed -> the times of exchanges.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// Adds the rows of `tables` and a note a table to `log`. `workers` (--ranks) says what a table leaves open,
/// and picks those tables that say it. Throws Error where nothing remains; `expected` says what to give.
NetworkLog with_rows(NetworkLog log, const std::vector<CollectiveTable>& tables, const std::string& where,
                     std::optional<std::size_t> workers, const std::string& expected);

}  // namespace breakeven
