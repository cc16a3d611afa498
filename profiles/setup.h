// Option values + catalogue -> a scenario, with the value and the origin of each input.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/registry.h"
#include "model/scenario.h"
#include "model/verdict.h"
#include "profiles/catalogue.h"
#include "profiles/options.h"

namespace breakeven {

/// One number or choice that the answer rests on.
struct Input {
  std::string name;             ///< as in the JSON: "bandwidth", "backward", "gamma"
  std::string text;             ///< as people read it: "10 Gbit/s"
  std::optional<double> value;  ///< in base units, when it is a number
  std::string unit;             ///< of `value`: "s", "B", "B/s", "" ...
  Origin origin = Origin::given;
  std::string source;  ///< the profile's word, the rule applied, or empty
};

struct ScenarioSetup {
  Scenario scenario;
  std::vector<Input> inputs;
  std::vector<CodecCosts> codecs;     ///< curves for this device, the user's before the catalogue's
  std::vector<std::string> warnings;  ///< said on stderr: scaling, extrapolation, assumptions that matter
  JudgeOptions judge;
  Origin compute = Origin::given;  ///< of the compute times
  std::string title;               ///< the setup in one line
};

/// Throws Error (value or file): unknown names with the nearest one, missing inputs, values out of range;
/// `where` is the option ("--bandwidth").
ScenarioSetup resolve(const OptionValues& values, const Catalogue& catalogue);

/// Whether a curve that was taken with `spec` is of this scheme with the candidate's parameters, however they
/// are written. Throws Error (value) for parameters that cannot be.
bool same_parameters(const Scheme& scheme, std::string_view spec, std::string_view candidate);
/// `candidate` with the codec times that are known for it: given in its spec, else a curve of `setup`, else
/// its roofline.
Candidate priced(const Candidate& candidate, const ScenarioSetup& setup);
/// The setup's rules of judgement for one candidate: with the spread that its curve states, and without extra
/// steps where it needs none.
JudgeOptions judge_options(const ScenarioSetup& setup, const Candidate& priced);

/// What a warning says of a scheme that exchanges in ways which --algorithm nccl does not know; empty:
/// nothing.
std::string beyond_nccl(const Scenario& scenario, std::span<const Plan> plans);

/// Applies one network-only option to a scenario that resolve() made: what a sweep does a million times.
using Setter = void (*)(Scenario& scenario, JudgeOptions& judge, double value);
struct NumericAxis {
  Setter set = nullptr;
  double value = 0;
};
/// The setter and the parsed value of a network-only option; throws like resolve().
NumericAxis numeric_axis(std::string_view option, const std::string& text);

}  // namespace breakeven
