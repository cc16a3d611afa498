// What both forms of nccl-tests' output hold, and the rows that it makes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/log_lines.h"
#include "profiles/import/nccl_ranks.h"
#include "profiles/import/network.h"

namespace breakeven {

/// One half of a row: out of place, or in place.
struct NcclTimes {
  Printed time;                                ///< in microseconds
  Printed algorithm_bandwidth, bus_bandwidth;  ///< in 1e9 bytes per second
};
struct NcclRow {
  std::string type, operation;  ///< "float", "sum"
  std::size_t size = 0;         ///< as printed, in bytes
  std::optional<NcclTimes> out_of_place, in_place;
  bool wrong = false;  ///< its results were checked and wrong
  std::size_t line = 0;
  std::string place;  ///< for errors
};
/// The rows of one program run.
struct NcclTable {
  std::string collective;  ///< "all_reduce"; empty: the file does not say
  NcclRanks ranks;
  bool failed = false;  ///< the run says that results were wrong
  std::vector<NcclRow> rows;
};

/// Throws Error (file) for rows that contradict themselves or the number of workers.
NetworkLog nccl_log(const std::vector<NcclTable>& tables, std::string program, const std::string& where,
                    std::optional<std::size_t> workers);
/// The same for nccl-tests' -J.
NetworkLog read_nccl_json(std::string_view text, const std::string& where,
                          std::optional<std::size_t> workers);

}  // namespace breakeven
