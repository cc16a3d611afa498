// One event of a Chrome trace, as far as profilers of training steps fill it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/trace_file.h"

namespace breakeven {

/// Views live until the next event.
struct TraceEvent {
  char phase = 0;  ///< X: whole, B and E: its two ends, i: a moment, M: a name for a row ...
  std::string_view name, category;
  std::string_view process, thread;  ///< as the file writes them
  double begin = 0, duration = 0;    ///< microseconds

  struct Arguments {
    std::string_view collective;    ///< PyTorch: "allreduce"
    std::string_view group_name;    ///< PyTorch: of the process group
    std::string_view dtype, shape;  ///< of a gradient: "Float", "float32"; "[64, 3, 7, 7]"
    std::string_view name;          ///< of the row, in M events
    std::string_view input_type;    ///< PyTorch: of the first input, "float"
    std::optional<std::size_t> elements, group, device;
    std::optional<std::vector<std::size_t>> input_dims;  ///< of the first tensor in "Input Dims"
    std::optional<std::int64_t> correlation, external;   ///< what links a kernel to its launch and operator
  } args;
};

struct TraceReader {
  std::function<void(const TraceEvent&)> event;
  /// What stands beside the events, as JSON.
  std::function<void(const std::string& key, std::string_view json)> member;
};

/// Returns false where the list of events is not closed. Throws Error (file) with the number of the event for
/// what is no JSON, a wrong type, a time that is no time.
bool read_trace(const ReadBlock& read, const std::string& where, const TraceReader& reader);

}  // namespace breakeven
