// Reads when each gradient of a backward pass appeared, in both forms of such logs.
#include <algorithm>
#include <optional>
#include <utility>

#include "model/error.h"
#include "model/units.h"
#include "profiles/limits.h"
#include "profiles/option_values.h"
#include "profiles/read.h"

namespace breakeven {
namespace {

constexpr std::string_view kHead = "gap_us,bytes";
constexpr std::size_t kMostRows = 100'000;  // no step has this many gradients
constexpr double kMostBytes = 1e15;
constexpr double kLongest = 1e6;  // seconds

class Lines {
 public:
  Lines(std::string_view text, std::string where) : rest_(text), where_(std::move(where)) {
    rest_.remove_suffix(rest_.size() - (rest_.find_last_not_of(" \t\r\n") + 1));
  }
  [[nodiscard]] bool more() const { return !rest_.empty(); }
  /// Without its end and the spaces around it.
  std::string_view next() {
    ++number_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) {
      return {};
    }
    return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
  }
  [[nodiscard]] std::string place() const { return where_ + ": line " + std::to_string(number_); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const {
    throw Error(Fault::file, place(), std::move(wrong), std::move(expected));
  }

 private:
  std::string_view rest_;
  std::string where_;
  std::size_t number_ = 0;
};

/// The second or third line of the authors' log.
std::size_t read_count(Lines& lines, const std::string& what) {
  if (!lines.more()) {
    lines.fail("the log ends before the number of " + what,
               std::string(kHead) + ", or a line of explanation, the number of batches and that of layers");
  }
  const std::string_view line = lines.next();
  try {
    return parse_count(line);
  } catch (const Error&) {
    lines.fail("cannot read " + quote(line) + " as the number of " + what,
               std::string("a whole number, or ") + std::string(kHead) + " in the first line");
  }
}

BackwardLog::Row read_row(const Lines& lines, std::string_view line) {
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos || line.find(',', comma + 1) != std::string_view::npos) {
    lines.fail("cannot read " + quote(line), "a gap in microseconds and a size in bytes: 552.6,4000");
  }
  BackwardLog::Row row;
  double gap = 0;
  try {
    gap = parse_number(line.substr(0, comma)) * 1e-6;
    row.bytes = parse_count(line.substr(comma + 1));
  } catch (const Error& error) {
    throw error.inside(lines.place(), Fault::file);
  }
  if (gap < 0 || gap > kLongest || !can_be_stated(gap)) {
    lines.fail("a gap of " + std::string(line.substr(0, comma)) + " us", "0 to 1e12 us");
  }
  if (row.bytes == 0) {
    lines.fail("a gradient of 0 bytes", "the size of a gradient");
  }
  row.gap = Seconds::of(gap);
  return row;
}

/// The lines before the rows -> how many rows the log states.
std::optional<std::size_t> read_head(Lines& lines) {
  std::string head(lines.next());
  std::erase(head, ' ');
  if (head == kHead) {
    return std::nullopt;
  }
  const std::size_t batches = read_count(lines, "batches");
  if (batches != 1) {
    lines.fail(std::to_string(batches) + " batches", "1: the gaps of one backward pass");
  }
  const std::size_t rows = read_count(lines, "layers");
  if (rows == 0) {
    lines.fail("0 layers", "the number of rows below");
  }
  return rows;
}

}  // namespace

BackwardLog read_backward_log(std::string_view text, const std::string& where) {
  Lines lines(text, where);
  const std::optional<std::size_t> stated = read_head(lines);
  BackwardLog log;
  double seconds = 0;
  double bytes = 0;
  while (lines.more()) {
    const std::string_view line = lines.next();
    if (stated && log.rows.size() == *stated) {
      lines.fail("a row more than the " + std::to_string(*stated) + " layers of line 3", "as many rows");
    }
    log.rows.push_back(read_row(lines, line));
    seconds += log.rows.back().gap.base();
    bytes += static_cast<double>(log.rows.back().bytes);
    if (log.rows.size() > kMostRows || bytes > kMostBytes || seconds > kLongest) {
      lines.fail("the rows so far are " + std::to_string(log.rows.size()) + " gradients of " +
                     to_string(Bytes::of(bytes)) + " in " + to_string(Seconds::of(seconds)),
                 "at most 100000 gradients, 1e15 bytes, 1e6 s");
    }
  }
  if (log.rows.empty() || (stated && log.rows.size() < *stated)) {
    lines.fail("the log ends after " + std::to_string(log.rows.size()) + " rows",
               stated ? std::to_string(*stated) + " rows, as line 3 says" : "a row a gradient");
  }
  if (seconds <= 0) {
    lines.fail("all gaps are 0", "gaps that add up to the backward pass");
  }
  return log;
}

}  // namespace breakeven
