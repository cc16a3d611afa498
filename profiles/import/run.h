// Runs that were traced by other programs than PyTorch's profiler -> a model profile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalogue.h"
#include "profiles/import/trace_file.h"

namespace breakeven {

struct RunOptions {
  std::string name = "imported";
  std::string device = "unknown";  ///< that the times are for
  std::string source;              ///< of the profile
  double batch = 1;                ///< samples of one worker in a step
};

struct ImportedRun {
  ModelProfile profile;                ///< without timings where the file has none
  std::size_t workers = 0;             ///< 0: not stated
  Element element = Element::f32;      ///< of the gradients, as they are exchanged
  std::optional<BytesPerSecond> rate;  ///< of a worker in the fastest all-reduce, were it a ring
  std::vector<std::string> notes;      ///< what was understood and what was left out, a line each
};

/// Horovod's timeline, closed or not. Throws Error (file).
ImportedRun import_horovod(const ReadBlock& read, const std::string& where, const RunOptions& options);
/// A Chakra execution trace, protobuf or JSON. Throws Error (file).
ImportedRun import_chakra(std::string_view bytes, const std::string& where, const RunOptions& options);
/// A trace of PyTorch's ExecutionTraceObserver, which has no durations. Throws Error (file).
ImportedRun import_pytorch_et(std::string_view json, const std::string& where, const RunOptions& options);
/// The gaps between gradients that somebody logged.
ImportedRun import_backward_log(const BackwardLog& log, const RunOptions& options);

/// The element of a type as PyTorch and Horovod name it: "Float", "float32", "c10::Half". Nothing for what is
/// no gradient that we exchange.
std::optional<Element> element_named(std::string_view type);
/// The precision whose gradients these are.
Precision precision_of(Element element);
/// `time` as a profile states it: a difference far below a clock's tick is rounding's.
Seconds stated(Seconds time);
/// The gaps' sum, with as many digits as a file shows.
Seconds sum_of(const std::vector<Seconds>& gaps);
/// "1 step", "2 steps".
std::string counted(std::size_t count, const std::string& what);
/// 2(n-1)/n of the bytes in the time: what a worker sends in a ring. Nothing where one of them is missing.
std::optional<BytesPerSecond> ring_rate(Bytes bytes, Seconds time, std::size_t workers);

}  // namespace breakeven
