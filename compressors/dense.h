// What a scheme sends as it is: an all-reduce of the gradient's elements, in one message.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/threads.h"
#include "model/compressor.h"

namespace breakeven {

/// Consecutive elements of a message.
struct Run {
  std::size_t first = 0, count = 0;
  friend constexpr bool operator==(const Run&, const Run&) = default;
};
/// Where the tensors lie for which `wanted(shape)` holds, in their order; neighbours make one run.
template <class Wanted>
std::vector<Run> runs_of(std::span<const Shape> tensors, Wanted wanted) {
  std::vector<Run> runs;
  std::size_t first = 0;
  for (const Shape& shape : tensors) {
    const std::size_t count = shape.elements();
    if (count > 0 && wanted(shape)) {
      if (!runs.empty() && runs.back().first + runs.back().count == first) {
        runs.back().count += count;
      } else {
        runs.push_back({first, count});
      }
    }
    first += count;
  }
  return runs;
}
/// Kernels code fp32 only.
bool all_f32(std::span<const Shape> tensors);

/// The uncompressed elements of a message. One run is sent from where it lies, several are gathered first.
/// Element by element the mean is the sum times 1/workers.
class DensePart {
 public:
  DensePart() = default;
  explicit DensePart(std::vector<Run> runs);

  [[nodiscard]] std::size_t elements() const { return elements_; }
  /// Valid until the next call, and while `gradient` is.
  std::span<const std::byte> encode(std::span<const float> gradient, Threads& threads);
  /// Takes the sum of all workers' elements and writes their mean where they lie, nothing else.
  void decode(std::span<const std::byte> sum, std::size_t workers, std::span<float> mean, Threads& threads);

 private:
  std::vector<Run> runs_;
  std::size_t elements_ = 0;
  Buffer<float> gathered_;
};

}  // namespace breakeven
