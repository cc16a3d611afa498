// `breakeven trace`: one step's timeline in the Chrome trace format, one track a resource. Spans never
// overlap on a track, as Perfetto wants it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "cli/answer.h"
#include "cli/app.h"
#include "cli/json_writer.h"
#include "cli/output.h"
#include "model/error.h"

namespace breakeven::cli {
namespace {

/// Whole picoseconds: sums and neighbours stay exact, which keeps spans of one track apart.
std::int64_t picoseconds(Seconds time) {
  return std::llround(time.base() * 1e12);
}

std::string microseconds(std::int64_t picoseconds) {
  return fmt::format("{}.{:06}", picoseconds / 1000000, picoseconds % 1000000);
}

class TraceWriter {
 public:
  TraceWriter(const Candidate& candidate, const Prediction& prediction, const std::string& title)
      : candidate_(candidate), prediction_(prediction) {
    json_.begin_object().member("displayTimeUnit", "ms");
    json_.key("otherData").begin_object().member("setup", title).member("scheme", candidate.spec);
    json_.member("step_s", prediction.step.base()).end_object();
    json_.key("traceEvents").begin_array();
  }

  std::string write() {
    metadata("process_name", 0, "name", "breakeven: " + candidate_.spec);
    const Breakdown& parts = prediction_.parts;
    std::vector<Span> spans = prediction_.spans;
    for (Span& span : spans) {
      span.begin += parts.forward;
      span.end += parts.forward;
    }
    spans.push_back({Resource::compute, Activity::forward, 0, 0, {}, parts.forward});
    spans.push_back(
        {Resource::compute, Activity::other, 0, 0, prediction_.step - parts.other, prediction_.step});
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      const auto on_track = [&](const Span& span) {
        return static_cast<std::size_t>(span.resource) == resource;
      };
      if (std::any_of(spans.begin(), spans.end(), on_track)) {
        metadata("thread_name", resource + 1, "name", std::string(name(static_cast<Resource>(resource))));
        json_.begin_object(true).member("ph", "M").member("name", "thread_sort_index").member("pid", 1.0);
        json_.member("tid", static_cast<double>(resource + 1)).key("args").begin_object();
        json_.member("sort_index", static_cast<double>(resource)).end_object().end_object();
      }
    }
    std::for_each(spans.begin(), spans.end(), [this](const Span& span) { event(span); });
    return json_.end_array().end_object().take();
  }

 private:
  void metadata(std::string_view kind, std::size_t track, std::string_view key, const std::string& text) {
    json_.begin_object(true).member("ph", "M").member("name", kind).member("pid", 1.0);
    json_.member("tid", static_cast<double>(track))
        .key("args")
        .begin_object()
        .member(key, text)
        .end_object()
        .end_object();
  }

  void event(const Span& span) {
    const auto track = static_cast<std::size_t>(span.resource);
    const std::int64_t begin = std::max(picoseconds(span.begin), ends_[track]);
    const std::int64_t end = std::max(picoseconds(span.end), begin);
    ends_[track] = end;
    if (end == begin) {
      return;
    }
    const bool of_message = span.activity != Activity::forward && span.activity != Activity::backward &&
                            span.activity != Activity::other;
    const bool exchange = span.activity == Activity::exchange;
    const std::string title =
        of_message ? fmt::format("{} {}", exchange ? name(round(span).exchange) : name(span.activity),
                                 span.message + 1)
                   : std::string(name(span.activity));
    json_.begin_object(true).member("ph", "X").member("name", title).member("cat", name(span.activity));
    json_.member("pid", 1.0).member("tid", static_cast<double>(track + 1));
    json_.key("ts").raw(microseconds(begin)).key("dur").raw(microseconds(end - begin));
    json_.key("args").begin_object();
    if (of_message) {
      json_.member("message", static_cast<double>(span.message + 1))
          .member("round", static_cast<double>(span.round + 1));
      json_.member("gradient_bytes", bytes(prediction_.messages[span.message].tensors).base());
    }
    if (exchange) {
      const Transfer& transfer = prediction_.transfers[span.message][span.round];
      json_.member("bytes", round(span).payload.base()).member("wire_bytes", transfer.wire.base());
      json_.member("algorithm", transfer.from_table ? std::string_view("table") : name(transfer.algorithm));
      if (transfer.nccl) {
        json_.member("nccl_algorithm", name(transfer.nccl->algorithm))
            .member("nccl_protocol", name(transfer.nccl->protocol))
            .member("latency_s", transfer.nccl->latency.base())
            .member("bandwidth_bytes_per_s", transfer.nccl->bandwidth.base());
      }
    }
    json_.end_object().end_object();
  }

  [[nodiscard]] const Round& round(const Span& span) const {
    return prediction_.plans[span.message][span.round];
  }

  const Candidate& candidate_;
  const Prediction& prediction_;
  std::array<std::int64_t, kResources> ends_{};
  JsonWriter json_{true};
};

}  // namespace

int trace(const Context& context) {
  const std::vector<Candidate> named = named_schemes(context);
  if (named.size() != 1) {
    throw Error(Fault::value, "--scheme", named.empty() ? "missing" : "given more than once",
                "one scheme, such as --scheme none");
  }
  const ScenarioSetup setup = resolve(context.request.scenario, context.catalogue);
  if (setup.scenario.method != Method::timeline) {
    throw Error(Fault::value, "--method", "the closed form has no timeline to show", "timeline");
  }
  const Candidate candidate = priced(named.front(), setup);
  const Prediction prediction =
      predict(setup.scenario, *candidate.compressor, named.front().scheme->placement);
  for (const std::string& warning : setup.warnings) {
    warn(context, warning);
  }
  if (const std::string warning = beyond_nccl(setup.scenario, prediction.plans); !warning.empty()) {
    warn(context, candidate.spec + ": " + warning);
  }
  write_all(context.request.get("output", "-"), context.out,
            TraceWriter(candidate, prediction, setup.title).write());
  return kAnswered;
}

}  // namespace breakeven::cli
