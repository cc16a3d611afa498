// `breakeven query`: one setup, every scheme, a verdict.
#include <algorithm>

#include "cli/answer.h"
#include "cli/app.h"
#include "cli/output.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

void check(const Request& request) {
  if (request.has("explain") && request.format() != Format::table) {
    throw Error(Fault::value, "--explain", "beside --format " + request.get("format", ""), "--format table");
  }
  const bool judges = std::any_of(request.schemes.begin(), request.schemes.end(),
                                  [](const std::string& spec) { return spec != "none"; });
  if (request.has("exit-verdict") && !judges) {
    throw Error(Fault::value, "--exit-verdict", "no scheme to judge",
                "at least one --scheme other than none");
  }
}

/// What does not fit: weights and gradients are the least that a worker keeps.
void tell_memory(const Context& context, const Answer& answer) {
  const Scenario& scenario = answer.setup.scenario;
  const Bytes capacity = scenario.device.capacity;
  const Bytes least = 2 * scenario.workload.gradient_bytes();
  if (capacity == Bytes{}) {
    return;
  }
  if (least > capacity) {
    warn(context, "weights and gradients alone take " + to_string(least) + " of the " + to_string(capacity) +
                      " of " + scenario.device.name +
                      ": the answer is for workers that could keep them (sharding is not modelled)");
    return;
  }
  for (const AnswerRow& row : answer.rows) {
    if (least + row.prediction.state > capacity) {
      warn(context, row.label + ": keeps " + to_string(row.prediction.state) + " more on each worker; with " +
                        to_string(least) + " of weights and gradients that is beyond the " +
                        to_string(capacity) + " of " + scenario.device.name);
    }
  }
}

/// A codec profile that was named and has no curve for a scheme.
void tell_codecs(const Context& context, const Answer& answer) {
  if (!context.request.scenario.contains("codec")) {
    return;
  }
  for (const AnswerRow& row : answer.rows) {
    if (row.named && !row.candidate.costs && !row.candidate.encode && row.codec() > Seconds{}) {
      warn(context, "--codec: no curve for " + row.candidate.plain_spec + ": its codec time stays " +
                        std::string(name(row.prediction.codec)));
    }
  }
}

void tell(const Context& context, const Answer& answer) {
  for (const std::string& warning : answer.setup.warnings) {
    warn(context, warning);
  }
  const auto extrapolated = [&](const std::string& label, const Prediction& prediction) {
    if (prediction.extrapolated) {
      warn(context,
           label +
               ": some exchange lies outside the fabric's measured tables; the last segment's slope is used");
    }
  };
  extrapolated(answer.plain_label, answer.plain);
  for (const AnswerRow& row : answer.rows) {
    extrapolated(row.label, row.prediction);
    if (compresses_nothing(answer, row)) {
      warn(context, row.label + ": all tensors are sent as they are; " + reason(answer, row));
    }
    if (row.codec_extrapolated) {
      warn(context,
           row.label + ": some message lies outside its codec curve; the nearest point or slope is used");
    }
    note(context, row.label + ": " + std::to_string(row.prediction.messages.size()) +
                      " messages, placement " + std::string(name(row.prediction.placement)) + ", codec " +
                      to_string(row.codec()) +
                      (row.codec() > Seconds{} ? " " + std::string(name(row.prediction.codec)) : "") +
                      (row.codec_source.empty() ? "" : " (" + row.codec_source + ")"));
  }
  const bool measured = std::any_of(answer.rows.begin(), answer.rows.end(), [](const AnswerRow& row) {
    return !row.verdict.where.bandwidth.has_value();
  });
  if (measured && answer.setup.scenario.workers > 1) {
    warn(context,
         "where schemes pay is not looked for: a measured table of the fabric gives the price at this "
         "bandwidth "
         "and these workers alone; --bandwidth asks the formula instead");
  }
  tell_memory(context, answer);
  tell_codecs(context, answer);
  for (const Input& input : answer.setup.inputs) {
    note(context, input.name + " " + input.text + ": " + std::string(name(input.origin)) +
                      (input.source.empty() ? "" : " (" + input.source + ")"));
  }
}

/// What --exit-verdict reports: the best call among the schemes that were named.
int verdict_status(const Answer& answer) {
  int status = kDoesNotPay;
  for (const AnswerRow& row : answer.rows) {
    if (row.named && row.verdict.call == Call::pays) {
      return kAnswered;
    }
    if (row.named && row.verdict.call == Call::too_close) {
      status = kTooClose;
    }
  }
  return status;
}

}  // namespace

int query(const Context& context) {
  const Request& request = context.request;
  check(request);
  const Answer found = answer(context);
  const std::string path = request.get("output", "-");
  const bool terminal = context.environment.out_is_terminal && path == "-";
  std::string text;
  switch (request.format()) {
    case Format::table:
      text = query_screen(found, style_for(request.get("color", "auto"), terminal, context.environment));
      text += request.has("explain") ? "\n" + explain(found) : "";
      break;
    case Format::json:
      text = query_json(found);
      break;
    case Format::jsonl:
      text = query_jsonl(found);
      break;
    case Format::csv:
      text = to_csv(query_rows(found));
      break;
    case Format::markdown:
      text = to_markdown(query_table(found));
      break;
  }
  tell(context, found);
  write_all(path, context.out, text);
  return request.has("exit-verdict") ? verdict_status(found) : kAnswered;
}

}  // namespace breakeven::cli
