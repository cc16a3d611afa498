// What `measure` found, as a codec profile and as tables.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/table.h"
#include "compressors/trial/timing.h"
#include "profiles/catalogue.h"

namespace breakeven::cli {

struct MeasureOptions {
  std::size_t threads = 1, repeats = 0;
  GradientKind kind = GradientKind::normal;
  bool cold = false;  ///< what the profile holds
  std::string name, device;

  /// Fewer, since each has to empty the caches first.
  [[nodiscard]] std::size_t cold_repeats() const { return std::min<std::size_t>(repeats, 5); }
};

/// One scheme and one size.
struct Measured {
  std::string scheme;
  CodecTime warm, cold;
};

/// `rows`: scheme by scheme, elements rising.
CodecProfile measured_profile(const std::vector<Measured>& rows, const MeasureOptions& options);
/// How the times were taken, in a line or two for people.
std::string measured_words(const MeasureOptions& options);
/// A row a side: encode, decode, each further payload of a gathered exchange.
Screen measured_table(const std::vector<Measured>& rows);
Rows measured_rows(const std::vector<Measured>& rows);

}  // namespace breakeven::cli
