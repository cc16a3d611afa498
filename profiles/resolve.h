// The parts of resolve(): each reads its options and fills in its share of the scenario.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiles/option_values.h"
#include "profiles/setup.h"

namespace breakeven {

/// A number that was chosen among several sources.
struct Pick {
  double value = 0;
  Origin origin = Origin::given;
  std::string source;
};

/// What the parts of resolve() share.
class Resolution {
 public:
  Resolution(const OptionValues& values, const Catalogue& all);

  [[nodiscard]] const std::string* text(std::string_view option) const;
  [[nodiscard]] bool has(std::string_view option) const { return text(option) != nullptr; }
  /// The checked number of an option that was given.
  [[nodiscard]] std::optional<double> number(std::string_view option) const;
  /// The same as a Pick of origin `given`, else `profile`, else `fallback`.
  [[nodiscard]] std::optional<Pick> pick(std::string_view option, const std::optional<Pick>& profile = {},
                                         const std::optional<Pick>& fallback = {}) const;
  /// Position among `choices`; 0 when the option was not given.
  [[nodiscard]] std::size_t choice(std::string_view option, const std::vector<std::string>& choices) const;

  template <class Q>
  void note(std::string name, const Pick& pick, std::string unit) {
    setup.inputs.push_back({std::move(name), to_string(Q::of(pick.value)), pick.value, std::move(unit),
                            pick.origin, pick.source});
  }
  /// Memory and links that people know in bytes, not bits.
  void note_bytes_per_second(std::string name, const Pick& pick);
  void note_number(std::string name, const Pick& pick);
  void note_fraction(std::string name, const Pick& pick);
  void note_text(std::string name, std::string text, Origin origin, std::string source = {});
  /// A choice by option: given, or assumed because `source` says so.
  void note_choice(std::string_view option, std::string name, std::string text, std::string source);
  void warn(std::string text) { setup.warnings.push_back(std::move(text)); }
  /// Says that these options, where given, change nothing here.
  void warn_unused(std::initializer_list<std::string_view> options, const std::string& why);
  [[noreturn]] static void refuse(std::string_view option, std::string wrong, std::string expected);

  const Catalogue& catalogue;
  ScenarioSetup setup;
  std::optional<ModelProfile> model;
  std::optional<FabricProfile> fabric;
  DeviceProfile device;
  std::optional<Pick> gamma;    ///< of the compute times' profile
  bool device_assumed = false;  ///< nobody named one: its numbers stand in for it
  std::optional<double> batch;  ///< of one worker
  std::vector<Seconds> gaps;    ///< of backward, last tensor first; empty: it is spread by FLOPs

 private:
  const OptionValues& values_;
};

// In the order in which they must run.
void resolve_hardware(Resolution& r);  ///< fabric and device profiles
void resolve_workload(Resolution& r);  ///< tensors and their type
void resolve_compute(Resolution& r);   ///< batch, forward, backward, other
void resolve_cluster(Resolution& r);   ///< workers, links, algorithm
void resolve_nccl(
    Resolution& r,
    bool across);  ///< its share of that, where NCCL's model is asked; `across`: there is a network
void resolve_method(Resolution& r);   ///< schedule, overlap, prediction method
void resolve_verdict(Resolution& r);  ///< codec curves, margins

/// Asked for, or one that `auto` picks from.
bool uses(const Scenario& scenario, Algorithm algorithm);
std::string bytes_per_second(double value);
std::string make_title(const Resolution& r);
std::string_view dtype(Element gradient);

}  // namespace breakeven
