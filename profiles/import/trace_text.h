// Cuts the text of a Chrome trace into its events without holding it: only one event is in memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "profiles/import/trace_file.h"

namespace breakeven {

/// What the cutter hands out. The views live until the call returns, and 64 readable bytes follow each of
/// them.
struct TraceParts {
  std::function<void(std::string_view json, std::size_t number)> event;  ///< an object, the first is 1
  std::function<void(const std::string& key, std::string_view json)>
      member;  ///< what stands beside the events
};

/// Both forms: {"traceEvents": [...], ...} and a bare list. Returns false where the text ends inside the
/// list, behind a whole event or its comma. Throws Error (file) with the place for everything else that is no
/// such text.
bool cut_trace(const ReadBlock& read, const std::string& where, const TraceParts& parts);

}  // namespace breakeven
