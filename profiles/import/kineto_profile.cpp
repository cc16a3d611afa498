// What a trace says -> a model profile, and words.
#include <algorithm>
#include <utility>

#include "model/error.h"
#include "profiles/import/kineto.h"

namespace breakeven {
namespace {

std::string percent(double share) {
  return significant(share * 100, 2) + " %";
}

std::string bucket_lines(const KinetoStep& step) {
  std::size_t elements = 0;
  std::string sizes;
  for (const KinetoBucket& bucket : step.buckets) {
    elements += bucket.elements;
    sizes += (sizes.empty() ? "" : ", ") +
             (bucket.elements > 0 ? std::to_string(bucket.elements) : std::string("not stated")) + " in " +
             to_string(bucket.time);
  }
  return counted(step.buckets.size(), "bucket") + ", " +
         (elements > 0 ? std::to_string(elements) + " elements in all, " : std::string()) +
         "in the order of backward: " + sizes;
}

/// What becomes one tensor of the profile.
struct Part {
  std::string name;
  std::vector<std::size_t> dims;
  Seconds ready;
};

/// In the order of backward.
std::vector<Part> parts_of(const KinetoStep& step) {
  std::vector<Part> parts;
  for (const KinetoGradient& gradient : step.gradients) {
    parts.push_back({"gradient-" + std::to_string(parts.size() + 1), gradient.dims, gradient.ready});
    if (gradient.dims.empty()) {
      parts.back().dims = {1};
    }
  }
  if (!parts.empty()) {
    return parts;
  }
  for (const KinetoBucket& bucket : step.buckets) {
    parts.push_back({"bucket-" + std::to_string(parts.size() + 1), {bucket.elements}, bucket.ready});
  }
  return parts;
}

std::string gradients_line(const KinetoStep& step) {
  if (!step.gradients.empty()) {
    return counted(step.gradients.size(), "gradient") +
           " with shapes: the profile has a tensor for each, in the order of backward, without a name";
  }
  return "no shapes of gradients: the profile has a tensor a bucket (record_shapes=True in the profiler: one "
         "a "
         "gradient)";
}

}  // namespace

Element element_of(const KinetoFindings& findings, const std::string& where) {
  const std::vector<KinetoBucket>& buckets = findings.step.buckets;
  const std::vector<KinetoGradient>& gradients = findings.step.gradients;
  if (buckets.empty() && gradients.empty()) {
    throw Error(Fault::file, where,
                "has neither all-reduces in backward nor shapes of gradients" + findings.instead,
                "a step of several workers, or record_shapes=True; a model's name (--model) and --forward, "
                "--backward do without");
  }
  double elements = 0;
  for (const KinetoBucket& bucket : buckets) {
    elements += static_cast<double>(bucket.elements);
    if (bucket.elements == 0 && gradients.empty()) {
      throw Error(
          Fault::file, where, "does not say how large its all-reduces are",
          "\"In msg nelems\" with the kernels, as PyTorch 2.3 and newer write it, or record_shapes=True");
    }
    if (bucket.element != buckets.front().element) {
      throw Error(Fault::file, where, "has gradients of several types", "one type");
    }
  }
  for (const KinetoGradient& gradient : gradients) {
    elements += gradient.elements();
    if (buckets.empty() && (!gradient.element || gradient.element != gradients.front().element)) {
      throw Error(Fault::file, where,
                  gradient.element ? "has gradients of several types" : "has gradients of an unknown type",
                  "one of float, half and bfloat16");
    }
  }
  if (elements > 1e15) {
    throw Error(Fault::file, where, "has gradients of more than 1e15 elements", "a model's gradient");
  }
  return buckets.empty() ? *gradients.front().element : buckets.front().element;
}

std::optional<BytesPerSecond> rate_of(const KinetoFindings& findings) {
  std::optional<BytesPerSecond> best;
  for (const KinetoBucket& bucket : findings.step.buckets) {
    const auto rate = ring_rate(bucket.bytes(), bucket.time, bucket.group);
    best = rate ? std::max(best.value_or(*rate), *rate) : best;
  }
  return best;
}

std::vector<std::string> lines_of(const KinetoFindings& findings) {
  const KinetoStep& step = findings.step;
  std::vector<std::string> lines = {
      counted(findings.steps, "step") + (findings.device.empty() ? "" : " on " + findings.device) +
          (findings.workers > 0 ? ", " + counted(findings.workers, "worker") : ""),
      "a step of " + to_string(step.time) + ": forward " + to_string(step.forward) + ", backward " +
          to_string(step.backward) + ", exposed all-reduce " + to_string(step.exposed()) + ", other " +
          to_string(stated(step.other())) + " (optimizer " + to_string(step.optimizer) + ")",
      findings.host_computes
          ? "no kernels in the trace: the host's passes stand for them and take " + to_string(step.compute)
          : "the device idles " + to_string(step.idle) + " of it; compute kernels run " +
                to_string(step.compute)};
  if (step.buckets.empty()) {
    lines.push_back("no all-reduce of gradients in backward" + findings.instead);
  } else {
    lines.push_back(bucket_lines(step));
    lines.push_back(
        !(step.exchange > Seconds{})
            ? std::string("overlap: not known, all-reduces take no time in the trace")
            : "overlap: " + percent(step.overlapped / step.exchange) + " of " + to_string(step.exchange) +
                  " of all-reduce run beside compute kernels (what does not is not what the step waits for)");
    lines.push_back("exposed on the critical path: " + to_string(step.exposed()) + " (" +
                    to_string(step.tail) + " behind backward's end, " + to_string(step.stalled) +
                    " that kernels waited)");
  }
  if (step.passes > 1) {
    lines.push_back(std::to_string(step.passes) +
                    " forward passes in a step (gradient accumulation): forward and backward are those of "
                    "one that exchanges, other "
                    "holds the rest");
  }
  lines.push_back(gradients_line(step));
  lines.push_back(gamma_line(findings));
  lines.insert(lines.end(), findings.notes.begin(), findings.notes.end());
  return lines;
}

ModelProfile model_of(const KinetoFindings& findings, const RunOptions& options, const std::string& where) {
  const KinetoStep& step = findings.step;
  const Element element = element_of(findings, where);
  ModelProfile profile;
  profile.name = profile.workload.name = options.name;
  const std::vector<Part> parts = parts_of(step);
  profile.summary = step.gradients.empty() ? "gradient buckets of a traced run" : "gradients of a traced run";
  profile.source = options.source;
  for (std::size_t i = parts.size(); i-- > 0;) {  // backward begins with the last one
    add_tensor(profile.workload, parts[i].name, parts[i].dims, 0);
  }
  Timing timing;
  timing.device = options.device;
  timing.precision = precision_of(element);
  timing.batch = options.batch;
  timing.source = options.source;
  timing.forward = stated(step.forward);
  timing.other = stated(step.other());
  // Where it is known how much the exchange slows backward down, a query adds that again; else its times hold
  // it.
  timing.gamma = step.buckets.empty() ? findings.gamma : findings.gamma.value_or(1);
  const double lost = 1 - 1 / findings.gamma.value_or(1);
  const auto alone = [&](Seconds time) { return time - step.reducing(time) * lost; };
  Seconds before;
  for (const Part& part : parts) {
    timing.gaps.push_back(stated(alone(part.ready) - before));
    before = alone(part.ready);
  }
  if (step.backward > parts.back().ready) {  // backward goes on behind the last of them
    timing.gaps.push_back(stated(alone(step.backward) - before));
  }
  timing.backward = sum_of(timing.gaps);
  if (!(timing.backward > Seconds{})) {
    throw Error(Fault::file, where, "has a backward pass of no time", "a training step");
  }
  timing.busy = stated(std::min(step.time - step.idle, timing.forward + timing.backward + timing.other));
  profile.timings = {std::move(timing)};
  return profile;
}

}  // namespace breakeven
