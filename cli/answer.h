// What `query` computes once and every format shows.
#pragma once

#include <string>
#include <vector>

#include "cli/colour.h"
#include "cli/command.h"
#include "cli/table.h"
#include "model/predict.h"
#include "model/verdict.h"
#include "profiles/setup.h"

namespace breakeven::cli {

struct AnswerRow {
  std::string label;  ///< "powersgd rank 4"
  Candidate candidate;
  Prediction prediction;
  Verdict verdict;
  bool cast = false;                ///< plain all-reduce in 16 bit
  bool named = false;               ///< the user asked for it
  std::string plugins;              ///< the flags that its scheme needs wherever it is named
  std::string codec_source;         ///< of the curve that its codec times were taken from
  bool codec_extrapolated = false;  ///< a message lies outside that curve

  /// Encode and decode time, hidden or not.
  [[nodiscard]] Seconds codec() const { return prediction.parts.encode + prediction.parts.decode; }
};

struct Answer {
  ScenarioSetup setup;
  std::string plain_label;  ///< "plain fp32"
  Prediction plain;
  Seconds bound;                ///< the step over an infinitely fast network
  double max_speedup = 1;       ///< what no scheme can exceed
  double max_speedup_high = 1;  ///< the same at whichever compute time it is largest
  double near_linear_ratio = 1;
  std::vector<AnswerRow> rows;
};

/// Resolves the scenario and judges every scheme. Throws Error.
Answer answer(const Context& context);
/// The schemes that a command line names: canonical, none twice. Throws Error (value).
std::vector<Candidate> named_schemes(const Context& context);
/// "fp32" of an element.
std::string_view precision_name(Element element);

/// The scheme sends this gradient as it is: no tensor of it is eligible, or it is narrow already.
bool compresses_nothing(const Answer& answer, const AnswerRow& row);
/// The row that pays most, or null.
const AnswerRow* best(const Answer& answer);
/// Why a scheme does not pay here, in a few words.
std::string reason(const Answer& answer, const AnswerRow& row);
/// The whole verdict in sentences, and what to find out next, the most valuable first.
std::vector<std::string> verdict_lines(const Answer& answer);
std::vector<std::string> next_lines(const Answer& answer);

std::string query_screen(const Answer& answer, const Style& style);
std::string query_json(const Answer& answer);
/// One object a line, as in the JSON; plain all-reduce first.
std::string query_jsonl(const Answer& answer);
Screen query_table(const Answer& answer);
/// One row a scheme, plain all-reduce first; columns bear the names of the JSON.
Rows query_rows(const Answer& answer);
/// Every formula with its numbers put in, and the origin of each input.
std::string explain(const Answer& answer);

}  // namespace breakeven::cli
