// How long a kernel takes on this machine, by the wall clock: what a step waits for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "compressors/threads.h"
#include "compressors/trial/rehearsal.h"
#include "model/compressor.h"
#include "model/units.h"

namespace breakeven {

struct TimingOptions {
  std::size_t threads = 1;
  std::size_t repeats = 15;  ///< of which the median counts
  bool cold = false;         ///< buffers are driven out of the caches before each call
  GradientKind kind = GradientKind::normal;
};

/// Medians for one message of `elements` gradient elements, as a CodecCosts' curves want them: `encode` is
/// all the coding that comes before the last exchange but the work of intermediate sums that the plan counts
/// as codings of their own; `decode` is the last decoding of one payload; `decode_next` is what each further
/// payload of a gathered exchange adds. That is the difference of two medians: where it is inside their
/// spread, the most that the spread allows, but no more than `decode`, so that no payload looks free; nothing
/// where there is no spread to tell by.
struct CodecTime {
  double elements = 0;  ///< that are coded, as the plan counts them; 0: such a message is sent as it is
  Seconds encode, decode;
  std::optional<Seconds> decode_next;
  double spread = 0;  ///< relative: half the range between the quartiles, the larger of the two sides'
  double encode_spread = 0, decode_spread = 0;
  Seconds least_encode, least_decode;  ///< the fastest of the repeats: the least disturbed
  Seconds read;  ///< one pass that only reads as large a gradient, in between: the yardstick
};

/// One message with all that it takes to time it again and again.
class CodecTimer {
 public:
  /// Throws Error (value) where the scheme has no kernel, std::bad_alloc.
  CodecTimer(const Compressor& compressor, std::size_t elements, std::size_t threads, GradientKind kind);
  [[nodiscard]] CodecTime time(std::size_t repeats, bool cold);

 private:
  void read();
  void encode();

  Threads threads_;
  Buffer<float> gradient_;
  Rehearsal alone_;                    // one payload
  std::optional<Rehearsal> gathered_;  // several, where a decoding takes all at once
  double elements_ = 0;
  std::size_t encoded_ = 0, decoded_ = 0;  // the rounds of the first encoding and of the last decoding
  std::atomic<std::uint32_t> seen_ = 0;    // of what was read, so that it is
};

/// Throws Error (value) where the scheme has no kernel.
CodecTime time_codec(const Compressor& compressor, std::size_t elements, const TimingOptions& options);

/// The tensors of a message of `elements` elements: a matrix that is nearly square, for schemes that factor
/// matrices, and what is left over.
std::vector<Shape> timed_message(std::size_t elements);
/// The memory that a CodecTimer of such a message takes, roughly.
Bytes timing_memory(const Compressor& compressor, std::size_t elements);

}  // namespace breakeven
