// What benchmarks of networks other than nccl-tests print: any text is a fabric that can be written and read
// back, or an error. The first byte chooses the format.
#include "profiles/import/network.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

NetworkLog read(char format, std::string_view text, const std::string& where) {
  switch (format) {
    case 'o':
      return read_osu(text, where, 8);
    case 'm':
      return read_imb(text, where);
    case 'g':
      return read_gloo(text, where);
    case 'd':
      return read_deepspeed_comm(text, where);
    case 'c':
      return read_collectives_csv(text, where);
    case 'p':
      return read_perftest(text, where);
    default:
      return read_iperf3(text, where);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto log =
      read_or_refuse([&](std::string_view text,
                         const std::string& where) { return read(static_cast<char>(data[0]), text, where); },
                     data + 1, size - 1);
  if (!log) {
    return 0;
  }
  require(log->rows.empty() == log->link.has_value() && !log->notes.empty(), "something was understood");
  for (const CollectiveTime& row : log->rows) {
    require_above_zero(row.payload, "payload");
    require_above_zero(row.time, "time");
  }
  NetworkOptions options;
  if (!log->rows.empty() && log->rows.front().workers == 0) {
    options.workers = 8;
  }
  const auto fabric = read_or_refuse(
      [&](std::string_view, const std::string& where) {
        std::vector<std::string> notes;
        return fabric_from(*log, options, where, notes);
      },
      data, size);
  if (!fabric) {
    return 0;
  }
  const std::string text = write_fabric(*fabric);
  require(write_fabric(read_fabric(text, "written")) == text, "a profile reads back as it was written");
  return 0;
}
