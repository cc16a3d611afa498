// What one worker computes in a step: given, else measured for this device, else estimated from FLOPs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/error.h"
#include "profiles/read_fields.h"
#include "profiles/resolve.h"

namespace breakeven {
namespace {

struct Times {
  Pick forward, backward, other;
};

constexpr const char* kRest = "not stated: optimizer and data loading are left out";

Precision compute_precision(Resolution& r) {
  if (r.has("compute-dtype")) {
    return static_cast<Precision>(r.choice("compute-dtype", {"fp32", "tf32", "fp16", "bf16"}));
  }
  const Element gradient = r.setup.scenario.workload.gradient;
  return gradient == Element::f16    ? Precision::fp16
         : gradient == Element::bf16 ? Precision::bf16
                                     : Precision::fp32;
}

void check_throughput(const Resolution& r) {
  for (const auto* option : {"forward", "backward"}) {
    if (r.has(option)) {
      Resolution::refuse(option, "is given beside --throughput", "either the times or the throughput");
    }
  }
  if (!r.batch) {
    Resolution::refuse("batch", "is missing", "the samples of one worker, for --throughput");
  }
}

/// The step of a worker alone, split by FLOPs.
Times from_throughput(Resolution& r) {
  const double step = *r.batch / r.number("throughput").value_or(1);
  Times times;
  times.other = r.pick("other", Pick{0, Origin::given, "part of the throughput's step"}).value_or(Pick{});
  const double rest = step - times.other.value;
  if (rest <= 0) {
    Resolution::refuse("other", quote(*r.text("other")) + " is all of the step",
                       "less than batch / throughput, " + to_string(Seconds::of(step)));
  }
  const double share = forward_share(r.setup.scenario.workload);
  const std::string rule =
      "batch / throughput" + std::string(times.other.value > 0 ? " - other" : "") + ", split by FLOPs";
  times.forward = {rest * share, Origin::given, rule};
  times.backward = {rest * (1 - share), Origin::given, rule};
  return times;
}

/// Backward is logged. Of the rest forward is given, or what a throughput leaves, or half of backward.
Times from_log(Resolution& r) {
  if (r.has("backward")) {
    Resolution::refuse("backward", "is given beside --backward-log", "one of them");
  }
  Times times;
  times.backward = {std::accumulate(r.gaps.begin(), r.gaps.end(), Seconds{}).base(), Origin::given,
                    "the gaps of the log"};
  times.other = r.pick("other", Pick{0, Origin::assumed, kRest}).value_or(Pick{});
  if (const auto forward = r.number("forward")) {
    times.forward = {*forward, Origin::given, {}};
    return times;
  }
  const auto throughput = r.number("throughput");
  if (!throughput) {
    times.forward = {times.backward.value / 2, Origin::assumed,
                     "half of backward, which computes two products for one"};
    return times;
  }
  const double step = *r.batch / *throughput;
  const double rest = step - times.backward.value - times.other.value;
  if (rest < 0) {
    Resolution::refuse("throughput", "leaves " + to_string(Seconds::of(step)) + " for a step",
                       "more than the log's backward and --other, " +
                           to_string(Seconds::of(times.backward.value + times.other.value)));
  }
  times.forward = {rest, Origin::given, "batch / throughput - backward - other"};
  return times;
}

/// One or both passes are given; the other one follows from the FLOPs.
Times from_given(Resolution& r) {
  Times times;
  const double share = forward_share(r.setup.scenario.workload);
  const bool flops = r.setup.scenario.workload.forward_flops() > 0;
  const Origin derived = flops ? Origin::estimated : Origin::assumed;
  const std::string ratio =
      flops ? "the ratio of their FLOPs" : "1:2, as the two products of backward have it";
  const auto forward = r.number("forward");
  const auto backward = r.number("backward");
  if (!backward && *forward == 0) {
    Resolution::refuse("backward", "is missing", "its time, which does not follow from a forward time of 0");
  }
  times.forward = forward ? Pick{*forward, Origin::given, {}}
                          : Pick{*backward * share / (1 - share), derived, "from backward by " + ratio};
  times.backward = backward ? Pick{*backward, Origin::given, {}}
                            : Pick{*forward * (1 - share) / share, derived, "from forward by " + ratio};
  times.other = r.pick("other", Pick{0, Origin::assumed, kRest}).value_or(Pick{});
  return times;
}

/// The timing for this device and precision whose batch is nearest, or null.
const Timing* find_timing(const Resolution& r, Precision precision) {
  const Timing* best = nullptr;
  if (!r.model || r.device_assumed) {
    return best;
  }
  const auto distance = [&](const Timing& timing) {
    return r.batch ? std::abs(std::log(timing.batch / *r.batch)) : 0.0;
  };
  for (const Timing& timing : r.model->timings) {
    if (timing.device == r.device.device.name && timing.precision == precision &&
        (best == nullptr || distance(timing) < distance(*best))) {
      best = &timing;
    }
  }
  return best;
}

Times from_timing(Resolution& r, const Timing& timing) {
  const double batch = r.batch.value_or(timing.batch);
  // A device that idles much (as the verdict has it) waits for its launches, which take as long for other
  // batches, until kernels fill the step.
  constexpr double kMuch = 0.2;
  const double samples = batch / timing.batch;
  const Seconds step = timing.forward + timing.backward + timing.other;
  const bool launches = timing.busy && step - *timing.busy > std::max(kMuch * step, timing.other);
  const double factor = launches ? std::max(1.0, samples * (*timing.busy / step)) : samples;
  std::string source = timing.source;
  if (samples != 1) {
    const std::string scaling =
        std::string(launches && factor == 1 ? "launches, taken over from" : "scaled from") + " batch " +
        plain(timing.batch) + " to " + plain(batch);
    source += (source.empty() ? "" : "; ") + scaling;
    r.warn("compute times of " + r.model->name + " on " + timing.device + " are " + scaling +
           ": measure them, or give --forward and --backward");
  }
  Times times;
  times.forward = {timing.forward.base() * factor, timing.origin, source};
  times.backward = {timing.backward.base() * factor, timing.origin, source};
  for (const Seconds gap : timing.gaps) {
    r.gaps.push_back(gap * factor);
  }
  if (timing.gamma) {
    r.gamma = Pick{*timing.gamma, timing.origin, timing.source};
  }
  if (timing.busy && factor == 1) {
    r.note<Seconds>("busy", {timing.busy->base() * samples, timing.origin, source}, "s");
  }
  // The optimizer's time does not depend on the batch.
  times.other = r.pick("other", Pick{timing.other.base(), timing.origin, timing.source}).value_or(Pick{});
  if (!r.batch) {
    r.batch = timing.batch;
  }
  return times;
}

Times from_flops(Resolution& r, Precision precision) {
  const Workload& workload = r.setup.scenario.workload;
  if (workload.forward_flops() <= 0) {
    Resolution::refuse(
        "backward", "is missing",
        "--backward, or --throughput and --batch: " +
            std::string(r.model ? "the model states no FLOPs" : "a size says nothing about compute"));
  }
  if (r.device_assumed) {
    Resolution::refuse("device", "is missing",
                       "a device (list devices), or the times that are known: --backward, --throughput");
  }
  if (!r.batch) {
    Resolution::refuse("batch", "is missing", "the samples of one worker");
  }
  ComputeTimes estimated;
  try {
    estimated = estimate(r.device.device, workload, *r.batch, precision);
  } catch (const Error& error) {
    throw error.inside("--compute-dtype", Fault::value);
  }
  const auto index = static_cast<std::size_t>(precision);
  const std::string dtype_name(name(precision));
  const auto source = [&](const std::string& key) {
    const auto found = r.device.sources.find(key + "/" + dtype_name);
    return found == r.device.sources.end() ? std::string("no profile states it") : found->second;
  };
  r.note<PerSecond>(
      "peak", {r.device.device.peak[index].value_or(PerSecond{}).base(), Origin::published, source("peak")},
      "FLOP/s");
  const bool stated = r.device.sources.contains("efficiency/" + dtype_name);
  r.note_fraction("compute_efficiency", {r.device.device.efficiency[index],
                                         stated ? Origin::published : Origin::assumed, source("efficiency")});
  const std::string rule = "FLOPs of the batch / (peak x efficiency) in " + dtype_name;
  Times times;
  times.forward = {estimated.forward.base(), Origin::estimated, rule};
  times.backward = {estimated.backward.base(), Origin::estimated, rule};
  times.other = r.pick("other", Pick{0, Origin::assumed, kRest}).value_or(Pick{});
  return times;
}

/// Every tensor becomes a module of its own, ready after its gap. The whole module's forward goes to its last
/// tensor, and so waits for all of them; without FLOPs, every tensor's forward is to its gap as all are. What
/// backward does behind the last gradient is a module without tensors.
void set_gaps(Workload& workload, const std::vector<Seconds>& gaps) {
  std::vector<Module> modules;
  const std::size_t count = workload.tensors.size();
  const Seconds forward = workload.forward();
  const Seconds all =
      std::accumulate(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(count), Seconds{});
  const bool by_gaps = !(workload.forward_flops() > 0) && all > Seconds{};
  if (gaps.size() > count) {
    modules.push_back({"behind the last gradient", 0, 0, {}, gaps.back()});
  }
  for (std::size_t i = 0; i < count; ++i) {
    Tensor& tensor = workload.tensors[i];
    const Module& whole = workload.modules[tensor.module];
    const bool last = i + 1 == count || workload.tensors[i + 1].module != tensor.module;
    const Seconds gap = gaps[count - 1 - i];
    const Seconds part = by_gaps ? forward * (gap / all) : last ? whole.forward : Seconds{};
    modules.push_back(
        {tensor.name, last ? whole.forward_flops : 0, last ? whole.backward_flops : 0, part, gap});
    tensor.module = modules.size() - 1;
  }
  workload.modules = std::move(modules);
}

}  // namespace

void resolve_compute(Resolution& r) {
  const Precision precision = compute_precision(r);
  const bool batch_given = r.has("batch");
  r.batch = r.number("batch");
  const bool throughput = r.has("throughput");
  const bool logged = r.has("backward-log");
  const bool given = throughput || logged || r.has("forward") || r.has("backward");
  Times times;
  if (throughput) {
    check_throughput(r);
  }
  if (logged) {
    times = from_log(r);
  } else if (throughput) {
    times = from_throughput(r);
  } else if (given) {
    times = from_given(r);
  } else if (const Timing* timing = find_timing(r, precision)) {
    times = from_timing(r, *timing);
  } else {
    times = from_flops(r, precision);
  }
  if (given && !throughput) {
    r.warn_unused({"batch"}, "the compute times are given, it only names the setup");
  }
  if (given) {
    r.warn_unused({"compute-dtype"}, "the compute times are given");
  } else {
    r.note_choice("compute-dtype", "compute_dtype", std::string(name(precision)), "as the gradients");
  }
  if (r.batch) {
    r.note_number("batch", {*r.batch, batch_given ? Origin::given : times.forward.origin,
                            batch_given ? "" : times.forward.source});
  }
  if (throughput) {
    r.note<PerSecond>("throughput", {r.number("throughput").value_or(0), Origin::given, {}}, "/s");
  }
  r.note<Seconds>("forward", times.forward, "s");
  r.note<Seconds>("backward", times.backward, "s");
  r.note<Seconds>("other", times.other, "s");
  Workload& workload = r.setup.scenario.workload;
  set_times(workload, Seconds::of(times.forward.value), Seconds::of(times.backward.value));
  workload.other = Seconds::of(times.other.value);
  if (!r.gaps.empty()) {
    set_gaps(workload, r.gaps);
  }
  // Backward is what communication hides behind: it decides, forward only adds to both sides.
  r.setup.compute = times.backward.origin;
  r.setup.judge.compute_uncertainty = uncertainty(r.setup.compute);
}

}  // namespace breakeven
