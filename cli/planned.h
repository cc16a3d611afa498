// What `plan` found, and how every format shows it.
#pragma once

#include <string>
#include <vector>

#include "cli/table.h"
#include "model/bucket_plan.h"
#include "profiles/setup.h"

namespace breakeven::cli {

/// One of the best buckets, with what people and programs want to know of it.
struct BucketRow {
  std::string first, last;  ///< tensors, in the order of their gradients
  std::size_t tensors = 0, elements = 0;
  Bytes size;
  Seconds ready, sent, arrived;  ///< from the start of backward
};

struct Planned {
  ScenarioSetup setup;
  BucketPlan plan;
  std::vector<BucketRow> buckets;

  [[nodiscard]] const Breakdown& usual() const { return plan.compared.front().parts; }
};

/// The answer in words.
std::string words(const Planned& planned);

Screen comparison_table(const Planned& planned);
Screen bucket_table(const Planned& planned);
/// Lines to paste, each behind the step that it reaches.
Screen settings_table(const Planned& planned);
/// The buckets.
Rows rows_of(const Planned& planned);
std::string plan_json(const Planned& planned);

}  // namespace breakeven::cli
