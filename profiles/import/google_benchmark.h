// Google Benchmark's JSON (--benchmark_format=json, --benchmark_out) -> a codec profile.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalogue.h"

namespace breakeven {

struct ImportOptions {
  std::string name = "imported", summary, source;  ///< of the profile
  std::string device = "cpu";
  Origin origin = Origin::measured;
  bool cpu_time = false;    ///< else real time, which is a manual timer's too
  std::size_t threads = 1;  ///< benchmarks with another number are left out
  /// "PATTERN=SIDE:SPEC": benchmarks whose names match PATTERN time the side encode, decode or decode_next
  /// of SPEC. In a pattern {n} is the number of gradient elements and * stands for anything but '/'. A part
  /// that Google Benchmark adds by itself ("/real_time", "/threads:1", ...) need not be there.
  std::vector<std::string> patterns;
  /// Checks a SPEC and returns the one text that stands for it. Throws Error (value). Empty: as it is
  /// written.
  std::function<std::string(const std::string& spec)> canonical;
};

struct ImportedCodec {
  CodecProfile codec;
  std::vector<std::string> notes;  ///< what was understood and what was left out, a line each
};

/// Understands by itself benchmarks named SIDE/SPEC/ELEMENTS, followed by any number of KEY:VALUE parts, of
/// which `kind` must be normal and `threads` as asked for; other names by the patterns. A time is the median
/// over repetitions: Google Benchmark's own where it is there. Throws Error (file) for what is no such file,
/// for times that make no sense and for schemes without one of their sides, (value) for a bad pattern. What
/// `canonical` throws names the pattern or the benchmark.
ImportedCodec import_google_benchmark(std::string_view json, const std::string& where,
                                      const ImportOptions& options);

}  // namespace breakeven
