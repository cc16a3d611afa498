// Logs of gradients: any text is a backward pass of finite time and size, or an error.
#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto log = read_or_refuse(read_backward_log, data, size);
  if (!log) {
    return 0;
  }
  require(!log->rows.empty(), "a log has rows");
  Seconds backward;
  Bytes bytes;
  for (const BackwardLog::Row& row : log->rows) {
    require_amount(row.gap, "gap");
    require(row.bytes > 0, "a gradient has a size");
    backward += row.gap;
    bytes += Bytes::of(static_cast<double>(row.bytes));
  }
  require_above_zero(backward, "backward");
  require_above_zero(bytes, "gradients");
  return 0;
}
