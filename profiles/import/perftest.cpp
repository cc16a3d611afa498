// Reads what perftest's bandwidth tests print (ib_write_bw, ib_send_bw, ib_read_bw): one direction of a link
// between two machines. Formats: linux-rdma/perftest, src/perftest_parameters.h.
#include <algorithm>

#include "model/error.h"
#include "profiles/import/log_lines.h"
#include "profiles/import/median.h"
#include "profiles/import/network.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr double kMebi = 1048576;
constexpr std::string_view kExpected = "what ib_write_bw prints, with its line of #bytes and BW average";

class Perftest {
 public:
  Perftest(std::string_view text, std::string where) : lines_(text, where), where_(std::move(where)) {}

  NetworkLog read() {
    while (lines_.next()) {
      const Tokens& tokens = lines_.tokens();
      if (has(tokens, "Bidirectional")) {
        lines_.fail("a bidirectional test adds up both directions", "a run without -b");
      }
      if (has(tokens, "#bytes")) {
        take_header(tokens);
      } else if (columns_ > 0) {
        take_row(lines_.row(columns_));
      } else {
        take_setup(tokens);
      }
    }
    if (rows_ == 0) {
      throw Error(Fault::file, where_, "has no rows to use", std::string(kExpected));
    }
    NetworkLog log;
    log.program = "perftest" + (test_.empty() ? "" : " (" + test_ + ")");
    log.link = LinkRate{median_of(rates_), {}};
    log.notes.push_back("one direction between two machines: " + std::to_string(rows_) +
                        (rows_ == 1 ? " row" : " rows") + ", the average at " + to_string(largest_) +
                        " counts" +
                        (pairs_.empty() || pairs_ == "1" ? "" : ", by " + pairs_ + " queue pairs at once") +
                        (unit_ == kMebi ? "; its MB are MiB" : ""));
    log.notes.emplace_back("a node with several ports sends more: --bandwidth says how much");
    return log;
  }

 private:
  /// "RDMA_Write BW Test", "Number of qps   : 8"
  void take_setup(const Tokens& tokens) {
    if (tokens.size() >= 3 && tokens.back() == "Test" && tokens[tokens.size() - 2] == "BW") {
      test_ = tokens[tokens.size() - 3];
    }
    const auto qps = std::find(tokens.begin(), tokens.end(), "qps");
    if (tokens.end() - qps > 2 && is_count(*(qps + 2))) {
      pairs_ = *(qps + 2);
    }
  }

  /// "#bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
  void take_header(const Tokens& tokens) {
    columns_ = 0;
    unit_ = 0;
    constexpr std::string_view kAverage = "average[";
    for (auto token = std::find(tokens.begin(), tokens.end(), "#bytes"); token != tokens.end(); ++token) {
      if (*token == "BW") {
        continue;
      }
      if (token->starts_with(kAverage)) {
        average_ = columns_;
        const std::string_view unit = token->substr(kAverage.size());
        // Without --report_gbits its MB are 2^20 bytes; newer versions print them as MiB.
        unit_ = unit == "Gb/sec]" ? 1e9 / 8 : unit == "MB/sec]" || unit == "MiB/sec]" ? kMebi : 0;
      }
      ++columns_;
    }
    if (unit_ == 0) {
      const bool latency = has(tokens, "t_typical[usec]");
      lines_.fail(latency ? "is of a latency test, which tells no bandwidth" : "has no average bandwidth",
                  "BW average[Gb/sec] or BW average[MB/sec], of a bandwidth test");
    }
    columns_ = std::max(columns_ - 1, average_ + 1);  // the server's rows may lack the message rate
  }

  void take_row(const Tokens& row) {
    if (row.empty()) {
      return;
    }
    const Bytes size = Bytes::of(static_cast<double>(lines_.count(row[0])));
    const auto average = read_printed(row[average_]);
    const double rate = average ? average->value * unit_ : 0;
    constexpr double kMost = 1e15;  // bytes per second
    if (rate < 1 || rate > kMost) {
      lines_.fail("cannot use " + quote(row[average_]) + " as an average bandwidth", "a number above 0");
    }
    ++rows_;
    if (size > largest_) {
      largest_ = size;
      rates_.clear();
    }
    if (size == largest_) {
      rates_.push_back(BytesPerSecond::of(rate));
    }
  }

  LogLines lines_;
  std::string where_;
  std::string test_, pairs_;
  std::size_t columns_ = 0, average_ = 0, rows_ = 0;  ///< columns_ 0: not in a table
  double unit_ = 0;
  Bytes largest_;
  std::vector<BytesPerSecond> rates_;  ///< of that size
};

}  // namespace

NetworkLog read_perftest(std::string_view text, const std::string& where) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && text[begin] == '{') {
    throw Error(Fault::file, where, "is JSON, whose unit depends on how the test was run",
                std::string(kExpected));
  }
  return Perftest(text, where).read();
}

}  // namespace breakeven
