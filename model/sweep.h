// Many setups, in parallel, in a deterministic order, in constant memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace breakeven {

/// Calls `produce(chunk, worker)` for every chunk on `threads` threads and hands the results to `consume` in
/// the order of the chunks, from the calling thread. At most a few chunks a thread are held at a time. The
/// first exception of either ends the sweep and is thrown again here. `consume` returns false to stop early.
void run_in_order(std::size_t chunks, std::size_t threads,
                  const std::function<std::string(std::size_t chunk, std::size_t worker)>& produce,
                  const std::function<bool(std::string&&)>& consume);

}  // namespace breakeven
