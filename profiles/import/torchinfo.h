// The table that torchinfo or torchsummary prints, row by row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

struct TorchinfoRow {
  std::string name;  ///< "Conv2d:1-1", or "layer1.conv" where the table has the variables' names
  std::string type;  ///< "Conv2d"
  std::size_t depth = 0;
  bool leaf = true;  ///< no row beneath it
  std::optional<std::size_t> parameters;
  bool frozen = false;              ///< they are not trained
  bool reused = false;              ///< they are counted at another row
  std::optional<double> products;   ///< multiply-adds of the whole batch
  std::vector<std::size_t> output;  ///< its shape; empty: not in the table
  std::size_t line = 0;
};

struct Torchinfo {
  std::vector<TorchinfoRow> rows;
  bool has_products = false;
  std::optional<std::size_t> total, trained;  ///< what stands below the table
};

/// Throws Error (file) with the line for what is no such table.
Torchinfo read_torchinfo(std::string_view text, const std::string& where);

}  // namespace breakeven
