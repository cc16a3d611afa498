// `breakeven import`: a run that was traced -> a model profile with timings.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <ostream>
#include <sstream>

#include "cli/app.h"
#include "cli/command.h"
#include "cli/doors.h"
#include "cli/importers.h"
#include "model/error.h"
#include "model/schedule.h"
#include "profiles/import/kineto.h"
#include "profiles/import/run.h"
#include "profiles/read.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

void tell(const Context& context, const std::vector<std::string>& lines) {
  if (context.request.has("quiet")) {
    return;
  }
  for (const std::string& line : lines) {
    context.err << "breakeven: " << line << '\n';
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Whether every word of a profile's name is in what the device calls itself, its memory aside: "a100-40gb",
/// "NVIDIA A100-PG509-200".
bool names_device(const std::string& profile, const std::string& device) {
  std::istringstream words(lower(profile));
  for (std::string word; std::getline(words, word, '-');) {
    if (!word.ends_with("gb") && device.find(word) == std::string::npos) {
      return false;
    }
  }
  return true;
}

/// The profile of a device that a trace names; empty: none.
std::string known_device(const Catalogue& catalogue, const std::string& device, Bytes memory) {
  constexpr double kAbout = 0.15;  // what a driver keeps of the memory, and GiB for GB
  std::string found;
  for (const std::string& name : catalogue.names("devices")) {
    const Bytes capacity = catalogue.device(name).device.capacity;
    const bool fits = memory == Bytes{} || capacity == Bytes{} || std::abs(memory / capacity - 1) <= kAbout;
    if (fits && names_device(name, lower(device)) && name.size() > found.size()) {
      found = name;
    }
  }
  return found;
}

/// The device that the user names, else that of the trace.
std::string device_of(const Context& context, const std::string& traced = "", Bytes memory = {}) {
  if (context.request.has("device")) {
    return context.request.get("device", "");
  }
  const std::string known = traced.empty() ? "" : known_device(context.catalogue, traced, memory);
  return known.empty() ? "unknown" : known;
}

void tell_device(const Context& context, const std::string& device, const std::string& traced = "") {
  if (context.request.has("device")) {
    if (const std::string unknown = unknown_device(context.catalogue, device); !unknown.empty()) {
      warn(context, "--device: " + unknown);
    }
  } else if (device == "unknown") {
    warn(context, (traced.empty() ? std::string("the file names no device") : "no profile of " + traced) +
                      ": say --device as a query will (list devices); the times are written for \"unknown\"");
  }
}

RunOptions options_of(const Context& context, const std::string& file, const std::string& device) {
  constexpr std::size_t kMostSamples = 1'000'000'000;
  RunOptions options;
  options.name = context.request.get("name", options.name);
  options.device = device;
  options.batch = static_cast<double>(count_of(context.request, "batch", 1, kMostSamples));
  options.source = "breakeven import " + context.request.arguments.front() + ", " +
                   place_of(std::filesystem::path(file).filename().string());
  return options;
}

/// What was given and changes nothing, and what was not and would.
void tell_flags(const Context& context, const ModelProfile& profile) {
  const Request& request = context.request;
  const auto unused = [&](std::initializer_list<const char*> flags, const std::string& why) {
    for (const char* flag : flags) {
      if (request.has(flag)) {
        warn(context, "--" + std::string(flag) + " changes nothing: " + why);
      }
    }
  };
  if (profile.timings.empty()) {
    unused({"device", "batch"}, "the file has no times");
  } else if (!request.has("batch")) {
    warn(context, "no --batch: the file does not say it; it is written as 1");
  }
}

/// The query that the profile is for, with the network that the run itself saw. It can be pasted: what a
/// query would refuse is a word in capitals.
void tell_question(const Context& context, const ImportedRun& run, const std::string& schedule) {
  const std::string file = context.request.get("output", "-");
  const std::vector<Timing>& timings = run.profile.timings;
  std::string line = "ask: breakeven query --model " + (file == "-" ? "FILE" : quoted(file));
  if (timings.empty()) {
    line += " --forward T --backward T";
  } else {
    const bool known = unknown_device(context.catalogue, timings.front().device).empty();
    line += " --device " + (known ? quoted(timings.front().device) : "NAME") + " --batch " +
            significant(timings.front().batch, 9);
  }
  line += run.element == Element::f32 ? "" : " --grad-dtype " + std::string(name(precision_of(run.element)));
  line += " --schedule " + schedule + " --workers " + (run.workers > 0 ? std::to_string(run.workers) : "N");
  tell(context, {line + " --bandwidth " +
                 (run.rate ? "\"" + to_string(*run.rate) + "\" --efficiency 100% --latency 0s" : "B")});
  if (run.rate) {
    tell(context,
         {"--bandwidth is what the fastest all-reduce of the run reached, were it a ring: its latency is "
          "part of that"});
  }
}

/// A gradient of exactly as many elements as a model of the catalogue is likely that model's.
void tell_namesake(const Context& context, const ModelProfile& profile) {
  for (const std::string& name : context.catalogue.names("models")) {
    if (context.catalogue.model(name).workload.elements() == profile.workload.elements()) {
      tell(context, {"as many elements as " + name +
                     ", whose tensors have shapes: buckets have none, and schemes that need them (powersgd) "
                     "send buckets as they are"});
    }
  }
}

KinetoFindings findings_of(const std::string& file) {
  const std::string place = place_of(file);
  return find_in(read_kineto(open_trace(file), place), place);
}

/// Whether DDP's defaults make the buckets that were traced, as far as their sizes are stated.
bool groups_as(const KinetoStep& step, const Workload& workload, Element element) {
  const std::vector<Message> messages = make_schedule("ddp", element).messages(workload, {});
  const bool stated = std::all_of(step.buckets.begin(), step.buckets.end(),
                                  [](const KinetoBucket& bucket) { return bucket.elements > 0; });
  return !stated || std::equal(messages.begin(), messages.end(), step.buckets.begin(), step.buckets.end(),
                               [](const Message& message, const KinetoBucket& bucket) {
                                 std::size_t elements = 0;
                                 for (const Shape& shape : message.tensors) {
                                   elements += shape.elements();
                                 }
                                 return elements == bucket.elements;
                               });
}

std::string kineto(const Context& context, const std::string& file) {
  RunOptions options = options_of(context, file, "");  // refused before a trace is read
  KinetoFindings findings = findings_of(file);
  if (context.request.has("no-sync")) {
    const std::string alone = context.request.get("no-sync", "");
    compare(findings, findings_of(alone), place_of(alone));
  }
  options.device = device_of(context, findings.device, findings.memory);
  ImportedRun run;
  run.profile = model_of(findings, options, place_of(file));
  run.workers = findings.workers;
  run.rate = rate_of(findings);
  run.element = element_of(findings, place_of(file));
  tell(context, lines_of(findings));
  tell_device(context, options.device, findings.device);
  tell_flags(context, run.profile);
  if (findings.step.gradients.empty()) {
    tell_namesake(context, run.profile);
  }
  const bool gradients = !findings.step.gradients.empty();
  tell_question(context, run, gradients ? "ddp" : "wfbp");
  if (!gradients) {
    tell(context, {"--schedule wfbp sends a traced bucket as one message, as the run did"});
  } else if (!findings.step.buckets.empty() && !groups_as(findings.step, run.profile.workload, run.element)) {
    tell(context, {"--schedule ddp groups otherwise than the run did: say its bucket_cap_mb, --schedule "
                   "ddp:cap=SIZE"});
  }
  return write_model(run.profile);
}

std::string told(const Context& context, const ImportedRun& run, const std::string& schedule) {
  tell(context, run.notes);
  tell_flags(context, run.profile);
  tell_namesake(context, run.profile);
  tell_question(context, run, schedule);
  return write_model(run.profile);
}

std::string horovod(const Context& context, const std::string& file) {
  const RunOptions options = options_of(context, file, device_of(context));
  const ImportedRun run = import_horovod(open_trace(file), place_of(file), options);
  if (!run.profile.timings.empty()) {
    tell_device(context, options.device);
  }
  return told(context, run, "horovod");
}

/// A file that is held whole.
std::string bytes_of(const std::string& file) {
  constexpr std::size_t kMost = std::size_t{256} << 20;
  const ReadBlock read = open_trace(file);
  std::string bytes;
  for (std::size_t size = 0, got = 1; got > 0; size += got) {
    bytes.resize(size + (std::size_t{1} << 20));
    got = read(bytes.data() + size, bytes.size() - size);
    if (got == 0) {
      bytes.resize(size);
    } else if (size + got > kMost) {
      throw Error(Fault::file, place_of(file), "is larger than 256 MiB", "a trace of a step");
    }
  }
  if (bytes.empty()) {
    throw Error(Fault::file, place_of(file), "is empty", "a trace of a step");
  }
  return bytes;
}

std::string chakra(const Context& context, const std::string& file) {
  return told(context, import_chakra(bytes_of(file), place_of(file), options_of(context, file, "unknown")),
              "wfbp");
}

std::string pytorch_et(const Context& context, const std::string& file) {
  return told(context,
              import_pytorch_et(bytes_of(file), place_of(file), options_of(context, file, "unknown")),
              "wfbp");
}

std::string backward_log(const Context& context, const std::string& file) {
  const RunOptions options = options_of(context, file, device_of(context));
  const BackwardLog log = read_backward_log(read_text(file), place_of(file));
  tell_device(context, options.device);
  return told(context, import_backward_log(log, options), "ddp");
}

}  // namespace

std::vector<Importer> run_importers() {
  return {{"kineto",
           "a trace of PyTorch's profiler, plain or gzip: gradient buckets, or with record_shapes=True "
           "gradients, and their times; said are how much "
           "of the exchange runs beside compute kernels, what the step waits for it, how long the device "
           "idles, and with --no-sync how much backward slows down",
           {"device", "batch", "no-sync"},
           {"\"traceEvents\"", "ProfilerStep#"},
           kineto,
           true},
          {"horovod", "its timeline", {"device", "batch"}, {"NEGOTIATE_ALLREDUCE"}, horovod, true},
          {"chakra",
           "an execution trace, for the sizes of what is exchanged",
           {},
           {"\"workload_graph\"", "comm_size"},
           chakra,
           true},
          {"pytorch-et", "the same of PyTorch's observer", {}, {"\"ctrl_deps\""}, pytorch_et, true},
          {"backward-log", "lines gap_us,bytes", {"device", "batch"}, {"gap_us,bytes"}, backward_log}};
}

}  // namespace breakeven::cli
