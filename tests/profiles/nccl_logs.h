// What the suites of nccl-tests' logs share.
#pragma once

#include <optional>
#include <string>

#include "tests/profiles/network_logs.h"

namespace breakeven {

inline NetworkLog read(const std::string& text, std::optional<std::size_t> workers = {}) {
  return read_nccl_tests(text, "log", workers);
}
inline std::string refused(const std::string& text, std::optional<std::size_t> workers = {}) {
  return refused(read_nccl_tests, text, workers);
}

// 4 ranks: busbw = 1.5 x algbw.
inline constexpr const char* kError =
    R"(# nThread: 1 nGpus: 4 minBytes: 1048576 maxBytes: 4194304 step: 2(factor) validation: 1
#
# Using devices
#   Rank  0 Pid   4242 on     node-a device  0 [0x07] A GPU
#   Rank  1 Pid   4242 on     node-a device  1 [0x0b] A GPU
#   Rank  2 Pid   4242 on     node-a device  2 [0x48] A GPU
#   Rank  3 Pid   4242 on     node-a device  3 [0x4c] A GPU
#
#                                                     out-of-place                       in-place
#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1000000        250000   float     sum    110.0    9.09   13.64  1e-07    100.0   10.00   15.00    N/A
     2000000        500000   float     sum    160.0   12.50   18.75  1e-07    150.0   13.33   20.00  1e-07
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 16.8475
)";

inline constexpr const char* kHead2022 =
    "#                                                              out-of-place                       "
    "in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
    "busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  "
    "(GB/s)\n";

inline constexpr const char* kGatherRow =
    "8000000 2000000 float none -1 1100.0 7.27 5.45 0 1000.0 8.00 6.00 0\n";
inline constexpr const char* kReduceRow =
    "8000000 2000000 float sum -1 1100.0 7.27 10.91 0 1000.0 8.00 12.00 0\n";

}  // namespace breakeven
