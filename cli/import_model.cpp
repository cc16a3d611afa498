// `breakeven import`: a network's description -> a model profile.
#include <ostream>

#include "cli/doors.h"
#include "cli/importers.h"
#include "model/error.h"
#include "profiles/import/models.h"
#include "profiles/option_values.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

ModelOptions options_of(const Request& request) {
  constexpr std::size_t kLongest = 100'000'000;  // tokens
  ModelOptions options;
  options.name = request.get("name", options.name);
  if (request.has("sequence")) {
    options.sequence = count_of(request, "sequence", 1, kLongest);
  }
  return options;
}

std::string written(const Context& context, const ImportedModel& imported) {
  if (!context.request.has("quiet")) {
    for (const std::string& note : imported.notes) {
      context.err << "breakeven: " << note << '\n';
    }
  }
  return write_model(imported.model);
}

std::string huggingface(const Context& context, const std::string& file) {
  return written(context, import_huggingface(read_text(file), place_of(file), options_of(context.request)));
}

std::string safetensors(const Context& context, const std::string& file) {
  return written(context, import_safetensors(file, options_of(context.request)));
}

std::string torchinfo(const Context& context, const std::string& file) {
  return written(context, import_torchinfo(read_text(file), place_of(file), options_of(context.request)));
}

std::string onnx(const Context& context, const std::string& file) {
  return written(context, import_onnx(file, options_of(context.request)));
}

/// Times are of a device, a type and a batch, which the table does not hold.
std::string csv(const Context& context, const std::string& file) {
  const Request& request = context.request;
  constexpr std::size_t kMostSamples = 100'000'000;
  ModelOptions options = options_of(request);
  options.device = request.get("device", options.device);
  options.batch = static_cast<double>(count_of(request, "batch", 1, kMostSamples));
  options.precision = static_cast<Precision>(
      option_choice("compute-dtype", request.get("compute-dtype", "fp32"), {"fp32", "tf32", "fp16", "bf16"}));
  const ImportedModel imported = import_tensor_csv(read_text(file), place_of(file), options);
  const bool timed = !imported.model.timings.empty();
  for (const char* flag : {"device", "batch", "compute-dtype"}) {
    if (timed != request.has(flag)) {
      warn(context,
           timed ? "--" + std::string(flag) + " is not given: the times are taken to be those of the default"
                 : "--" + std::string(flag) + " is not used: the table has no times");
    }
  }
  if (const std::string unknown = unknown_device(context.catalogue, options.device);
      timed && !unknown.empty()) {
    warn(context, "--device: " + unknown);
  }
  return written(context, imported);
}

}  // namespace

std::vector<Importer> model_importers() {
  return {{"huggingface",
           "the config.json of a transformer",
           {"sequence"},
           {"\"model_type\"", "\"architectures\""},
           huggingface},
          {"safetensors",
           "a file, of which only the header is read, or the index of several",
           {},
           {"\"data_offsets\"", "\"weight_map\""},
           safetensors},
          {"torchinfo", "the table that torchinfo or torchsummary printed", {}, {"Param #"}, torchinfo},
          {"onnx", "a model's initializers", {}, {}, onnx},
          {"csv",
           "rows tensor,rows,cols,dtype,grad_ready_us in forward order, the last two where they are known",
           {"device", "batch", "compute-dtype"},
           {"tensor,rows"},
           csv}};
}

}  // namespace breakeven::cli
