#include "profiles/grid_runner.h"

#include <algorithm>
#include <utility>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

bool network_only(const std::string& name) {
  const auto& options = scenario_options();
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == name && option.network_only; });
}

std::vector<std::string> canonical(const Grid& grid, const std::vector<std::string>& specs,
                                   const Registry& registry) {
  std::vector<std::string> result;
  result.reserve(specs.size());
  for (const std::string& spec : specs) {
    try {
      result.push_back(registry.make(spec).spec);
    } catch (const Error& error) {
      throw error.inside(grid.place, grid.place.starts_with("--") ? Fault::value : Fault::file);
    }
  }
  return result;
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

}  // namespace

GridPlan::GridPlan(const Grid& grid, const Catalogue& catalogue, const Registry& registry)
    : grid_(grid), schemes_(canonical(grid, grid.schemes, registry)) {
  for (const Grid::Case& entry : grid_.cases) {
    case_schemes_.push_back(canonical(grid, entry.schemes, registry));
  }
  for (const Option& option : scenario_options()) {
    if (std::any_of(grid_.cases.begin(), grid_.cases.end(),
                    [&](const Grid::Case& entry) { return entry.values.contains(option.name); })) {
      varying_.push_back(option.name);
    }
  }
  for (const Grid::Axis& axis : grid_.axes) {
    Axis parsed{axis.option, axis.values, {}};
    if (network_only(axis.option)) {
      for (const std::string& text : axis.values) {
        parsed.numeric.push_back(numeric_axis(axis.option, text));
      }
    }
    const OptionRule* rule = option_rule(axis.option);
    for (std::size_t v = 0; rule != nullptr && v < axis.values.size(); ++v) {
      (void)option_value(*rule, axis.values[v]);
    }
    axes_.push_back(std::move(parsed));
    add_once(varying_, axis.option);
    combinations_ *= axis.values.size();
  }
  // What is wrong is said before the first row is written.
  for (const Point& point : samples()) {
    check(point, catalogue, registry);
  }
}

/// Every combination that needs a preparation; of too many every value once, with the rest at its first.
std::vector<GridPlan::Point> GridPlan::samples() const {
  constexpr std::size_t kMost = 10'000;
  constexpr std::size_t kMostOfAnAxis = 2'000;  // the rest of a longer one is checked as text alone
  std::vector<Point> all;
  for (std::size_t c = 0; c < grid_.cases.size(); ++c) {
    all.push_back({c, std::vector<std::size_t>(axes_.size(), 0)});
  }
  std::vector<Point> once = all;
  bool too_many = false;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const std::size_t size = axes_[a].numeric.empty() ? axes_[a].texts.size() : 1;
    too_many = too_many || all.size() > kMost / size;
    const std::size_t before = too_many ? 0 : all.size();
    for (std::size_t v = 1; v < std::min(size, kMostOfAnAxis); ++v) {
      once.push_back({0, std::vector<std::size_t>(axes_.size(), 0)});
      once.back().value[a] = v;
      for (std::size_t i = 0; i < before; ++i) {
        Point point = all[i];
        point.value[a] = v;
        all.push_back(std::move(point));
      }
    }
  }
  return too_many ? once : all;
}

void GridPlan::check(const Point& point, const Catalogue& catalogue, const Registry& registry) const {
  const bool first =
      std::all_of(point.value.begin(), point.value.end(), [](std::size_t v) { return v == 0; });
  try {
    const ScenarioSetup setup = resolve(values(point), catalogue);
    const Scenario& scenario = setup.scenario;
    // Not every placement has a closed form.
    const bool forecast = scenario.method == Method::closed_form && scenario.overlap.placement;
    for (const std::string& spec : schemes(point.of_case)) {
      if (first || forecast) {
        const Candidate candidate = priced(registry.make(spec), setup);
        if (forecast) {
          (void)Forecast(scenario, *candidate.compressor, candidate.scheme->placement);
        }
      }
    }
  } catch (const Error& error) {
    const std::string setup = setup_of(point, error.where());
    throw setup.empty()
        ? error
        : Error(error.fault(), error.where(), error.wrong() + " (" + setup + ")", error.expected());
  }
}

/// Which of the grid's setups it is, by what differs between them but for the option that is spoken of
/// anyway.
std::string GridPlan::setup_of(const Point& point, const std::string& where) const {
  const OptionValues all = values(point);
  std::string text;
  for (const std::string& option : varying_) {
    if (const auto found = all.find(option); found != all.end() && where != "--" + option) {
      text += (text.empty() ? "with --" : " --") + option + " " + found->second;
    }
  }
  return text;
}

GridPlan::Point GridPlan::point(std::size_t index) const {
  Point point{index / combinations_, std::vector<std::size_t>(axes_.size(), 0)};
  std::size_t rest = index % combinations_;
  for (std::size_t a = axes_.size(); a-- > 0;) {
    point.value[a] = rest % axes_[a].texts.size();
    rest /= axes_[a].texts.size();
  }
  return point;
}

void GridPlan::next(Point& point) const {
  for (std::size_t a = axes_.size(); a-- > 0;) {
    if (++point.value[a] < axes_[a].texts.size()) {
      return;
    }
    point.value[a] = 0;
  }
  ++point.of_case;
}

const std::vector<std::string>& GridPlan::schemes(std::size_t of_case) const {
  return case_schemes_[of_case].empty() ? schemes_ : case_schemes_[of_case];
}

OptionValues GridPlan::values(const Point& point) const {
  OptionValues values = grid_.base;
  for (const auto& [option, text] : grid_.cases[point.of_case].values) {
    values[option] = text;
  }
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    values[axes_[a].option] = axes_[a].texts[point.value[a]];
  }
  return values;
}

/// A scenario with its forecasts; network numbers are put in for each point.
struct GridRunner::Prepared {
  ScenarioSetup setup;
  std::vector<std::shared_ptr<const Compressor>> compressors;  // the forecasts point to them
  std::unique_ptr<Forecast> plain;
  std::vector<std::unique_ptr<Forecast>> schemes;
  std::vector<double> codec_uncertainty;  // by scheme
  std::vector<bool> same_steps;
};

GridRunner::GridRunner(const GridPlan& plan, const Catalogue& catalogue, const Registry& registry)
    : plan_(plan), catalogue_(catalogue), registry_(registry) {}
GridRunner::~GridRunner() = default;

GridRunner::Prepared& GridRunner::prepare(const GridPlan::Point& point) {
  // The combination of everything that is not a plain number on the network.
  std::size_t key = point.of_case;
  for (std::size_t a = 0; a < plan_.axes().size(); ++a) {
    if (plan_.axes()[a].numeric.empty()) {
      key = key * plan_.axes()[a].texts.size() + point.value[a];
    }
  }
  const auto found = prepared_.find(key);
  if (found != prepared_.end()) {
    return *found->second;
  }
  constexpr std::size_t kMost = 256;  // keeps memory flat; grids rarely alternate between more
  if (prepared_.size() >= kMost) {
    prepared_.clear();
  }
  auto made = std::make_unique<Prepared>();
  made->setup = resolve(plan_.values(point), catalogue_);
  for (const std::string& warning : made->setup.warnings) {
    add_once(warnings_, warning);
  }
  const Scenario& scenario = made->setup.scenario;
  made->compressors.push_back(registry_.make("none").compressor);
  made->plain = std::make_unique<Forecast>(scenario, *made->compressors.back());
  for (const std::string& spec : plan_.schemes(point.of_case)) {
    const Candidate candidate = priced(registry_.make(spec), made->setup);
    made->codec_uncertainty.push_back(judge_options(made->setup, candidate).codec_uncertainty);
    made->same_steps.push_back(candidate.scheme->same_steps);
    made->compressors.push_back(candidate.compressor);
    made->schemes.push_back(
        std::make_unique<Forecast>(scenario, *candidate.compressor, candidate.scheme->placement));
    if (const std::string warning = beyond_nccl(scenario, made->schemes.back()->plans()); !warning.empty()) {
      add_once(warnings_, std::string(spec).append(": ").append(warning));
    }
  }
  return *prepared_.emplace(key, std::move(made)).first->second;
}

const std::vector<GridRow>& GridRunner::run(const GridPlan::Point& point) {
  Prepared& prepared = prepare(point);
  Scenario& scenario = prepared.setup.scenario;
  JudgeOptions& judge = prepared.setup.judge;  // axes may set its numbers
  for (std::size_t a = 0; a < plan_.axes().size(); ++a) {
    if (!plan_.axes()[a].numeric.empty()) {
      const NumericAxis& axis = plan_.axes()[a].numeric[point.value[a]];
      axis.set(scenario, judge, axis.value);
    }
  }
  const double gamma = scenario.overlap.gamma;
  const Baseline base = baseline(*prepared.plain, scenario.fabric, gamma, judge);
  const Seconds alone = base.parts.forward + base.parts.backward + base.parts.other;
  rows_.resize(prepared.schemes.size());
  winner_.reset();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    JudgeOptions options = judge;
    options.codec_uncertainty = prepared.codec_uncertainty[i];
    options.extra_steps = prepared.same_steps[i] ? 0 : judge.extra_steps;
    const Gain here = gain(base, *prepared.schemes[i], scenario.fabric, gamma, options);
    rows_[i] = {here.candidate, base.parts.step(), here.speedup, alone / here.candidate, here.call};
    if (here.call == Call::pays && (!winner_ || here.speedup > rows_[*winner_].speedup)) {
      winner_ = i;
    }
  }
  return rows_;
}

std::vector<std::string> GridRunner::take_warnings() {
  return std::exchange(warnings_, {});
}

}  // namespace breakeven
