// Google Benchmark's JSON (--benchmark_format=json, --benchmark_out) -> a codec profile.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/codec.h"

namespace breakeven {

struct ImportOptions : CodecOptions {
  bool cpu_time = false;    ///< else real time, which is a manual timer's too
  std::size_t threads = 1;  ///< benchmarks with another number are left out
  /// "PATTERN=SIDE:SPEC": benchmarks whose names match PATTERN time the side encode, decode or decode_next
  /// of SPEC. In a pattern {n} is the number of gradient elements and * stands for anything but '/'. A part
  /// that Google Benchmark adds by itself ("/real_time", "/threads:1", ...) need not be there.
  std::vector<std::string> patterns;
};

/// Understands by itself benchmarks named SIDE/SPEC/ELEMENTS, followed by any number of KEY:VALUE parts, of
/// which `kind` must be normal and `threads` as asked for; other names by the patterns. A time is the median
/// over repetitions: Google Benchmark's own where it is there. Throws Error (file) for what is no such file,
/// for times that make no sense and for schemes without one of their sides, (value) for a bad pattern. What
/// `canonical` throws names the pattern or the benchmark.
ImportedCodec import_google_benchmark(std::string_view json, const std::string& where,
                                      const ImportOptions& options);

}  // namespace breakeven
