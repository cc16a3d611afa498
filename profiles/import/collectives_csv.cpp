// Reads this program's own plain form of measured collectives: rows collective,ranks,bytes,time_us under a
// line with these names. `bytes` is what one rank contributes.
#include <algorithm>

#include "model/error.h"
#include "profiles/import/collective_tables.h"
#include "profiles/import/log_lines.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr std::string_view kHeader = "collective,ranks,bytes,time_us";
constexpr KnownCollective kCollectives[] = {
    {"all_reduce", Exchange::all_reduce},
    {"all_gather", Exchange::all_gather},
    {"reduce_scatter", Exchange::reduce_scatter},
    {"all_to_all", Exchange::all_to_all},
};

/// The cells of a line, without the spaces around them.
std::vector<std::string> cells(const Tokens& tokens) {
  std::vector<std::string> result{""};
  for (const std::string_view token : tokens) {
    for (const char c : token) {
      if (c == ',') {
        result.emplace_back();
      } else {
        result.back() += c;
      }
    }
  }
  return result;
}

const KnownCollective& collective(const LogLines& lines, const std::string& name) {
  const KnownCollective* found = find_collective(kCollectives, name);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const KnownCollective& one : kCollectives) {
      names.emplace_back(one.name);
    }
    lines.fail("unknown collective " + quote(name), one_of(names, name));
  }
  return *found;
}

}  // namespace

NetworkLog read_collectives_csv(std::string_view text, const std::string& where,
                                std::optional<std::size_t> workers) {
  LogLines lines(text, where);
  std::vector<CollectiveTable> tables;
  bool headed = false;
  while (lines.next()) {
    if (lines.tokens().empty() || lines.tokens().front().starts_with('#')) {
      continue;
    }
    const std::vector<std::string> row = cells(lines.tokens());
    if (!headed) {
      if (row != cells({kHeader})) {
        lines.fail("is no line of column names", std::string(kHeader));
      }
      headed = true;
      continue;
    }
    if (row.size() != 4) {
      lines.fail(std::to_string(row.size()) + (row.size() == 1 ? " column" : " columns"),
                 std::string(kHeader));
    }
    const KnownCollective& known = collective(lines, row[0]);
    const std::size_t ranks = lines.count(row[1]);
    const Bytes size = Bytes::of(static_cast<double>(lines.count(row[2])));
    if (ranks < 2 || size <= Bytes{}) {
      lines.fail(ranks < 2 ? row[1] + " ranks exchange nothing" : "0 bytes are no message",
                 ranks < 2 ? "2 ranks or more" : "1 byte or more");
    }
    auto table = std::find_if(tables.begin(), tables.end(), [&](const CollectiveTable& one) {
      return one.collective == &known && one.workers == ranks;
    });
    if (table == tables.end()) {
      table = tables.insert(tables.end(), {row[0], &known, ranks, {}});
    }
    table->rows.push_back({size, lines.time(row[3]), lines.number()});
  }
  NetworkLog log;
  log.program = "measured collectives";
  return with_rows(std::move(log), tables, where, workers, "rows under " + std::string(kHeader));
}

}  // namespace breakeven
