// What `plan` found, and how every format shows it.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/table.h"
#include "model/bucket_plan.h"
#include "model/scheme_plan.h"
#include "profiles/setup.h"

namespace breakeven::cli {

class JsonWriter;

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

/// What each message holds: its tensors and their size.
std::vector<BucketRow> bucket_rows(const Workload& workload, const std::vector<Message>& messages);

/// The answer in words.
std::string words(const Planned& planned);

Screen comparison_table(const Planned& planned);
Screen bucket_table(const Planned& planned);
/// Lines to paste, each behind the step that it reaches.
Screen settings_table(const Planned& planned);
/// The buckets.
Rows rows_of(const Planned& planned);
std::string plan_json(const Planned& planned);

/// What share of `step` the best saves; rounding is no saving.
double saved_share(Seconds best, Seconds step);
/// The step and its parts, which add up to it, in an object that is open.
void write_parts(JsonWriter& json, const Breakdown& parts);
/// Each row as an object, in an array that is open.
void write_objects(JsonWriter& json, const Rows& rows);

/// The same with a scheme for each bucket.
struct MixedPlanned {
  ScenarioSetup setup;
  std::vector<Candidate> schemes;  ///< plain all-reduce first
  std::vector<std::string> codec;  ///< by scheme: the origin of its codec times; empty: it has none
  SchemePlan plan;
  std::vector<BucketRow> buckets;

  [[nodiscard]] const std::string& scheme(const MixedStep& step, std::size_t bucket) const {
    return schemes[step.choices[bucket]].spec;
  }
};
/// Plans with the schemes that the command line names.
MixedPlanned plan_by_scheme(const Context& context, ScenarioSetup setup);
std::string words(const MixedPlanned& planned);
Screen comparison_table(const MixedPlanned& planned);
Screen bucket_table(const MixedPlanned& planned);
Screen settings_table(const MixedPlanned& planned);
Rows rows_of(const MixedPlanned& planned);
std::string plan_json(const MixedPlanned& planned);

}  // namespace breakeven::cli
