// What network benchmarks print: any text is a fabric that can be written and read back, or an error.
#include "profiles/import/network.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto log = read_or_refuse(
      [](std::string_view text, const std::string& where) { return read_nccl_tests(text, where); }, data,
      size);
  if (!log) {
    return 0;
  }
  require(!log->rows.empty() && !log->notes.empty(), "something was understood");
  for (const CollectiveTime& row : log->rows) {
    require_above_zero(row.payload, "payload");
    require_above_zero(row.time, "time");
  }
  const auto fabric = read_or_refuse(
      [&](std::string_view, const std::string& where) {
        std::vector<std::string> notes;
        return fabric_from(*log, {}, where, notes);
      },
      data, size);
  if (!fabric) {
    return 0;
  }
  const std::string text = write_fabric(*fabric);
  require(write_fabric(read_fabric(text, "written")) == text, "a profile reads back as it was written");
  return 0;
}
