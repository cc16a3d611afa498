// `breakeven solve`: the value of one input that gives what is wanted.
#include <algorithm>
#include <map>
#include <numeric>

#include "cli/answer.h"
#include "cli/app.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/solved.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

[[noreturn]] void refuse(std::string where, std::string wrong, std::string expected) {
  throw Error(Fault::value, std::move(where), std::move(wrong), std::move(expected));
}

/// Nothing where the batch is too small for the time that --other states.
std::optional<Scenario> scenario_of(const OptionValues& values, const Catalogue& catalogue) {
  try {
    return resolve(values, catalogue).scenario;
  } catch (const Error& error) {
    if (values.contains("throughput") && error.where() == "--other") {
      return std::nullopt;
    }
    throw;
  }
}

constexpr std::size_t kMostSamples = 1 << 16;

/// A setup needs some value of the unknown too. True: the user gave none, and one that stands in for it was
/// put into `values`.
bool stand_in(Unknown unknown, OptionValues& values, const Catalogue& catalogue) {
  switch (unknown) {
    case Unknown::bandwidth:
      return !values.contains("fabric") && values.try_emplace("bandwidth", "10Gbit/s").second;
    case Unknown::batch: {
      constexpr std::size_t kUsual = 32;
      const bool missing = !values.contains("batch");
      for (std::size_t samples = kUsual; missing && samples <= kMostSamples; samples *= 2) {
        values["batch"] = std::to_string(samples);
        if (scenario_of(values, catalogue)) {
          break;
        }
      }
      return missing;
    }
    case Unknown::workers: {
      if (values.contains("workers")) {
        return false;
      }
      OptionValues one = values;
      one["workers"] = "1";
      const Scenario alone = resolve(one, catalogue).scenario;
      if (alone.fabric.across.bandwidth <= BytesPerSecond{}) {
        return false;  // then it is said what is missing
      }
      values["workers"] = std::to_string(2 * alone.workers_per_node);
      return true;
    }
    default:
      return false;
  }
}

/// Takes what only stood in for the unknown out of what is shown.
void hide(Unknown unknown, const Scenario& scenario, ScenarioSetup& setup) {
  std::vector<std::string> names = {std::string(text_of(unknown).name)};
  if (unknown == Unknown::batch) {
    names.insert(names.end(), {"forward", "backward", "other"});
    setup.warnings.clear();  // they are about this batch
  }
  std::erase_if(setup.inputs, [&](const Input& input) {
    return std::find(names.begin(), names.end(), input.name) != names.end();
  });
  const std::string count = std::to_string(scenario.workers) + " ";
  const std::string bandwidth = to_string(scenario.fabric.across.bandwidth) + " a node";
  constexpr std::string_view kDot = " \u00b7 ";
  std::string title;
  for (std::string_view rest = setup.title; !rest.empty();) {
    const std::size_t end = std::min(rest.find(kDot), rest.size());
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + kDot.size(), rest.size()));
    const bool stood_in = (unknown == Unknown::batch && part.starts_with("batch ")) ||
                          (unknown == Unknown::workers && part.starts_with(count)) ||
                          (unknown == Unknown::bandwidth && part == bandwidth);
    if (!stood_in) {
      title.append(title.empty() ? "" : kDot).append(part);
    }
  }
  setup.title = title;
}

class Solver {
 public:
  Solver(const Context& context, const Asked& asked)
      : context_(context),
        asked_(asked),
        values_(context.request.scenario),
        none_(context.registry.make("none")) {
    stood_in_ = stand_in(asked.unknown, values_, context.catalogue);
    solved_.unknown = asked.unknown;
    solved_.setup = resolve(values_, context.catalogue);
    scenario_ = solved_.setup.scenario;
    if (scenario_.workers < 2) {
      refuse("--workers", "one worker exchanges nothing", "2 or more");
    }
    if (asked.unknown == Unknown::workers) {  // other counts have a network even where these do not
      std::erase_if(solved_.setup.warnings, [](const std::string& warning) {
        return warning.ends_with("all workers are in one node");
      });
    }
    const bool given =
        !values_.contains("throughput") && (values_.contains("forward") || values_.contains("backward"));
    if (asked.unknown == Unknown::batch && (given || values_.contains("backward-log"))) {
      refuse("solve", "the compute times are given and do not follow the batch",
             "--throughput, or a model and a device");
    }
    if (asked.unknown == Unknown::bandwidth) {
      level_ = &limiting_level(scenario_.fabric, scenario_.group());
      solved_.place = scenario_.group().nodes() == 1 ? " inside the node" : "";
      stood_in_ = stood_in_ && scenario_.group().nodes() > 1;
    }
    if (stood_in_) {
      hide(asked.unknown, scenario_, solved_.setup);
    }
  }

  Solved solve() {
    const std::string plain = "plain " + std::string(precision_name(scenario_.workload.gradient));
    const Subject alone{none_.compressor.get(), none_.compressor.get(), Placement::serial, 0};
    if (asked_.measured) {
      add("none", plain, Question::explain, alone, {Goal::Of::scaling, *asked_.measured});
    }
    for (const double target : asked_.targets) {
      add("none", plain, Question::reach, alone, {Goal::Of::scaling, target});
    }
    for (const Candidate& candidate : asked_.schemes) {
      const Candidate known = priced(candidate, solved_.setup);
      const JudgeOptions judge = judge_options(solved_.setup, known);
      const Subject subject{none_.compressor.get(), known.compressor.get(), candidate.scheme->placement,
                            asked_.unknown == Unknown::extra_steps ? 0 : judge.extra_steps};
      for (const double target : asked_.targets) {
        add(candidate.spec, candidate.plain_spec, Question::reach, subject, {Goal::Of::scaling, target});
      }
      if (const std::string warning = beyond_nccl(
              scenario_, Forecast(scenario_, *known.compressor, candidate.scheme->placement).plans());
          !warning.empty()) {
        solved_.setup.warnings.push_back(candidate.spec + ": " + warning);
      }
      const double margin = asked_.unknown == Unknown::extra_steps ? 0 : judge.margin;
      add(candidate.spec, candidate.plain_spec, Question::pay, subject, {Goal::Of::gain, 1 + margin});
    }
    return std::move(solved_);
  }

 private:
  void add(const std::string& scheme, const std::string& label, Question question, const Subject& subject,
           const Goal& goal) {
    SolvedRow row{scheme, label, question, goal, {}, {}, {}, {}, {}};
    if (!stood_in_) {
      row.measured_now = measure(scenario_, subject, goal.of);
    }
    switch (asked_.unknown) {
      case Unknown::bandwidth:
        bandwidth(subject, row);
        break;
      case Unknown::ratio:
        row.now = 1;
        row.solution = ratio(goal);
        break;
      case Unknown::codec_time:
        codec_time(subject, row);
        break;
      case Unknown::workers:
        formula_only(subject);
        row.solution = solve_workers(scenario_, subject, goal, solved_.setup.judge.max_workers);
        row.now = now(static_cast<double>(scenario_.workers));
        break;
      case Unknown::batch:
        row.solution = batch(subject, goal);
        row.now = stood_in_ ? std::nullopt : std::optional(static_cast<double>(given_batch()));
        break;
      case Unknown::extra_steps:
        row.now = solved_.setup.judge.extra_steps;
        row.solution.best = *row.measured_now;
        if (*row.measured_now > 1) {
          row.solution.ranges = {{0, *row.measured_now - 1, false, true}};
        }
        break;
    }
    solved_.rows.push_back(std::move(row));
  }

  [[nodiscard]] std::optional<double> now(double value) const {
    return stood_in_ ? std::nullopt : std::optional(value);
  }

  void formula_only(const Subject& subject) const {
    if (prices_by_table(scenario_, subject)) {
      refuse("--fabric", "a measured table prices this exchange, at this bandwidth and these workers alone",
             "--bandwidth too, which asks the formula instead");
    }
  }

  void bandwidth(const Subject& subject, SolvedRow& row) const {
    formula_only(subject);
    row.now = now(level_->bandwidth.base());
    Scenario scenario = scenario_;
    if (row.question == Question::explain) {  // what is used, whatever share of it was assumed
      limiting_level(scenario.fabric, scenario.group()).efficiency = 1;
    }
    row.solution = solve_bandwidth(scenario, subject, row.goal);
    const auto found = value_of(Unknown::bandwidth, row);
    if (row.question == Question::explain && found && row.now) {
      row.share = *found / *row.now;
    }
  }

  [[nodiscard]] Solution ratio(const Goal& goal) const {
    constexpr double kMost = 1e6;  // the scheme's own limit: next to nothing is left to send
    constexpr int kPerDecade = 8;
    return solve_over(log_grid(1, kMost, kPerDecade), goal, [&](double c) {
      const Candidate ideal = context_.registry.make("ideal:ratio=" + exact(c));
      return measure(scenario_, {none_.compressor.get(), ideal.compressor.get(), ideal.scheme->placement, 0},
                     goal.of);
    });
  }

  void codec_time(const Subject& subject, SolvedRow& row) const {
    const Forecast forecast(scenario_, *subject.candidate, subject.natural);
    row.now = forecast.codec_time().base();
    row.origin = name(forecast.codec());
    row.solution = solve_codec_time(scenario_, subject, row.goal);
  }

  [[nodiscard]] std::size_t given_batch() const { return parse_count(values_.find("batch")->second); }

  Solution batch(const Subject& subject, const Goal& goal) {
    std::vector<std::size_t> counts(kMostSamples);
    std::iota(counts.begin(), counts.end(), 1);
    return solve_over_counts(counts, goal, [&](std::size_t samples) {
      auto found = by_batch_.find(samples);
      if (found == by_batch_.end()) {
        OptionValues values = values_;
        values["batch"] = std::to_string(samples);
        found = by_batch_.emplace(samples, scenario_of(values, context_.catalogue)).first;
      }
      return found->second ? measure(*found->second, subject, goal.of) : 0;
    });
  }

  const Context& context_;
  const Asked& asked_;
  OptionValues values_;
  Candidate none_;
  bool stood_in_ = false;
  Scenario scenario_;
  const Level* level_ = nullptr;
  std::map<std::size_t, std::optional<Scenario>> by_batch_;
  Solved solved_;
};

std::string text_of(const Context& context, const std::string& path, const Solved& solved) {
  constexpr std::size_t kWidth = 118;
  switch (context.request.format()) {
    case Format::json:
      return solved_json(solved);
    case Format::jsonl:
      return to_jsonl(solved_rows(solved));
    case Format::csv:
      return to_csv(solved_rows(solved));
    case Format::markdown:
      return to_markdown(solved_table(solved));
    case Format::table:
      break;
  }
  const Style style = style_for(context.request.get("color", "auto"),
                                context.environment.out_is_terminal && path == "-", context.environment);
  std::string text;
  for (const SolvedRow& row : solved.rows) {
    text += wrapped(words(solved, row), 0, kWidth);
  }
  return text + "\n" + style(Tone::faint, solved.setup.title) + "\n\n" + to_text(solved_table(solved), style);
}

}  // namespace

int solve(const Context& context) {
  const Asked asked = asked_of(context);
  const Solved solved = Solver(context, asked).solve();
  for (const std::string& warning : solved.setup.warnings) {
    warn(context, warning);
  }
  for (const Input& input : solved.setup.inputs) {
    note(context, input.name + " " + input.text + ": " + std::string(name(input.origin)) +
                      (input.source.empty() ? "" : " (" + input.source + ")"));
  }
  const std::string path = context.request.get("output", "-");
  write_all(path, context.out, text_of(context, path, solved));
  return kAnswered;
}

}  // namespace breakeven::cli
