// What is exchanged (tensors and their type) and on what it is computed (fabric and device profiles).
#include <cmath>

#include "model/error.h"
#include "profiles/resolve.h"

namespace breakeven {
namespace {

/// The numbers that stand in where nobody names a device: the one whose codec kernels were measured most.
constexpr const char* kStandIn = "v100";

/// A name that some profile refers to, with the option that the profile stands for.
DeviceProfile load_device(const Resolution& r, const std::string& name, const std::string& where) {
  try {
    return r.catalogue.device(name);
  } catch (const Error& error) {
    if (error.fault() == Fault::file) {
      throw;
    }
    throw Error(Fault::value, where, error.wrong(), error.expected());
  }
}

void note_device(Resolution& r) {
  const Device& device = r.device.device;
  const auto number = [&](double value, const std::string& key) {
    const auto source = r.device.sources.find(key);
    return Pick{value, r.device_assumed ? Origin::assumed : Origin::published,
                source == r.device.sources.end() ? std::string() : source->second};
  };
  r.note_bytes_per_second("device_memory", number(device.memory.base(), "memory"));
  r.note<Seconds>("device_launch", number(device.launch.base(), "launch"), "s");
  if (device.capacity > Bytes{}) {
    r.note<Bytes>("device_capacity", number(device.capacity.base(), "capacity"), "B");
  }
  if (device.host_link > BytesPerSecond{}) {
    r.note_bytes_per_second("host_link", number(device.host_link.base(), "host_link"));
  }
}

/// One tensor a row, in forward order: the last gradient belongs to the first.
Workload logged_workload(Resolution& r, const std::string& file, Element gradient) {
  for (const char* other : {"model", "gradient-bytes"}) {
    if (r.has(other)) {
      Resolution::refuse(other, "is given beside --backward-log", "one of them");
    }
  }
  const BackwardLog log = r.catalogue.backward_log(file);
  Workload workload;
  workload.name = place_of(file);
  for (std::size_t i = log.rows.size(); i-- > 0;) {
    const double elements = static_cast<double>(log.rows[i].bytes) / size_of(gradient);
    if (elements != std::floor(elements)) {
      Resolution::refuse(
          "backward-log",
          "gradient " + std::to_string(i + 1) + " has " + std::to_string(log.rows[i].bytes) + " B",
          "a multiple of " + plain(size_of(gradient)) + " B, an element of " + std::string(dtype(gradient)));
    }
    add_tensor(workload, "gradient" + std::to_string(i), {static_cast<std::size_t>(elements)}, 0);
  }
  for (const BackwardLog::Row& row : log.rows) {
    r.gaps.push_back(row.gap);
  }
  r.note_text("backward_log", workload.name, Origin::given);
  return workload;
}

}  // namespace

std::string_view dtype(Element gradient) {
  return gradient == Element::f16 ? "fp16" : gradient == Element::bf16 ? "bf16" : "fp32";
}

void resolve_hardware(Resolution& r) {
  if (const std::string* fabric = r.text("fabric")) {
    r.fabric = r.catalogue.fabric(*fabric);
    r.note_text("fabric", r.fabric->fabric.name, Origin::given, r.fabric->source);
  }
  if (const std::string* device = r.text("device")) {
    r.device = load_device(r, *device, "--device");
    r.note_text("device", r.device.device.name, Origin::given, r.device.summary);
  } else if (r.fabric && !r.fabric->device.empty()) {
    r.device = load_device(r, r.fabric->device, "--fabric");
    r.note_text("device", r.device.device.name, Origin::published, "the fabric " + r.fabric->fabric.name);
  } else {
    r.device_assumed = true;
    r.device = load_device(r, kStandIn, "--device");
    r.device.device.name = "unknown device";
    r.warn(std::string("no --device: memory, kernel launches and links inside a node are taken from ") +
           kStandIn);
    r.note_text("device", "unknown", Origin::assumed,
                std::string("the numbers of ") + kStandIn + " stand in for it");
  }
  note_device(r);
  r.setup.scenario.device = r.device.device;
}

void resolve_workload(Resolution& r) {
  Scenario& scenario = r.setup.scenario;
  const bool closed_form = r.choice("method", {"timeline", "closed-form"}) == 1;
  const std::optional<double> size = r.number("gradient-bytes");
  constexpr Element kElements[] = {Element::f32, Element::bf16, Element::f16};
  const Element gradient = kElements[r.choice("grad-dtype", {"fp32", "bf16", "fp16"})];
  if (const std::string* log = r.text("backward-log")) {
    scenario.workload = logged_workload(r, *log, gradient);
  } else if (const std::string* model = r.text("model")) {
    r.model = r.catalogue.model(*model);
    scenario.workload = r.model->workload;
    r.note_text("model", r.model->name, Origin::given, r.model->source);
    if (size && !closed_form) {
      Resolution::refuse("gradient-bytes", "is given beside --model",
                         "one of them (both only with --method closed-form)");
    }
  } else if (size) {
    // A size that is no whole number of elements is rounded up, as a buffer would be.
    scenario.workload =
        plain_workload("gradient", static_cast<std::size_t>(std::ceil(*size / size_of(gradient))));
  } else {
    Resolution::refuse("model", "is missing",
                       "a model (list models), --gradient-bytes SIZE or --backward-log FILE");
  }
  scenario.workload.gradient = gradient;
  const Bytes bytes = scenario.workload.gradient_bytes();
  if (r.model) {
    r.note<Bytes>("gradient_bytes",
                  {bytes.base(), Origin::published, "elements of the model x size of their type"}, "B");
  } else {
    r.note<Bytes>("gradient_bytes", {bytes.base(), Origin::given, {}}, "B");
  }
  if (r.model && size) {
    scenario.dense_bytes = Bytes::of(*size);
    r.note<Bytes>("dense_bytes", {*size, Origin::given, "what plain all-reduce exchanges"}, "B");
  }
  r.note_choice("grad-dtype", "grad_dtype", std::string(dtype(gradient)), "PyTorch's default");
}

}  // namespace breakeven
