// Reads a model profile: tensors with shapes and FLOPs, and the times that somebody took.
#include <algorithm>
#include <cmath>
#include <optional>

#include "profiles/json_reader.h"
#include "profiles/read.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

constexpr double kMostElements = 1e15;  // a double counts them exactly, and so does std::size_t

std::vector<std::size_t> read_dims(const Json& json) {
  const std::string& text = json.text();
  std::vector<std::size_t> dims;
  double elements = 1;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const std::string_view digits = std::string_view(text).substr(begin, end - begin);
    const bool whole = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
    const std::size_t dim = whole && digits.size() <= 16 ? parse_count(digits) : 0;
    elements *= static_cast<double>(dim);
    if (dim == 0 || elements > kMostElements) {
      json.fail("cannot read \"" + text + "\" as dimensions",
                "whole numbers above 0 joined by x, such as 64x3x7x7");
    }
    dims.push_back(dim);
    begin = end + 1;
  }
  return dims;
}

void read_tensors(const Json& root, Workload& workload) {
  std::vector<std::string> names;
  double elements = 0;
  for (const Json& row : root.at("tensors", "a list of [name, dimensions, FLOPs]").list(1)) {
    const std::vector<Json> cells = row.list(3, 4);
    const double flops = cells[2].number();
    if (flops < 0) {
      cells[2].fail("\"" + cells[2].scalar() + "\" must not be negative", "forward FLOPs of one sample");
    }
    names.push_back(cells[0].text());
    add_tensor(workload, cells[0].text(), read_dims(cells[1]), flops,
               cells.size() == 4 ? cells[3].text() : "");
    elements += static_cast<double>(workload.tensors.back().elements());
    if (elements > kMostElements) {
      row.fail("the tensors have more than 1e15 elements", "a model");
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    root.at("tensors", "").fail("the tensor \"" + *twice + "\" is there twice", "each name once");
  }
}

/// A step's time from a throughput, shared between forward and backward by their FLOPs.
void split_step(Timing& timing, Seconds step, const Workload& workload) {
  const double share = forward_share(workload);
  timing.forward = step * share;
  timing.backward = step * (1 - share);
  timing.source += timing.source.empty() ? "" : "; ";
  timing.source += "batch / throughput, split by FLOPs";
}

void read_gaps(const Json& json, std::size_t tensors, Timing& timing) {
  constexpr double kRounded = 1e-3;  // both may be stated with few digits
  Seconds sum;
  for (const Json& gap : json.list()) {
    timing.gaps.push_back(gap.not_negative<Seconds>());
    sum += timing.gaps.back();
  }
  if (timing.gaps.size() != tensors && timing.gaps.size() != tensors + 1) {
    json.fail(std::to_string(timing.gaps.size()) + " gaps for " + std::to_string(tensors) + " tensors",
              "one a tensor, from the last to the first, and perhaps the rest of backward");
  }
  if (!(std::abs(sum / timing.backward - 1) <= kRounded)) {
    json.fail("the gaps add up to " + to_string(sum), "the time of backward, " + to_string(timing.backward));
  }
}

void read_busy(const Json& json, Timing& timing) {
  constexpr double kRounded = 1e-3;
  const auto busy = json.not_negative<Seconds>();
  const Seconds step = timing.forward + timing.backward + timing.other;
  if (!(busy <= step * (1 + kRounded))) {
    json.fail("is " + to_string(busy), "at most forward, backward and other, " + to_string(step));
  }
  timing.busy = std::min(busy, step);
}

double read_gamma(const Json& json) {
  constexpr double kMost = 10;  // that --gamma takes
  const double gamma = json.number();
  if (!(gamma >= 1 && gamma <= kMost)) {
    json.fail("is " + json.scalar(), "1 to 10");
  }
  return gamma;
}

Timing read_timing(const Json& json, const std::string& source, const Workload& workload) {
  json.only({"device", "precision", "batch", "forward", "backward", "other", "gaps", "busy", "gamma",
             "throughput", "origin", "source"});
  Timing timing;
  timing.device = json.at("device", "the name of a device").text();
  timing.precision = read_precision(json.at("precision", "fp32, tf32, fp16 or bf16"));
  const Json batch = json.at("batch", "samples of one worker");
  timing.batch = batch.number();
  if (!(timing.batch > 0)) {
    batch.fail("\"" + batch.scalar() + "\" must be above 0", "samples of one worker");
  }
  timing.origin = read_origin(json.at("origin", "measured or published"));
  const auto own_source = json.find("source");
  timing.source = own_source ? own_source->text() : source;
  if (const auto gamma = json.find("gamma")) {
    timing.gamma = read_gamma(*gamma);
  }
  if (const auto throughput = json.find("throughput")) {
    for (const auto* key : {"forward", "backward", "other", "gaps", "busy"}) {
      if (const auto time = json.find(key)) {
        time->fail("is there beside a throughput", "either the times or the throughput");
      }
    }
    const auto rate = throughput->above_zero<PerSecond>();
    split_step(timing, Seconds::of(timing.batch / rate.base()), workload);
    return timing;
  }
  timing.forward = json.at("forward", "a time, or a throughput instead").not_negative<Seconds>();
  timing.backward = json.at("backward", "a time, or a throughput instead").above_zero<Seconds>();
  if (const auto other = json.find("other")) {
    timing.other = other->not_negative<Seconds>();
  }
  if (const auto gaps = json.find("gaps")) {
    read_gaps(*gaps, workload.tensors.size(), timing);
  }
  if (const auto busy = json.find("busy")) {
    read_busy(*busy, timing);
  }
  return timing;
}

}  // namespace

double forward_share(const Workload& workload) {
  const double forward = workload.forward_flops();
  const double total = forward + workload.backward_flops();
  // Without FLOPs: backward computes two products where forward computes one.
  return total > 0 ? forward / total : 1.0 / 3;
}

ModelProfile read_model(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "tensors", "timings"});
  check_schema(root);
  ModelProfile model;
  model.name = root.at("name", "the model's name").text();
  model.summary = text_or_empty(root, "summary");
  model.source = text_or_empty(root, "source");
  model.workload.name = model.name;
  read_tensors(root, model.workload);
  if (const auto timings = root.find("timings")) {
    for (const Json& timing : timings->list()) {
      model.timings.push_back(read_timing(timing, model.source, model.workload));
    }
  }
  return model;
}

}  // namespace breakeven
