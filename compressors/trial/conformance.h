// Does a kernel do what its plan says? The suite that every scheme must pass, whichever door it came through.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "compressors/trial/gradients.h"
#include "model/compressor.h"

namespace breakeven {

/// One fault, in the words of a report: "65537 elements, 8 workers, with NaN, step 2, round 1 of 2": "rank 3
/// sends 10 bytes, its plan says 8".
struct Finding {
  std::string where, wrong;
  std::size_t times = 1;  ///< in so many places, of which `where` is the first: the same but for numbers
};

struct Conformance {
  bool has_kernel = false;  ///< without one only the plans were checked
  std::size_t plans = 0;    ///< message x workers, of fp32, fp16 and bf16
  std::size_t cases = 0;    ///< message x workers x kind of gradient, that a kernel coded
  std::vector<Finding> findings;
};

struct ConformanceOptions {
  std::vector<std::vector<Shape>> messages;  ///< of fp32 tensors
  std::vector<std::size_t> workers = {1, 2, 3, 8};
  std::vector<GradientKind> kinds = gradient_kinds();
  std::size_t steps = 2;  ///< of one kernel, so that its state is used
  /// Elements of a message up to which every kind meets every number of workers; of a larger one the first
  /// two kinds do, and every kind meets two workers.
  std::size_t small = 4096;
  std::size_t most_findings = 20;  ///< then it stops
  bool may_lack_kernels = false;   ///< a message without a kernel, where others have one, is no finding
  std::function<void(const std::string& where)> before = nullptr;  ///< called before each plan and case
};
/// Messages of 1, 7, 8, 33, 256 and 65,537 elements, as vectors and as matrices, and some of several tensors.
ConformanceOptions standard_conformance();

/// Do the plans make sense, and does the kernel keep to them and to the contract of Kernel? A case ends with
/// its first fault; what the compressor throws is one, unless
/// memory or threads ran out: that is thrown on.
Conformance check_conformance(const Compressor& compressor, const ConformanceOptions& options);

}  // namespace breakeven
