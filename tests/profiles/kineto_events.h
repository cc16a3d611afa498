// Traces of training steps as PyTorch's profiler writes them, for the suites that read them.
#pragma once

#include <string>
#include <vector>

#include "profiles/import/kineto.h"
#include "profiles/option_values.h"
#include "tests/profiles/helpers.h"

namespace breakeven {

/// One event: times in microseconds.
inline std::string event(const std::string& category, const std::string& name, double begin, double duration,
                         const std::string& args = "") {
  return R"({"ph": "X", "cat": ")" + category + R"(", "name": ")" + name +
         R"(", "pid": 0, "tid": 7, "ts": )" + exact(begin) + R"(, "dur": )" + exact(duration) +
         (args.empty() ? "" : R"(, "args": {)" + args + "}") + "}";
}
inline std::string kernel(double begin, double duration, int correlation = -1) {
  return event("kernel", "void gemm<float>()", begin, duration,
               correlation < 0 ? "" : "\"correlation\": " + std::to_string(correlation));
}
inline std::string all_reduce(
    double begin, double duration, std::size_t elements, int correlation = -1,
    const std::string& name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclWork*)") {
  return event("kernel", name, begin, duration,
               R"("Collective name": "allreduce", "dtype": "Float", "Group size": 2, "In msg nelems": )" +
                   std::to_string(elements) +
                   (correlation < 0 ? "" : ", \"correlation\": " + std::to_string(correlation)));
}
inline std::string launch(double begin, int correlation) {
  return event("cuda_runtime", "cudaLaunchKernel", begin, 1,
               "\"correlation\": " + std::to_string(correlation));
}

inline std::string list(const std::vector<std::string>& events) {
  std::string text;
  for (const std::string& one : events) {
    text += (text.empty() ? "" : ",\n") + one;
  }
  return "[" + text + "]";
}
inline std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline KinetoFindings found(const std::string& text) {
  return find_in(read_kineto(blocks_of(text), "t.json"), "t.json");
}
inline std::string refused(const std::string& text) {
  return failure([&] { (void)found(text); });
}

/// The host marks a step of 1000 us: forward 100-400, backward 400-900.
inline std::vector<std::string> step(double at = 0, int number = 1) {
  return {event("user_annotation", "ProfilerStep#" + std::to_string(number), at, 1000),
          event("user_annotation", "DistributedDataParallel.forward", at + 100, 300),
          event("user_annotation", "## backward ##", at + 400, 500),
          event("user_annotation", "Optimizer.step#SGD.step", at + 900, 50)};
}

}  // namespace breakeven
