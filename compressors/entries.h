// Entries of a sparse vector, as they are sent: values in one message, positions in another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/buffer.h"
#include "compressors/threads.h"

namespace breakeven {

struct EntryFormat {
  bool half = false;  ///< values as f16 instead of f32
  bool wide = false;  ///< positions as u64 instead of u32

  [[nodiscard]] std::size_t value_bytes() const { return half ? 2 : 4; }
  [[nodiscard]] std::size_t position_bytes() const { return wide ? 8 : 4; }
};

/// What was sent, which may begin at any byte.
void read_values(std::span<const std::byte> received, EntryFormat format, std::span<float> values);
void read_positions(std::span<const std::byte> received, EntryFormat format,
                    std::span<std::uint32_t> positions);

/// One worker's entries, as payloads.
class EntryEncoder {
 public:
  EntryEncoder(std::size_t entries, EntryFormat format);

  /// Valid until the next call, and while the argument is.
  std::span<const std::byte> values(std::span<const float> values);
  std::span<const std::byte> positions(std::span<const std::uint32_t> positions);
  /// Takes what values() last sent out of `residual`, at these positions: the error of rounding stays. What
  /// is sent as infinity or NaN is forgotten, so that it does not come back at every step.
  void clear_sent(std::span<const std::uint32_t> positions, float* residual) const;

 private:
  EntryFormat format_;
  std::span<const float> last_;
  Buffer<std::uint16_t> halves_;
  Buffer<std::uint64_t> wide_;
};

/// Every worker's entries, as gathered, made to their mean.
class EntryDecoder {
 public:
  /// `entries` of each of `workers` workers.
  EntryDecoder(std::size_t entries, std::size_t workers, EntryFormat format, Threads& threads);

  void take_values(std::span<const std::byte> received);
  /// mean = the sum of all workers' entries, each divided by `divisor`, by rank. `counts` says how many of
  /// each worker's entries there are: all where it is empty. Positions ascend within a worker's; what does
  /// not, or is outside of the mean, is left out.
  void add_positions(std::span<const std::byte> received, std::span<const std::uint64_t> counts,
                     std::size_t divisor, std::span<float> mean);

 private:
  template <class Position>
  void scatter(const std::byte* positions, std::span<const std::uint64_t> counts, float factor,
               std::span<float> mean);

  std::size_t entries_, workers_;
  EntryFormat format_;
  Threads& threads_;
  Buffer<float> values_;
  Buffer<std::size_t> next_;  // by thread and worker: the entry that comes next
  Buffer<float> chunks_;      // by thread: a part of the mean
};

}  // namespace breakeven
