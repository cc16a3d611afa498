#include "cli/answer.h"

#include <algorithm>
#include <utility>

#include "cli/doors.h"
#include "model/closed_form.h"
#include "model/error.h"
#include "model/spec.h"

namespace breakeven::cli {
namespace {

/// "powersgd:rank=4,feedback=off" -> "powersgd rank 4, feedback off". The first parameter says how much a
/// scheme compresses, so a number there is named even where it is the default.
std::string label_of(std::string_view spec, const Scheme& scheme) {
  const Spec parts = split_spec(spec);
  std::string words(parts.name);
  if (!scheme.params.empty()) {
    const Param& first = scheme.params.front();
    if (first.kind != Param::Kind::choice && !parts.params.starts_with(first.name + "=")) {
      words += ":" + first.name + "=" + first.fallback;
    }
  }
  if (!parts.params.empty()) {
    words += (words.size() == parts.name.size() ? ":" : ",") + std::string(parts.params);
  }
  std::string text;
  for (const char c : words) {
    text += c == ':' || c == '=' ? " " : c == ',' ? ", " : std::string(1, c);
  }
  return text;
}

bool outside(const CodecCosts& costs, const std::vector<Plan>& plans) {
  const auto misses = [](const Curve& curve, const Work& work) {
    return work.elements > 0 && !curve.points.empty() && !curve.covers(work.elements);
  };
  return std::any_of(plans.begin(), plans.end(), [&](const Plan& plan) {
    return std::any_of(plan.begin(), plan.end(), [&](const Round& round) {
      return misses(costs.encode, round.encode) || misses(costs.decode, round.decode);
    });
  });
}

AnswerRow judged(const Candidate& candidate, const ScenarioSetup& setup, const Compressor& plain) {
  AnswerRow row;
  row.candidate = priced(candidate, setup);
  const Placement natural = candidate.scheme->placement;
  row.prediction = predict(setup.scenario, *row.candidate.compressor, natural);
  row.verdict =
      judge(setup.scenario, plain, *row.candidate.compressor, natural, judge_options(setup, row.candidate));
  if (row.candidate.costs) {
    row.codec_source = row.candidate.costs->source;
    row.codec_extrapolated = outside(*row.candidate.costs, row.prediction.plans);
  }
  return row;
}

void label_rows(Answer& answer) {
  for (AnswerRow& row : answer.rows) {
    const auto same = std::count_if(answer.rows.begin(), answer.rows.end(), [&](const AnswerRow& other) {
      return other.candidate.plain_spec == row.candidate.plain_spec;
    });
    row.label =
        row.cast ? "plain " + row.candidate.plain_spec
                 : label_of(same > 1 ? row.candidate.spec : row.candidate.plain_spec, *row.candidate.scheme);
  }
}

double near_linear(const Prediction& plain, const Scenario& scenario) {
  std::vector<Seconds> exchanges;
  std::vector<Seconds> latencies;
  for (std::size_t m = 0; m < plain.transfers.size(); ++m) {
    for (std::size_t r = 0; r < plain.transfers[m].size(); ++r) {
      const Transfer& done = plain.transfers[m][r];
      exchanges.push_back(done.time);
      const Round& round = plain.plans[m][r];
      latencies.push_back(done.nccl ? done.nccl->latency
                                    : transfer(scenario.fabric, round.exchange, {}, scenario.group(),
                                               done.algorithm, {}, round.distance)
                                          .time);
    }
  }
  return near_linear_ratio(plain.parts.backward, exchanges, latencies);
}

/// Some exchange was not measured where others were: a table and a formula are weighed against each other.
void warn_of_formula(Answer& answer, const std::string& label, const Prediction& prediction) {
  std::size_t from_table = 0;
  std::size_t from_formula = 0;
  for (const std::vector<Transfer>& of_message : prediction.transfers) {
    for (const Transfer& done : of_message) {
      from_table += done.from_table ? 1 : 0;
      from_formula += !done.from_table && done.time > Seconds{} ? 1 : 0;
    }
  }
  const auto measured = [](const Prediction& other) {
    return !other.transfers.empty() && !other.transfers.front().empty() &&
           other.transfers.front().front().from_table;
  };
  if (from_formula > 0 && (from_table > 0 || measured(answer.plain))) {
    answer.setup.warnings.push_back(
        label +
        ": some exchange is not in the fabric's measured tables; a formula over its links stands for it");
  }
}

void warn_of_nccl(Answer& answer, const AnswerRow& row) {
  if (const std::string warning = beyond_nccl(answer.setup.scenario, row.prediction.plans);
      !warning.empty()) {
    answer.setup.warnings.push_back(row.label + ": " + warning);
  }
}

/// What makes a gain over plain all-reduce larger or smaller than the scheme deserves.
void warn_of_schedule(Answer& answer, const AnswerRow& row) {
  constexpr std::size_t kMany = 64;
  const std::size_t plain = answer.plain.messages.size();
  if (row.prediction.messages.size() == 1 && plain >= kMany) {
    answer.setup.warnings.push_back(
        row.label + " goes as one message after backward, plain all-reduce as " + std::to_string(plain) +
        ": some of what it gains may be that (--placement hook sends both alike)");
  }
  if (split_spec(answer.setup.scenario.schedule.spec).name != "optimal" ||
      (row.codec() > Seconds{} && row.prediction.placement == Placement::serial)) {
    return;
  }
  const bool rounds = std::any_of(row.prediction.plans.begin(), row.prediction.plans.end(),
                                  [](const Plan& plan) { return plan.size() > 1; });
  const bool copies = answer.setup.scenario.overlap.bucket_copy > BytesPerSecond{};
  if (const char* left_out = row.codec() > Seconds{} ? "codec times; plan --scheme does"
                             : rounds                ? "that rounds of several messages interleave"
                             : copies                ? "bucket copies"
                                                     : nullptr) {
    answer.setup.warnings.push_back(row.label + ": schedule optimal does not weigh " + left_out);
  }
}

}  // namespace

std::string_view precision_name(Element element) {
  return element == Element::f16 ? "fp16" : element == Element::bf16 ? "bf16" : "fp32";
}

std::vector<Candidate> named_schemes(const Context& context) {
  std::vector<Candidate> named;
  for (const std::string& spec : context.request.schemes) {
    try {
      Candidate candidate = context.registry.make(spec);
      if (std::any_of(named.begin(), named.end(),
                      [&](const Candidate& other) { return other.spec == candidate.spec; })) {
        throw Error(Fault::value, {}, "\"" + candidate.spec + "\" is given twice", "each scheme once");
      }
      named.push_back(std::move(candidate));
    } catch (const Error& error) {
      throw error.inside("--scheme", Fault::value);
    }
  }
  return named;
}

Answer answer(const Context& context) {
  const std::vector<Candidate> named = named_schemes(context);
  Answer answer;
  answer.setup = resolve(context.request.scenario, context.catalogue);
  const ScenarioSetup& setup = answer.setup;
  const Element gradient = setup.scenario.workload.gradient;
  const Candidate none = context.registry.make("none");
  answer.plain_label = "plain " + std::string(precision_name(gradient));
  answer.plain = predict(setup.scenario, *none.compressor);
  answer.bound = step_without_network(setup.scenario);
  answer.max_speedup = answer.bound > Seconds{} ? answer.plain.step / answer.bound : 1;
  Forecast plain(setup.scenario, *none.compressor);
  answer.max_speedup_high =
      baseline(plain, setup.scenario.fabric, setup.scenario.overlap.gamma, setup.judge).bound;
  answer.near_linear_ratio = near_linear(answer.plain, setup.scenario);
  const auto is_cast = [](const Candidate& candidate) {
    return candidate.plain_spec == "bf16" || candidate.plain_spec == "fp16";
  };
  const bool wide = gradient == Element::f32;
  if (wide && std::none_of(named.begin(), named.end(), is_cast)) {
    // The baseline is what DDP's own hook does; --placement is about the codecs that were named.
    ScenarioSetup hooked = setup;
    hooked.scenario.overlap.placement.reset();
    answer.rows.push_back(judged(context.registry.make("bf16"), hooked, *none.compressor));
    answer.rows.back().cast = true;
  }
  for (const Candidate& candidate : named) {
    if (candidate.spec == none.spec) {
      continue;  // the plain row is always there
    }
    AnswerRow row = judged(candidate, setup, *none.compressor);
    row.named = true;
    row.plugins = plugin_flags(context.request, candidate.scheme->name);
    row.cast = wide && is_cast(candidate);
    answer.rows.push_back(std::move(row));
  }
  label_rows(answer);
  for (const AnswerRow& row : answer.rows) {
    warn_of_formula(answer, row.label, row.prediction);
    warn_of_nccl(answer, row);
    warn_of_schedule(answer, row);
  }
  return answer;
}

}  // namespace breakeven::cli
