// Which buckets a gradient is best divided into where each bucket may have its own scheme.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "model/predict.h"

namespace breakeven {

/// What a bucket may be coded with, and where. A `serial` codec waits for the end of backward, but has one
/// message a bucket.
struct Choice {
  const Compressor* compressor = nullptr;
  Placement placement = Placement::serial;
};

/// One division of the gradient with a choice for each bucket, on the scenario's timeline.
struct MixedStep {
  Breakdown parts;
  std::vector<Message> messages;
  std::vector<std::size_t> choices;  ///< by message: an index
  std::vector<Span> spans;
};

struct SchemePlan {
  MixedStep best;                ///< nothing below ends sooner, nor any one choice in these buckets
  std::vector<MixedStep> usual;  ///< by choice: it alone, in DDP's default buckets; serial: in one
  std::vector<MixedStep> alone;  ///< by choice: it alone, in the best buckets found for it
  MixedStep ddp;                 ///< the best in buckets of one size limit
  double cap = 0;                ///< that limit in MiB
  bool exact = false;            ///< no other buckets and choices end sooner
};

/// `choices`: plain all-reduce first. The scenario's schedule does not count; its method must be the
/// timeline.
///
/// Exact where no choice codes and each exchanges once: then a bucket's cheapest exchange is its best, and
/// best_buckets() is exact for it. Otherwise what a bucket costs hangs on what all others do on compute,
/// codec and network. Then the rule is Espresso's (Wang et al., EuroSys 2023, algorithm 1): buckets by size,
/// the largest first, each takes the choice that ends the simulated step soonest, here until nothing changes;
/// from many divisions, of which the best are improved by moving, merging and splitting buckets.
SchemePlan plan_schemes(const Scenario& scenario, std::span<const Choice> choices);

}  // namespace breakeven
