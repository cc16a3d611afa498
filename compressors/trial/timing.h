// How long a kernel takes on this machine.
#pragma once

#include <cstddef>

#include "compressors/trial/gradients.h"
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
/// payload of a gathered exchange adds.
struct CodecTime {
  std::size_t elements = 0;
  Seconds encode, decode, decode_next;
  double spread = 0;  ///< relative: half the range between the quartiles, the larger of the two sides'
};
/// Throws Error (value) where the scheme has no kernel.
CodecTime time_codec(const Compressor& compressor, std::size_t elements, const TimingOptions& options);

}  // namespace breakeven
