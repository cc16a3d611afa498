// `breakeven plan`: the best buckets of a setup, what they gain, and the settings that come near.
#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/answer.h"
#include "cli/app.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

ScenarioSetup setup_of(const Context& context) {
  const OptionValues& given = context.request.scenario;
  for (const char* option : {"schedule", "bucket", "last-bucket"}) {
    if (given.contains(option)) {
      throw Error(Fault::value, "--" + std::string(option),
                  "changes nothing in plan, which looks for buckets",
                  "query or trace, for buckets of your own");
    }
  }
  ScenarioSetup setup = resolve(given, context.catalogue);
  if (setup.scenario.method != Method::timeline) {
    throw Error(Fault::value, "--method", "the closed form does not know when a gradient is ready",
                "timeline");
  }
  if (setup.scenario.workers < 2) {
    throw Error(Fault::value, "--workers", "one worker exchanges nothing", "2 or more");
  }
  // What is asked for is no input.
  std::erase_if(setup.inputs,
                [](const Input& input) { return input.name == "schedule" || input.name == "bucket"; });
  const std::size_t end = setup.title.rfind(" \u00b7 DDP buckets");
  setup.title.resize(std::min(end, setup.title.size()));
  return setup;
}

/// When so much of backward's work is done, which takes `gamma` times as long while the network is busy.
Seconds slowed(Seconds work, const std::vector<BucketRow>& rows, double gamma) {
  Seconds now;
  for (const BucketRow& row : rows) {
    const Seconds idle = std::max(Seconds{}, row.sent - now);
    const Seconds busy = row.arrived - row.sent;
    if (work <= idle + busy / gamma) {
      return work <= idle ? now + work : now + idle + (work - idle) * gamma;
    }
    work -= idle + busy / gamma;
    now = row.arrived;
  }
  return now + work;
}

std::vector<BucketRow> timed_rows(const Workload& workload, const Prediction& best, double gamma) {
  std::vector<BucketRow> rows = bucket_rows(workload, best.messages);
  for (const Span& span : best.spans) {
    if (span.resource == Resource::network && span.activity == Activity::exchange) {
      rows[span.message].sent = span.begin;
      rows[span.message].arrived = span.end;
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].ready = slowed(best.messages[i].ready, rows, gamma);
  }
  return rows;
}

template <class Answer>
std::string text_of(const Context& context, const std::string& path, const Answer& planned) {
  constexpr std::size_t kWidth = 118;
  switch (context.request.format()) {
    case Format::json:
      return plan_json(planned);
    case Format::jsonl:
      return to_jsonl(rows_of(planned));
    case Format::csv:
      return to_csv(rows_of(planned));
    case Format::markdown:
      return words(planned) + "\n\n" + to_markdown(comparison_table(planned)) + "\n" +
             to_markdown(bucket_table(planned)) + "\n" + to_markdown(settings_table(planned));
    case Format::table:
      break;
  }
  const Style style = style_for(context.request.get("color", "auto"),
                                context.environment.out_is_terminal && path == "-", context.environment);
  return wrapped(words(planned), 0, kWidth) + "\n" + style(Tone::faint, planned.setup.title) + "\n\n" +
         to_text(comparison_table(planned), style) + "\n" + to_text(bucket_table(planned), style) + "\n" +
         to_text(settings_table(planned), style);
}

void tell(const Context& context, const ScenarioSetup& setup) {
  for (const std::string& warning : setup.warnings) {
    warn(context, warning);
  }
  for (const Input& input : setup.inputs) {
    note(context, input.name + " " + input.text + ": " + std::string(name(input.origin)) +
                      (input.source.empty() ? "" : " (" + input.source + ")"));
  }
}

}  // namespace

std::vector<BucketRow> bucket_rows(const Workload& workload, const std::vector<Message>& messages) {
  std::vector<BucketRow> rows;
  std::size_t left = workload.tensors.size();
  for (const Message& message : messages) {
    BucketRow row;
    row.tensors = message.tensors.size();
    row.elements = elements(message.tensors);
    row.size = bytes(message.tensors);
    row.first = workload.tensors[left - 1].name;
    left -= row.tensors;
    row.last = workload.tensors[left].name;
    rows.push_back(row);
  }
  return rows;
}

int plan(const Context& context) {
  const std::string path = context.request.get("output", "-");
  for (const char* option : {"extra-steps", "placement", "gamma-codec"}) {
    const bool codec = std::string_view(option) != "extra-steps";
    if (context.request.scenario.contains(option) && !(codec && !context.request.schemes.empty())) {
      throw Error(
          Fault::value, "--" + std::string(option),
          codec ? "says nothing of plain all-reduce" : "is not weighed: plan compares the times of steps",
          codec ? "a --scheme, or it left out" : "query, which weighs it, or it left out");
    }
  }
  ScenarioSetup setup = setup_of(context);
  tell(context, setup);
  if (!context.request.schemes.empty()) {
    write_all(path, context.out, text_of(context, path, plan_by_scheme(context, std::move(setup))));
    return kAnswered;
  }
  Planned planned;
  planned.setup = std::move(setup);
  const Scenario& scenario = planned.setup.scenario;
  planned.plan = plan_buckets(scenario, *context.registry.make("none").compressor);
  planned.buckets = timed_rows(scenario.workload, planned.plan.best, scenario.overlap.gamma);
  if (planned.plan.best.extrapolated) {
    warn(context, "some bucket lies outside the fabric's measured tables; the last segment's slope is used");
  }
  write_all(path, context.out, text_of(context, path, planned));
  return kAnswered;
}

}  // namespace breakeven::cli
