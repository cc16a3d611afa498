// What others published or measured, as cases that the model is held against.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/registry.h"
#include "profiles/catalogue.h"
#include "profiles/options.h"

namespace breakeven {

/// What a case states about its setup.
enum class Figure {
  step,
  backward_and_sync,
  communication,  ///< time on the network, hidden or not: of one exchange where there is but one
  payload,        ///< what one worker contributes in a step
  wire,           ///< what one worker sends in a step
  throughput,     ///< samples of all workers in a second
  scaling,        ///< step without a network / step
  workers_worth,  ///< the same times the workers: "8 GPUs train 5.5 times as fast as one"
  speedup,        ///< over plain all-reduce
  bus_bandwidth,  ///< of the one exchange: what a ring's links would carry in its time (nccl-tests)
  pays_below,     ///< the bandwidth up to which the scheme pays
  sign,           ///< whether the scheme wins or loses against plain all-reduce
  ordering,       ///< other cases of the source, the largest value first
};
std::string_view name(Figure figure);

/// exact: follows from the source's own equations or code.
enum class CaseKind { exact, published, measured, ordering };
std::string_view name(CaseKind kind);

/// How far a prediction may be off.
struct Tolerance {
  double value = 0;
  bool points = false;  ///< percentage points, else relative
};
std::string to_string(const Tolerance& tolerance);

struct PublishedCase {
  std::string id;
  OptionValues options;  ///< the source's and its own
  std::string scheme;
  Figure figure = Figure::step;
  CaseKind kind = CaseKind::measured;
  double expected = 0;             ///< in base units; of a sign: above 1 when it wins
  std::string text;                ///< `expected` as the file has it
  std::vector<std::string> order;  ///< of an ordering: ids
  Tolerance tolerance;
  std::string missing;  ///< what the setup or the model likely lacks, where it misses
};

struct Published {
  std::string name, summary, source;
  std::optional<double> least_within;   ///< bound: share of its cases within their tolerance
  std::optional<double> largest_error;  ///< bound
  std::vector<PublishedCase> cases;
  std::vector<std::string> left_out;  ///< what the source has besides, and why it is no case
};

/// Throws Error (file).
Published read_published(std::string_view json, const std::string& where);

struct CheckedCase {
  std::string id;
  double predicted = 0;
  std::string text;  ///< `predicted` as people read it
  double error = 0;  ///< signed: relative, or a difference of shares where the tolerance is in points; of an
                     ///< ordering or a sign: how far on the wrong side
  bool within = false;
  std::vector<std::string> warnings;
};
struct CheckedSource {
  std::vector<CheckedCase> cases;  ///< one a case of the source, in its order
  std::size_t within = 0;
  double median = 0, largest = 0;  ///< of the errors' sizes; the median of numbers alone, if there are any
  bool holds = false;              ///< the source's bound
};

/// Predicts every case. Throws Error (file), which names the source and the case, when one cannot be asked.
CheckedSource check(const Published& source, const Catalogue& catalogue, const Registry& registry);

}  // namespace breakeven
