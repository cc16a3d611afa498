#include "profiles/import/nccl_columns.h"

#include <algorithm>
#include <array>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 15> kTypes = {"int8",     "uint8",    "int32",    "uint32", "int64",
                                                     "uint64",   "half",     "float",    "double", "char",
                                                     "bfloat16", "fp8_e4m3", "fp8_e5m2", "f8e4m3", "f8e5m2"};

using Half = NcclColumns::Half;

bool in_order(const NcclColumns& columns) {
  if (columns.type == 0 || columns.halves.empty() || columns.halves.size() > 2) {
    return false;
  }
  std::size_t before = std::max(columns.type, columns.operation);
  for (const Half& half : columns.halves) {
    if (half.time <= before || half.algorithm <= half.time || half.bus <= half.algorithm) {
      return false;
    }
    before = half.bus;
  }
  return true;
}

/// A row whatever its size and type are: those may be new, or wrong.
bool fills(const Tokens& row, const NcclColumns& columns) {
  const auto time_or_none = [&](const Half& half) {
    return row[half.time] == "N/A" ||
           (read_printed(row[half.time]) && read_printed(row[half.algorithm]) && read_printed(row[half.bus]));
  };
  return row.size() >= columns.least() && read_printed(row[0]) && !read_printed(row[columns.type]) &&
         std::all_of(columns.halves.begin(), columns.halves.end(), time_or_none);
}

/// Nothing for a half that was not run.
std::optional<NcclTimes> times_of(const LogLines& lines, const Tokens& row, const Half& half,
                                  std::size_t size) {
  if (row[half.time] == "N/A") {
    return std::nullopt;
  }
  const auto number = [&](std::size_t column, std::string_view what, bool above_zero) {
    const auto printed = read_printed(row[column]);
    if (!printed || printed->value < 0 || (above_zero && printed->value == 0)) {
      lines.fail("cannot use " + quote(row[column]) + " as " + std::string(what),
                 above_zero ? "a number above 0" : "a number");
    }
    return *printed;
  };
  NcclTimes result;
  result.time = number(half.time, "a time", size > 0);
  result.algorithm_bandwidth = number(half.algorithm, "an algorithm bandwidth", false);
  result.bus_bandwidth = number(half.bus, "a bus bandwidth", false);
  return result;
}

}  // namespace

NcclColumns nccl_columns(const LogLines& lines) {
  const Tokens& tokens = lines.tokens();
  const auto begin = std::find_if(tokens.begin(), tokens.end(),
                                  [](std::string_view word) { return word == "size" || word == "bytes"; });
  NcclColumns columns;
  Half half;
  for (auto token = begin; token != tokens.end(); ++token) {
    const auto column = static_cast<std::size_t>(token - begin);
    if (*token == "cputime") {
      lines.fail("the times are the CPU's, which only starts a collective", "a run without -C 1");
    }
    columns.type = *token == "type" ? column : columns.type;
    columns.operation = *token == "redop" || *token == "op" ? column : columns.operation;
    half.time = *token == "time" ? column : half.time;
    half.algorithm = *token == "algbw" ? column : half.algorithm;
    if (*token == "busbw") {
      half.bus = column;
      columns.halves.push_back(half);
    }
    if (*token == "#wrong" && !columns.halves.empty()) {
      columns.halves.back().wrong = column;
    }
  }
  if (!in_order(columns)) {
    lines.fail("cannot understand this header", "size count type redop root time algbw busbw, twice");
  }
  return columns;
}

std::optional<std::size_t> row_begin(const Tokens& tokens, const std::optional<NcclColumns>& columns) {
  constexpr std::size_t kMostPrefixes = 4;
  for (std::size_t i = 0; i < kMostPrefixes && i + 2 < tokens.size(); ++i) {
    const Tokens rest(tokens.begin() + static_cast<std::ptrdiff_t>(i), tokens.end());
    const bool known = std::find(kTypes.begin(), kTypes.end(), rest[2]) != kTypes.end();
    if (is_count(rest[1]) && ((known && is_count(rest[0])) || (columns && fills(rest, *columns)))) {
      return i;
    }
  }
  return std::nullopt;
}

NcclRow nccl_row(const LogLines& lines, const Tokens& row, const NcclColumns& columns) {
  if (row.size() < columns.least()) {
    lines.fail("the row is cut short: " + std::to_string(row.size()) + " columns",
               "at least " + std::to_string(columns.least()));
  }
  NcclRow result;
  result.line = lines.number();
  result.place = lines.place();
  result.type = row[columns.type];
  result.operation = columns.operation == 0 ? "" : row[columns.operation];
  result.size = lines.count(row[0]);
  result.out_of_place = times_of(lines, row, columns.halves.front(), result.size);
  if (columns.halves.size() > 1) {
    result.in_place = times_of(lines, row, columns.halves[1], result.size);
  }
  if (!result.out_of_place && !result.in_place) {
    lines.fail("the row has no time", "microseconds");
  }
  for (const Half& half : columns.halves) {
    const auto wrong =
        half.wrong > 0 && half.wrong < row.size() ? read_printed(row[half.wrong]) : std::nullopt;
    result.wrong = result.wrong || (wrong && wrong->value > 0);
  }
  return result;
}

}  // namespace breakeven
