// Runs the program's commands without a process.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"

namespace breakeven::cli {

struct Result {
  int status = 0;
  std::string out, err;
};

inline Result invoke(const std::vector<std::string>& arguments, const Environment& environment = {}) {
  std::ostringstream out, err;
  Result result;
  result.status = run(arguments, out, err, environment);
  result.out = out.str();
  result.err = err.str();
  return result;
}

/// `head`, then `tail`.
inline std::vector<std::string> joined(std::vector<std::string> head, const std::vector<std::string>& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

/// The cells of one line of CSV, without their quotes.
inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> result{""};
  bool quoted = false;
  for (const char c : line) {
    quoted = c == '"' ? !quoted : quoted;
    if (c == ',' && !quoted) {
      result.emplace_back();
    } else if (c != '"') {
      result.back() += c;
    }
  }
  return result;
}

/// A setup whose every number is given: nothing but the gradient's size and times.
inline std::vector<std::string> given_setup() {
  return {"--gradient-bytes", "100MB", "--forward", "50ms", "--backward",  "100ms", "--other", "10ms",
          "--device",         "v100",  "--workers", "16",   "--bandwidth", "10Gbps"};
}
/// ResNet-50 on 16 nodes of 4 V100.
inline std::vector<std::string> resnet_setup() {
  return {"--model",   "resnet50", "--device",           "v100", "--batch",     "64",
          "--workers", "64",       "--workers-per-node", "4",    "--bandwidth", "10Gbps"};
}

}  // namespace breakeven::cli
