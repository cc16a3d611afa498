// The read pass as a C function, so that other languages' libraries are timed beside the same yardstick.
#include <cstddef>

#include "bench/read_pass.h"

extern "C" float breakeven_read_pass(const float* data, std::size_t count) {
  return breakeven::bench::read_pass({data, count});
}
