// `plan --scheme`: the best buckets with a scheme for each, in words, tables and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/answer.h"
#include "cli/json_writer.h"
#include "cli/planned.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

Seconds step(const MixedStep& mixed) {
  return mixed.parts.step();
}

std::string count_text(std::size_t buckets) {
  return buckets == 1 ? "one bucket" : std::to_string(buckets) + " buckets";
}

bool is_mixed(const MixedStep& step) {
  return std::any_of(step.choices.begin(), step.choices.end(),
                     [&](std::size_t choice) { return choice != step.choices.front(); });
}

/// The scheme, plain or not, that is best where it has every bucket.
std::size_t best_alone(const SchemePlan& plan) {
  const auto found = std::min_element(plan.alone.begin(), plan.alone.end(),
                                      [](const auto& a, const auto& b) { return step(a) < step(b); });
  return static_cast<std::size_t>(found - plan.alone.begin());
}

std::string label(const MixedPlanned& planned, std::size_t scheme) {
  const Element gradient = planned.setup.scenario.workload.gradient;
  return scheme == 0 ? "plain " + std::string(precision_name(gradient)) : planned.schemes[scheme].plain_spec;
}

/// "0-2 powersgd:rank=4, 3 none": buckets by their index, as DDP counts them.
std::string by_index(const MixedPlanned& planned, const MixedStep& mixed) {
  std::string text;
  for (std::size_t first = 0; first < mixed.choices.size();) {
    std::size_t last = first;
    while (last + 1 < mixed.choices.size() && mixed.choices[last + 1] == mixed.choices[first]) {
      ++last;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(first) +
            (last > first ? "-" + std::to_string(last) : "") + " " + planned.scheme(mixed, first);
    first = last + 1;
  }
  return text;
}

struct Compared {
  std::string label;
  const MixedStep* step = nullptr;
  std::size_t scheme = 0;
  std::string_view buckets;  ///< in the JSON
};

std::vector<Compared> comparison(const MixedPlanned& planned) {
  std::vector<Compared> rows;
  for (std::size_t s = 0; s < planned.schemes.size(); ++s) {
    const MixedStep& usual = planned.plan.usual[s];
    const bool whole = usual.messages.size() == 1;
    rows.push_back({label(planned, s) + (whole ? ", one bucket after backward" : ", DDP as it comes"), &usual,
                    s, whole ? "bsp" : "ddp"});
    rows.push_back({label(planned, s) + ", its best buckets", &planned.plan.alone[s], s, "best"});
  }
  return rows;
}

}  // namespace

MixedPlanned plan_by_scheme(const Context& context, ScenarioSetup setup) {
  MixedPlanned planned;
  planned.setup = std::move(setup);
  const Scenario& scenario = planned.setup.scenario;
  planned.schemes.push_back(context.registry.make("none"));
  for (const Candidate& candidate : named_schemes(context)) {
    if (candidate.spec != planned.schemes.front().spec) {
      planned.schemes.push_back(priced(candidate, planned.setup));
    }
  }
  if (planned.schemes.size() < 2) {
    throw Error(Fault::value, "--scheme", "plain all-reduce is always one to choose from",
                "a scheme other than none, or no --scheme for buckets alone");
  }
  std::vector<Choice> choices;
  for (const Candidate& candidate : planned.schemes) {
    const Placement placement = scenario.overlap.placement.value_or(candidate.scheme->placement);
    choices.push_back({candidate.compressor.get(), placement});
    const Prediction usual = predict(scenario, *candidate.compressor, placement);
    const bool codes = usual.parts.encode + usual.parts.decode > Seconds{};
    planned.codec.emplace_back(codes ? name(usual.codec) : "");
    if (usual.extrapolated) {
      warn(context,
           candidate.spec +
               ": some exchange lies outside the fabric's measured tables; the last segment's slope is used");
    }
    if (const std::string warning = beyond_nccl(scenario, usual.plans); !warning.empty()) {
      planned.setup.warnings.push_back(candidate.spec + ": " + warning);
      warn(context, planned.setup.warnings.back());
    }
  }
  planned.plan = plan_schemes(scenario, choices);
  planned.buckets = bucket_rows(scenario.workload, planned.plan.best.messages);
  for (BucketRow& row : planned.buckets) {
    row.sent = step(planned.plan.best);
  }
  for (const Span& span : planned.plan.best.spans) {
    if (span.activity != Activity::backward) {
      BucketRow& row = planned.buckets[span.message];
      row.sent = span.activity == Activity::exchange ? std::min(row.sent, span.begin) : row.sent;
      row.arrived = std::max(row.arrived, span.end);
    }
  }
  return planned;
}

std::string words(const MixedPlanned& planned) {
  const SchemePlan& plan = planned.plan;
  const std::size_t alone = best_alone(plan);
  const Seconds best = step(plan.best);
  const double gain = step(plan.alone[alone]) / best - 1;
  const std::string plain =
      fmt::format("DDP as it comes takes {} without a codec.", to_string(step(plan.usual[0])));
  const std::string which =
      fmt::format("{} in {}", label(planned, alone), count_text(plan.alone[alone].messages.size()));
  const std::string time = to_string(step(plan.alone[alone]));
  if (is_mixed(plan.best) && gain > planned.setup.judge.margin) {
    return fmt::format(
        "Mixing schemes pays here: {} of more than one scheme end the step after {}; one alone takes {} at "
        "best "
        "({}), {} more. {}",
        count_text(plan.best.messages.size()), to_string(best), time, which, rough_percent(gain), plain);
  }
  return fmt::format("One scheme is enough here: {} takes {}{}. {}", which, time,
                     is_mixed(plan.best) ? fmt::format("; mixing schemes by bucket would shorten that by {}",
                                                       rough_percent(1 - 1 / (1 + gain)))
                                         : ", and no mix of schemes was found that takes less",
                     plain);
}

Screen comparison_table(const MixedPlanned& planned) {
  Screen screen;
  screen.columns = {{"schemes and buckets", false}, {"count", true},       {"step", true},
                    {"best saves", true},           {"exposed net", true}, {"exposed codec", true},
                    {"codec times", false}};
  const auto add = [&](const std::string& text, const MixedStep& mixed, const std::string& codec) {
    screen.rows.push_back({{text},
                           {std::to_string(mixed.messages.size())},
                           {to_string(step(mixed))},
                           {rough_percent(saved_share(step(planned.plan.best), step(mixed)))},
                           {to_string(mixed.parts.exposed_communication)},
                           {to_string(mixed.parts.exposed_codec)},
                           {codec.empty() ? "-" : codec}});
  };
  add("the best, a scheme a bucket", planned.plan.best, "");
  screen.rows.back().back().text = "as below";
  for (const Compared& row : comparison(planned)) {
    add(row.label, *row.step, planned.codec[row.scheme]);
  }
  return screen;
}

Screen bucket_table(const MixedPlanned& planned) {
  Screen screen;
  screen.columns = {{"bucket", true}, {"from tensor", false}, {"to tensor", false}, {"tensors", true},
                    {"size", true},   {"scheme", false},      {"sent", true},       {"done", true}};
  for (std::size_t i = 0; i < planned.buckets.size(); ++i) {
    const BucketRow& row = planned.buckets[i];
    screen.rows.push_back({{std::to_string(i + 1)},
                           {row.first},
                           {row.last},
                           {std::to_string(row.tensors)},
                           {to_string(row.size)},
                           {planned.scheme(planned.plan.best, i)},
                           {to_string(row.sent)},
                           {to_string(row.arrived)}});
  }
  return screen;
}

Screen settings_table(const MixedPlanned& planned) {
  Screen screen;
  screen.columns = {{"framework", false}, {"step", true}, {"setting", false}};
  screen.rows.push_back(
      {{"PyTorch DDP"},
       {to_string(step(planned.plan.ddp))},
       {fmt::format("DistributedDataParallel(model, bucket_cap_mb={})", exact(planned.plan.cap))}});
  screen.rows.push_back(
      {{"  its hook"}, {""}, {"by GradBucket.index(): " + by_index(planned, planned.plan.ddp)}});
  return screen;
}

Rows rows_of(const MixedPlanned& planned) {
  Rows rows;
  rows.columns = {"bucket",     "first_tensor", "last_tensor", "tensors", "elements",
                  "size_bytes", "scheme",       "sent_s",      "done_s"};
  for (std::size_t i = 0; i < planned.buckets.size(); ++i) {
    const BucketRow& row = planned.buckets[i];
    rows.rows.push_back({static_cast<double>(i + 1), row.first, row.last, static_cast<double>(row.tensors),
                         static_cast<double>(row.elements), row.size.base(),
                         planned.scheme(planned.plan.best, i), row.sent.base(), row.arrived.base()});
  }
  return rows;
}

std::string plan_json(const MixedPlanned& planned) {
  const SchemePlan& plan = planned.plan;
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.plan").member("schema_version", 1.0);
  json.member("title", planned.setup.title).member("answer", words(planned));
  json.member("exact", plan.exact);
  json.member("step_without_network_s", step_without_network(planned.setup.scenario).base());
  json.key("best").begin_object();
  write_parts(json, plan.best.parts);
  json.key("buckets").begin_array();
  write_objects(json, rows_of(planned));
  json.end_array().end_object().key("compared").begin_array();
  for (const Compared& row : comparison(planned)) {
    json.begin_object().member("scheme", planned.schemes[row.scheme].spec).member("schedule", row.buckets);
    json.member("buckets", static_cast<double>(row.step->messages.size()));
    json.key("codec_origin");
    planned.codec[row.scheme].empty() ? json.null() : json.value(planned.codec[row.scheme]);
    json.member("best_speedup", step(*row.step) / step(plan.best));
    write_parts(json, row.step->parts);
    json.end_object();
  }
  json.end_array().key("settings").begin_object().key("pytorch").begin_object();
  json.member("bucket_cap_mb", plan.cap).key("schemes").begin_array(true);
  for (std::size_t i = 0; i < plan.ddp.choices.size(); ++i) {
    json.value(planned.scheme(plan.ddp, i));
  }
  json.end_array();
  write_parts(json, plan.ddp.parts);
  json.end_object().end_object().key("warnings").begin_array();
  for (const std::string& warning : planned.setup.warnings) {
    json.value(warning);
  }
  return json.end_array().end_object().take();
}

}  // namespace breakeven::cli
