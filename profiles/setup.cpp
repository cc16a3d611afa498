#include "profiles/setup.h"

#include <algorithm>

#include "model/codec.h"
#include "model/error.h"
#include "model/spec.h"
#include "profiles/resolve.h"

namespace breakeven {

Resolution::Resolution(const OptionValues& values, const Catalogue& all) : catalogue(all), values_(values) {
  for (const auto& [option, text] : values) {
    check_option_name(option, "--" + option);
    if (text.empty()) {
      refuse(option, "is empty", "a value");
    }
  }
}

const std::string* Resolution::text(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<double> Resolution::number(std::string_view option) const {
  const std::string* given = text(option);
  return given == nullptr ? std::nullopt : std::optional(option_value(*option_rule(option), *given));
}

std::optional<Pick> Resolution::pick(std::string_view option, const std::optional<Pick>& profile,
                                     const std::optional<Pick>& fallback) const {
  if (const auto given = number(option)) {
    return Pick{*given, Origin::given, {}};
  }
  return profile ? profile : fallback;
}

std::size_t Resolution::choice(std::string_view option, const std::vector<std::string>& choices) const {
  const std::string* given = text(option);
  return given == nullptr ? 0 : option_choice(option, *given, choices);
}

std::string bytes_per_second(double value) {
  return to_string(Bytes::of(value)) + "/s";
}

void Resolution::note_bytes_per_second(std::string name, const Pick& pick) {
  setup.inputs.push_back(
      {std::move(name), bytes_per_second(pick.value), pick.value, "B/s", pick.origin, pick.source});
}

void Resolution::note_number(std::string name, const Pick& pick) {
  setup.inputs.push_back({std::move(name), plain(pick.value), pick.value, "", pick.origin, pick.source});
}

void Resolution::note_fraction(std::string name, const Pick& pick) {
  setup.inputs.push_back(
      {std::move(name), significant(pick.value * 100) + "%", pick.value, "", pick.origin, pick.source});
}

void Resolution::note_text(std::string name, std::string text, Origin origin, std::string source) {
  setup.inputs.push_back({std::move(name), std::move(text), std::nullopt, "", origin, std::move(source)});
}

void Resolution::note_choice(std::string_view option, std::string name, std::string text,
                             std::string source) {
  const bool given = has(option);
  note_text(std::move(name), std::move(text), given ? Origin::given : Origin::assumed,
            given ? "" : std::move(source));
}

void Resolution::warn_unused(std::initializer_list<std::string_view> options, const std::string& why) {
  for (const std::string_view option : options) {
    if (has(option)) {
      warn("--" + std::string(option) + " changes nothing here: " + why);
    }
  }
}

void Resolution::refuse(std::string_view option, std::string wrong, std::string expected) {
  throw Error(Fault::value, "--" + std::string(option), std::move(wrong), std::move(expected));
}

ScenarioSetup resolve(const OptionValues& values, const Catalogue& catalogue) {
  Resolution r(values, catalogue);
  resolve_hardware(r);
  resolve_workload(r);
  resolve_compute(r);
  resolve_cluster(r);
  resolve_method(r);
  resolve_verdict(r);
  r.setup.title = make_title(r);
  return std::move(r.setup);
}

bool same_parameters(const Scheme& scheme, std::string_view spec, std::string_view candidate) {
  const Spec taken = split_spec(spec);
  if (taken.name != scheme.name) {
    return false;
  }
  const Params a(scheme.params, taken.params);
  const Params b(scheme.params, split_spec(candidate).params);
  return std::all_of(scheme.params.begin(), scheme.params.end(), [&](const Param& param) {
    return param.kind == Param::Kind::choice ? a.choice(param.name) == b.choice(param.name)
                                             : a.number(param.name) == b.number(param.name);
  });
}

Candidate priced(const Candidate& candidate, const ScenarioSetup& setup) {
  Candidate result = candidate;
  if (candidate.encode) {
    result.compressor = with_given(candidate.compressor, *candidate.encode, *candidate.decode,
                                   setup.scenario.workload.elements());
    return result;
  }
  for (const CodecCosts& costs : setup.codecs) {
    try {
      if (same_parameters(*candidate.scheme, costs.scheme, candidate.plain_spec)) {
        result.compressor = with_costs(candidate.compressor, costs);
        result.costs = std::make_shared<CodecCosts>(costs);
        return result;
      }
    } catch (const Error& error) {
      const std::string file = costs.file.empty() ? "codec profile of " + costs.device : costs.file;
      throw error.inside(file + ": \"" + costs.scheme + "\"", Fault::file);
    }
  }
  return result;
}

JudgeOptions judge_options(const ScenarioSetup& setup, const Candidate& priced) {
  JudgeOptions options = setup.judge;
  if (priced.costs && priced.costs->spread > 0) {
    options.codec_uncertainty = priced.costs->spread;
  }
  if (priced.scheme->same_steps) {
    options.extra_steps = 0;
  }
  return options;
}

namespace {

struct NetworkOption {
  std::string_view name;
  Setter set;
};
using S = Scenario;
using J = JudgeOptions;
constexpr NetworkOption kNetworkOptions[] = {
    {"bandwidth", [](S& s, J&, double v) { s.fabric.across.bandwidth = BytesPerSecond::of(v); }},
    {"latency", [](S& s, J&, double v) { s.fabric.across.latency = Seconds::of(v); }},
    {"efficiency", [](S& s, J&, double v) { s.fabric.across.efficiency = v; }},
    {"intra-bandwidth", [](S& s, J&, double v) { s.fabric.inside.bandwidth = BytesPerSecond::of(v); }},
    {"intra-latency", [](S& s, J&, double v) { s.fabric.inside.latency = Seconds::of(v); }},
    {"gamma", [](S& s, J&, double v) { s.overlap.gamma = v; }},
    {"margin", [](S&, J& j, double v) { j.margin = v; }},
    {"extra-steps", [](S&, J& j, double v) { j.extra_steps = v; }},
};

}  // namespace

NumericAxis numeric_axis(std::string_view option, const std::string& text) {
  for (const NetworkOption& known : kNetworkOptions) {
    if (known.name == option) {
      return {known.set, option_value(*option_rule(option), text)};
    }
  }
  throw Error(Fault::value, "--" + std::string(option), "needs a new preparation",
              "an option of the network or the verdict");
}

}  // namespace breakeven
