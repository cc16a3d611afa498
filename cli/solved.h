// What `solve` found, and how every format shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/colour.h"
#include "cli/command.h"
#include "cli/table.h"
#include "model/solve.h"
#include "profiles/setup.h"

namespace breakeven::cli {

/// The input that is asked for, in the order of the command's usage.
enum class Unknown { bandwidth, ratio, codec_time, workers, batch, extra_steps };

/// As the command line names it, its column's title, its unit.
struct UnknownText {
  std::string_view name, title, unit;
};
const UnknownText& text_of(Unknown unknown);

enum class Question {
  explain,  ///< which value gives the measured scaling?
  reach,    ///< from where on is the scaling as wanted?
  pay,      ///< where does the scheme gain?
};

/// What the command line asks, checked.
struct Asked {
  Unknown unknown = Unknown::bandwidth;
  std::optional<double> measured;  ///< --scaling
  std::vector<double> targets;
  std::vector<Candidate> schemes;  ///< without plain all-reduce
};
Asked asked_of(const Context& context);

struct SolvedRow {
  std::string scheme;  ///< its spec
  std::string label;   ///< "plain fp32", "powersgd:rank=4"
  Question question = Question::reach;
  Goal goal;
  Solution solution;
  std::optional<double> now;           ///< the input's value in the setup
  std::optional<double> measured_now;  ///< what the goal measures there
  std::optional<double> share;         ///< of the given bandwidth
  std::string origin;                  ///< of `now`, where it is a codec time
};

struct Solved {
  Unknown unknown = Unknown::bandwidth;
  ScenarioSetup setup;  ///< without what stands in for the unknown
  std::string place;    ///< " inside the node": which bandwidth
  std::vector<SolvedRow> rows;
};

/// The one number of an answer, where it has one.
std::optional<double> value_of(Unknown unknown, const SolvedRow& row);
/// The answer in a sentence.
std::string words(const Solved& solved, const SolvedRow& row);

std::string solved_json(const Solved& solved);
Screen solved_table(const Solved& solved);
Rows solved_rows(const Solved& solved);

}  // namespace breakeven::cli
