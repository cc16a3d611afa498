// The answer of `query` for programs: JSON, JSON lines, CSV. Base units throughout.
#include <cmath>

#include "cli/answer.h"
#include "cli/json_writer.h"
#include "cli/scenario_json.h"
#include "model/intensity.h"

namespace breakeven::cli {
namespace {

/// The parts of a step under their names in the JSON. All but the busy times (encode, communication, decode)
/// add up to the step.
std::vector<std::pair<std::string, double>> parts_of(const Breakdown& parts) {
  return {{"forward_s", parts.forward.base()},
          {"backward_s", parts.backward.base()},
          {"other_s", parts.other.base()},
          {"encode_s", parts.encode.base()},
          {"communication_s", parts.communication.base()},
          {"exposed_communication_s", parts.exposed_communication.base()},
          {"decode_s", parts.decode.base()},
          {"slowdown_s", parts.slowdown.base()},
          {"exposed_codec_s", parts.exposed_codec.base()}};
}

/// The step of one worker alone as a share of this step: 1 is linear scaling.
double scaling(const Prediction& prediction) {
  const Breakdown& parts = prediction.parts;
  return (parts.forward + parts.backward + parts.other) / prediction.step;
}

/// The ends of an interval; nothing where it is open.
using Ends = std::pair<std::optional<double>, std::optional<double>>;
std::vector<Ends> ends_of(const BandwidthIntervals& intervals) {
  std::vector<Ends> all;
  for (const auto& [low, high] : intervals) {
    all.emplace_back(low > BytesPerSecond{} ? std::optional(low.base()) : std::nullopt,
                     std::isfinite(high.base()) ? std::optional(high.base()) : std::nullopt);
  }
  return all;
}
std::vector<Ends> ends_of(const WorkerIntervals& intervals) {
  std::vector<Ends> all;
  for (const auto& [low, high] : intervals) {
    all.emplace_back(static_cast<double>(low),
                     high > 0 ? std::optional(static_cast<double>(high)) : std::nullopt);
  }
  return all;
}

void write_optional(JsonWriter& json, const std::optional<double>& value) {
  value ? json.value(*value) : json.null();
}

/// null: not looked for.
template <class Intervals>
void write_intervals(JsonWriter& json, const std::optional<Intervals>& intervals) {
  if (!intervals) {
    json.null();
    return;
  }
  json.begin_array(true);
  for (const auto& [low, high] : ends_of(*intervals)) {
    json.begin_array();
    write_optional(json, low);
    write_optional(json, high);
    json.end_array();
  }
  json.end_array();
}

/// What NCCL's model chose, in the order of the messages; runs of one exchange once.
void write_nccl(JsonWriter& json, const Prediction& prediction) {
  struct Run {
    Exchange exchange;
    NcclCost cost;
    std::size_t count;
  };
  std::vector<Run> runs;
  for (std::size_t m = 0; m < prediction.transfers.size(); ++m) {
    for (std::size_t r = 0; r < prediction.transfers[m].size(); ++r) {
      const auto& cost = prediction.transfers[m][r].nccl;
      if (!cost) {
        continue;
      }
      const Exchange exchange = prediction.plans[m][r].exchange;
      if (!runs.empty() && runs.back().exchange == exchange && runs.back().cost.bytes == cost->bytes) {
        ++runs.back().count;
      } else {
        runs.push_back({exchange, *cost, 1});
      }
    }
  }
  if (runs.empty()) {
    return;
  }
  json.key("nccl").begin_array();
  for (const Run& run : runs) {
    json.begin_object(true).member("exchange", name(run.exchange)).member("bytes", run.cost.bytes.base());
    json.member("count", static_cast<double>(run.count)).member("algorithm", name(run.cost.algorithm));
    json.member("protocol", name(run.cost.protocol)).member("latency_s", run.cost.latency.base());
    json.member("bandwidth_bytes_per_s", run.cost.bandwidth.base()).member("time_s", run.cost.time.base());
    json.end_object();
  }
  json.end_array();
}

void write_prediction(JsonWriter& json, const Prediction& prediction) {
  json.member("step_s", prediction.step.base());
  json.member("backward_and_sync_s", prediction.parts.backward_and_sync().base());
  json.member("scaling", scaling(prediction));
  json.key("parts").begin_object();
  for (const auto& [key, value] : parts_of(prediction.parts)) {
    json.member(key, value);
  }
  json.end_object();
  json.member("placement", name(prediction.placement));
  json.member("messages", static_cast<double>(prediction.messages.size()));
  json.member("payload_bytes", prediction.payload.base());
  json.member("wire_bytes_per_worker", prediction.wire.base());
  json.member("state_bytes", prediction.state.base());
  json.member("extrapolated", prediction.extrapolated);
  write_nccl(json, prediction);
}

void write_plain(JsonWriter& json, const Answer& answer) {
  json.begin_object().member("scheme", "none");
  write_prediction(json, answer.plain);
  json.end_object();
}

void write_row(JsonWriter& json, const AnswerRow& row, std::size_t nodes) {
  const Verdict& verdict = row.verdict;
  json.begin_object().member("scheme", row.candidate.spec).member("verdict", name(verdict.call));
  json.member("speedup", verdict.speedup);
  json.key("speedup_range")
      .begin_array(true)
      .value(verdict.speedup_low)
      .value(verdict.speedup_high)
      .end_array();
  write_prediction(json, row.prediction);
  json.key("codec_origin");
  row.codec() > Seconds{} ? json.value(name(row.prediction.codec)) : json.null();
  json.member("codec_extrapolated", row.codec_extrapolated);
  json.key("pays").begin_object();
  json.key("bandwidth_bytes_per_s");
  write_intervals(json, verdict.where.bandwidth);
  json.member("bandwidth_of", nodes > 1 ? "a node across the network" : "a worker inside the node");
  json.key("codec_s_below");
  verdict.where.codec_below ? json.value(verdict.where.codec_below->base()) : json.null();
  json.key("workers");
  write_intervals(json, verdict.where.workers);
  json.member("extra_steps_below", verdict.extra_steps_below);
  json.end_object().end_object();
}

/// Empty: nowhere, or not looked for.
template <class Intervals>
std::string intervals_text(const std::optional<Intervals>& intervals) {
  std::string text;
  for (const auto& [low, high] : intervals ? ends_of(*intervals) : std::vector<Ends>{}) {
    text += (text.empty() ? "" : ";") + (low ? exact(*low) : "") + ".." + (high ? exact(*high) : "");
  }
  return text;
}

std::vector<Value> prediction_cells(const Prediction& prediction) {
  std::vector<Value> cells = {prediction.step.base(), prediction.parts.backward_and_sync().base(),
                              scaling(prediction)};
  for (const auto& [key, value] : parts_of(prediction.parts)) {
    cells.emplace_back(value);
  }
  cells.insert(cells.end(), {std::string(name(prediction.placement)),
                             static_cast<double>(prediction.messages.size()), prediction.payload.base(),
                             prediction.wire.base(), prediction.state.base(), prediction.extrapolated});
  return cells;
}

std::vector<Value> cells_of(const AnswerRow& row) {
  const Verdict& verdict = row.verdict;
  std::vector<Value> cells = {row.candidate.spec, std::string(name(verdict.call)), verdict.speedup,
                              exact(verdict.speedup_low) + ".." + exact(verdict.speedup_high)};
  const auto common = prediction_cells(row.prediction);
  cells.insert(cells.end(), common.begin(), common.end());
  const Value none;
  cells.push_back(row.codec() > Seconds{} ? Value(std::string(name(row.prediction.codec))) : none);
  cells.emplace_back(row.codec_extrapolated);
  cells.emplace_back(intervals_text(verdict.where.bandwidth));
  cells.push_back(verdict.where.codec_below ? Value(verdict.where.codec_below->base()) : none);
  cells.emplace_back(intervals_text(verdict.where.workers));
  cells.emplace_back(verdict.extra_steps_below);
  return cells;
}

/// null: the model states no FLOPs, or backward takes no time.
void write_intensity(JsonWriter& json, const Answer& answer) {
  const Workload& workload = answer.setup.scenario.workload;
  const Breakdown& plain = answer.plain.parts;
  const bool known = flop_per_sample(workload) > 0;
  json.key("intensity").begin_object();
  json.key("flop_per_sample");
  write_optional(json, known ? std::optional(flop_per_sample(workload)) : std::nullopt);
  json.member("parameters", static_cast<double>(workload.elements())).key("flop_per_parameter");
  write_optional(json, known ? std::optional(intensity(workload)) : std::nullopt);
  json.member("communication_to_backward", plain.communication / plain.backward);
  json.member("max_overlap_speedup", most_overlap_gains(plain.forward, plain.backward, plain.communication));
  json.end_object();
}

}  // namespace

std::string query_json(const Answer& answer) {
  JsonWriter json(true);
  json.begin_object().member("schema", "breakeven.query").member("schema_version", 1.0);
  json.key("scenario");
  write_scenario(json, answer.setup);
  json.key("bound")
      .begin_object()
      .member("step_s", answer.bound.base())
      .member("max_speedup", answer.max_speedup)
      .member("max_speedup_high", answer.max_speedup_high);
  json.member("near_linear_ratio", answer.near_linear_ratio).end_object();
  write_intensity(json, answer);
  json.key("plain");
  write_plain(json, answer);
  json.key("schemes").begin_array();
  for (const AnswerRow& row : answer.rows) {
    write_row(json, row, answer.setup.scenario.group().nodes());
  }
  json.end_array();
  const AnswerRow* winner = best(answer);
  json.key("best");
  winner != nullptr ? json.value(winner->candidate.spec) : json.null();
  json.key("verdict").begin_array();
  for (const std::string& line : verdict_lines(answer)) {
    json.value(line);
  }
  json.end_array().key("next").begin_array();
  for (const std::string& line : next_lines(answer)) {
    json.value(line);
  }
  return json.end_array().end_object().take();
}

std::string query_jsonl(const Answer& answer) {
  JsonWriter plain(false);
  write_plain(plain, answer);
  std::string text = plain.take();
  for (const AnswerRow& row : answer.rows) {
    JsonWriter json(false);
    write_row(json, row, answer.setup.scenario.group().nodes());
    text += json.take();
  }
  return text;
}

Rows query_rows(const Answer& answer) {
  Rows rows;
  rows.columns = {"scheme", "verdict", "speedup", "speedup_range", "step_s", "backward_and_sync_s",
                  "scaling"};
  for (const auto& [key, value] : parts_of(answer.plain.parts)) {
    rows.columns.push_back(key);
  }
  for (const char* column : {"placement", "messages", "payload_bytes", "wire_bytes_per_worker", "state_bytes",
                             "extrapolated", "codec_origin", "codec_extrapolated", "bandwidth_bytes_per_s",
                             "codec_s_below", "workers", "extra_steps_below"}) {
    rows.columns.emplace_back(column);
  }
  std::vector<Value> plain = {std::string("none"), Value{}, 1.0, Value{}};
  const auto common = prediction_cells(answer.plain);
  plain.insert(plain.end(), common.begin(), common.end());
  plain.resize(rows.columns.size());
  rows.rows.push_back(std::move(plain));
  for (const AnswerRow& row : answer.rows) {
    rows.rows.push_back(cells_of(row));
  }
  return rows;
}

}  // namespace breakeven::cli
