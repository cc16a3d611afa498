// How a step is predicted and judged: schedule, overlap, method, codec curves, margins.
#include <algorithm>

#include "model/error.h"
#include "model/spec.h"
#include "profiles/resolve.h"

namespace breakeven {
namespace {

// What was observed of backward beside an all-reduce: 1.04 to 1.1 (arXiv 2103.00543, model section).
constexpr double kGamma = 1.07;

std::string compact(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// Buckets that are cut by size could be more than memory holds, and no step has this many.
void check_messages(const Resolution& r) {
  constexpr double kMostMessages = 100'000;
  const Scenario& scenario = r.setup.scenario;
  const Spec spec = split_spec(scenario.schedule.spec);
  const auto& kinds = schedule_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const ScheduleKind& known) { return known.name == spec.name; });
  constexpr std::size_t kMostTensors = 4096;  // its time and memory grow with their square
  if (spec.name == "optimal" && scenario.workload.tensors.size() > kMostTensors) {
    Resolution::refuse(
        "schedule", "optimal has " + std::to_string(scenario.workload.tensors.size()) + " tensors to merge",
        "at most " + std::to_string(kMostTensors) + ", or schedule mgwfbp");
  }
  if (spec.name != "equal" || kind == kinds.end()) {
    return;
  }
  const double cap =
      std::max(size_of(scenario.workload.gradient), Params(kind->params, spec.params).number("cap"));
  const Bytes size = std::max(scenario.workload.gradient_bytes(), scenario.dense_bytes.value_or(Bytes{}));
  if (size.base() / cap > kMostMessages) {
    Resolution::refuse("bucket",
                       to_string(size) + " in buckets of " + to_string(Bytes::of(cap)) + " are " +
                           significant(size.base() / cap) + " messages",
                       "a size that leaves at most " + plain(kMostMessages));
  }
}

void resolve_schedule(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  const bool closed_form = scenario.method == Method::closed_form;
  const std::string* given = r.text("schedule");
  std::string spec = given != nullptr ? *given : closed_form ? "equal" : "ddp";
  if (const auto bucket = r.number("bucket")) {
    const Spec parts = split_spec(spec);
    if (parts.name != "ddp" && parts.name != "equal") {
      Resolution::refuse("bucket", "schedule " + std::string(parts.name) + " has no buckets",
                         "schedule ddp or equal");
    }
    if (("," + std::string(parts.params)).find(",cap=") != std::string::npos) {
      Resolution::refuse("bucket", "the schedule's cap is given too", "one of them");
    }
    const std::string params =
        std::string(parts.params) + (parts.params.empty() ? "" : ",") + "cap=" + compact(*r.text("bucket"));
    spec = join_spec(parts.name, params);
  }
  try {
    scenario.schedule = make_schedule(spec, scenario.workload.gradient);
  } catch (const Error& error) {
    throw error.inside("--schedule", Fault::value);
  }
  check_messages(r);
  const bool chosen = given != nullptr || r.has("bucket");
  r.note_text("schedule", scenario.schedule.spec, chosen ? Origin::given : Origin::assumed,
              chosen        ? ""
              : closed_form ? "default: what the closed form assumes"
                            : "default: as PyTorch DDP");
}

void resolve_placement(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  if (r.has("placement")) {
    scenario.overlap.placement =
        static_cast<Placement>(r.choice("placement", {"serial", "hook", "stream", "host", "blocking"}));
    r.note_text("placement", std::string(name(*scenario.overlap.placement)), Origin::given);
  } else {
    r.note_text("placement", "each scheme's own", Origin::assumed, "default: as its implementations run it");
  }
  const auto placement = scenario.overlap.placement;
  if (r.has("gamma-codec") && placement && placement != Placement::stream) {
    Resolution::refuse("gamma-codec",
                       "no codec runs on a stream under --placement " + std::string(name(*placement)),
                       "--placement stream");
  }
  if (placement != Placement::host) {
    if (r.has("host")) {
      Resolution::refuse("host", "no codec runs on the host", "--placement host");
    }
    return;
  }
  if (!(scenario.device.host_link > BytesPerSecond{})) {
    Resolution::refuse("placement", "the profile of " + scenario.device.name + " states no host_link",
                       "a device with a link to its host");
  }
  const std::string* host = r.text("host");
  try {
    scenario.overlap.host = r.catalogue.device(host != nullptr ? *host : "cpu").device;
  } catch (const Error& error) {
    if (error.fault() == Fault::file) {
      throw;
    }
    throw Error(Fault::value, "--host", error.wrong(), error.expected());
  }
  r.note_choice("host", "host", scenario.overlap.host.name, "default: a generic server CPU");
}

}  // namespace

void resolve_method(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  scenario.method =
      r.choice("method", {"timeline", "closed-form"}) == 1 ? Method::closed_form : Method::timeline;
  const bool closed_form = scenario.method == Method::closed_form;
  r.note_choice("method", "method", closed_form ? "closed-form" : "timeline", "default");
  if (closed_form) {
    scenario.last_bucket_inside = r.choice("last-bucket", {"outside", "inside"}) == 1;
    r.note_choice("last-bucket", "last_bucket", scenario.last_bucket_inside ? "inside" : "outside",
                  "default");
  } else if (r.has("last-bucket")) {
    Resolution::refuse("last-bucket", "the timeline knows when each bucket is ready", "--method closed-form");
  }
  resolve_schedule(r);
  const Pick observed = {kGamma, Origin::published,
                         "middle of the 1.04 to 1.1 that arXiv 2103.00543 observed"};
  const Pick gamma = r.pick("gamma", r.gamma.value_or(observed)).value_or(Pick{});
  const Pick gamma_codec =
      r.pick("gamma-codec", Pick{kGamma, Origin::assumed, "not known: taken as beside communication"})
          .value_or(Pick{});
  scenario.overlap.gamma = gamma.value;
  scenario.overlap.gamma_codec = gamma_codec.value;
  r.note_number("gamma", gamma);
  if (const auto overhead = r.pick("message-overhead")) {
    scenario.overlap.message = Seconds::of(overhead->value);
    r.note<Seconds>("message_overhead", *overhead, "s");
  }
  if (const auto copy = r.pick("bucket-copy")) {
    if (closed_form) {
      Resolution::refuse("bucket-copy", "the closed form has no term for it", "--method timeline");
    }
    scenario.overlap.bucket_copy = BytesPerSecond::of(copy->value);
    r.note<BytesPerSecond>("bucket_copy", *copy, "B/s");
  }
  resolve_placement(r);
  if (r.has("gamma-codec") || scenario.overlap.placement == Placement::stream) {
    r.note_number("gamma_codec", gamma_codec);
  }
  if (scenario.workers == 1) {
    r.warn_unused({"gamma", "algorithm", "schedule", "bucket", "message-overhead", "bucket-copy"},
                  "a single worker exchanges nothing");
  }
}

void resolve_verdict(Resolution& r) {
  const bool host = r.setup.scenario.overlap.placement == Placement::host;
  const std::string& device = host ? r.setup.scenario.overlap.host.name : r.setup.scenario.device.name;
  if (const std::string* files = r.text("codec")) {
    std::size_t begin = 0;
    while (begin <= files->size()) {
      const std::size_t end = std::min(files->find(',', begin), files->size());
      const CodecProfile profile = r.catalogue.codec(files->substr(begin, end - begin));
      if (profile.costs.front().device != device) {
        r.warn("codec times of " + profile.name + " were taken on " + profile.costs.front().device +
               ", not on " + device);
      }
      r.setup.codecs.insert(r.setup.codecs.end(), profile.costs.begin(), profile.costs.end());
      begin = end + 1;
    }
    r.note_text("codec", *files, Origin::given);
  }
  if (host || !r.device_assumed) {
    for (CodecCosts& costs : r.catalogue.codecs_for(device)) {
      r.setup.codecs.push_back(std::move(costs));
    }
  }
  const Pick margin =
      r.pick("margin", Pick{r.setup.judge.margin, Origin::assumed, "default"}).value_or(Pick{});
  const Pick extra =
      r.pick("extra-steps", Pick{0, Origin::assumed, "default: as many steps as without"}).value_or(Pick{});
  r.setup.judge.margin = margin.value;
  r.setup.judge.extra_steps = extra.value;
  r.note_fraction("margin", margin);
  r.note_fraction("extra_steps", extra);
}

}  // namespace breakeven
