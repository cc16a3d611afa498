// The columns of nccl-tests' rows, which came and went over the years: their line of names tells.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "profiles/import/log_lines.h"
#include "profiles/import/nccl_rows.h"

namespace breakeven {

/// Where the columns of a row stand, from its size on.
struct NcclColumns {
  struct Half {
    std::size_t time = 0, algorithm = 0, bus = 0;
    std::size_t wrong = 0;  ///< 0: does not say
  };
  std::size_t type = 0, operation = 0;  ///< operation 0: has none
  std::vector<Half> halves;             ///< out of place, in place
  [[nodiscard]] std::size_t least() const { return halves.back().bus + 1; }
};

/// Of this line, which names them. Throws Error (file).
NcclColumns nccl_columns(const LogLines& lines);
/// Where a row begins in these words, behind what launchers put in front; nothing: they are none.
std::optional<std::size_t> row_begin(const Tokens& tokens, const std::optional<NcclColumns>& columns);
/// The row of this line, from its size on. Throws Error (file).
NcclRow nccl_row(const LogLines& lines, const Tokens& row, const NcclColumns& columns);

}  // namespace breakeven
