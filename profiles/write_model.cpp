// Writes a model profile: tensors one a line, times as short as their values allow.
#include <algorithm>
#include <vector>

#include "model/error.h"
#include "profiles/json_reader.h"
#include "profiles/write.h"
#include "profiles/write_text.h"

namespace breakeven {
namespace {

[[noreturn]] void refuse(std::string wrong, std::string expected) {
  throw Error(Fault::value, "model profile", std::move(wrong), std::move(expected));
}

/// The file groups tensors by the module's name alone: each module must be a run of tensors, and another one
/// than the one before.
void check_modules(const Workload& workload) {
  std::size_t next = 0;
  for (const Tensor& tensor : workload.tensors) {
    const bool opens = tensor.module == next;
    if (tensor.module >= workload.modules.size() || (!opens && tensor.module + 1 != next)) {
      refuse("the tensor \"" + tensor.name + "\" is not among those of its module",
             "modules in forward order");
    }
    next += opens ? 1 : 0;
  }
  if (next != workload.modules.size()) {
    refuse("the module \"" + workload.modules[next].name + "\" has no tensor", "modules with tensors");
  }
  const auto same = std::adjacent_find(workload.modules.begin(), workload.modules.end(),
                                       [](const Module& a, const Module& b) { return a.name == b.name; });
  if (same != workload.modules.end()) {
    refuse("two modules in a row are named \"" + same->name + "\"", "one of them");
  }
}

void check_tensors(const Workload& workload) {
  std::vector<std::string> names;
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.elements() == 0) {
      refuse("the tensor \"" + tensor.name + "\" is empty", "dimensions above 0");
    }
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (names.empty() || twice != names.end()) {
    refuse(names.empty() ? "has no tensors" : "the tensor \"" + *twice + "\" is there twice",
           "each tensor once");
  }
}

std::string dims_text(const std::vector<std::size_t>& dims) {
  std::string text;
  for (const std::size_t dim : dims) {
    text += (text.empty() ? "" : "x") + std::to_string(dim);
  }
  return text.empty() ? "1" : text;
}

std::string tensors_text(const Workload& workload) {
  std::string rows;
  std::size_t next = 0;
  for (const Tensor& tensor : workload.tensors) {
    const Module& module = workload.modules[tensor.module];
    const bool opens = tensor.module == next;
    next += opens ? 1 : 0;
    rows += (rows.empty() ? "    [" : ",\n    [") + json_text(tensor.name) + ", " +
            json_text(dims_text(tensor.dims)) + ", " + (opens ? number_text(module.forward_flops) : "0");
    if (module.name != tensor.name.substr(0, tensor.name.rfind('.'))) {
      rows += ", " + json_text(module.name);
    }
    rows += "]";
  }
  return "[\n" + rows + "\n  ]";
}

std::string timing_text(const Timing& timing, const std::string& source_of_all) {
  const std::string indent = "      ";
  std::string json = "    {";
  add_text(json, indent, "device", timing.device);
  add_text(json, indent, "precision", std::string(name(timing.precision)));
  add_member(json, indent, "batch", number_text(timing.batch));
  add_text(json, indent, "forward", time_text(timing.forward));
  add_text(json, indent, "backward", time_text(timing.backward));
  if (timing.other > Seconds{}) {
    add_text(json, indent, "other", time_text(timing.other));
  }
  std::string gaps;
  for (const Seconds gap : timing.gaps) {
    gaps += (gaps.empty() ? "" : ", ") + json_text(time_text(gap));
  }
  if (!gaps.empty()) {
    add_member(json, indent, "gaps", "[" + gaps + "]");
  }
  if (timing.busy) {
    add_text(json, indent, "busy", time_text(*timing.busy));
  }
  if (timing.gamma) {
    add_member(json, indent, "gamma", number_text(*timing.gamma));
  }
  add_text(json, indent, "origin", std::string(name(timing.origin)));
  add_text(json, indent, "source", timing.source == source_of_all ? std::string() : timing.source);
  return json + "\n    }";
}

}  // namespace

std::string write_model(const ModelProfile& profile) {
  check_modules(profile.workload);
  check_tensors(profile.workload);
  std::string json = "{";
  add_member(json, "  ", "schema", "1");
  add_text(json, "  ", "name", profile.name);
  add_text(json, "  ", "summary", profile.summary);
  add_text(json, "  ", "source", profile.source);
  std::string timings;
  for (const Timing& timing : profile.timings) {
    timings += (timings.empty() ? "" : ",\n") + timing_text(timing, profile.source);
  }
  if (!timings.empty()) {
    add_member(json, "  ", "timings", "[\n" + timings + "\n  ]");
  }
  add_member(json, "  ", "tensors", tensors_text(profile.workload));
  return json + "\n}\n";
}

}  // namespace breakeven
