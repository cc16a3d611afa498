// `breakeven import`: a network's description -> a model profile.
#include <algorithm>
#include <ostream>

#include "cli/importers.h"
#include "model/error.h"
#include "profiles/import/models.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

/// Flags of other formats are refused, not ignored.
void only_flags(const Request& request, std::initializer_list<std::string_view> own) {
  for (const char* flag : {"map", "threads", "device", "sequence"}) {
    if (request.has(flag) && std::find(own.begin(), own.end(), flag) == own.end()) {
      throw Error(Fault::value, "--" + std::string(flag), "does not apply to " + request.arguments.front(),
                  "it left out");
    }
  }
}

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
  only_flags(context.request, {"sequence"});
  return written(context, import_huggingface(read_text(file), place_of(file), options_of(context.request)));
}

constexpr Importer kImporters[] = {{"huggingface", huggingface}};

}  // namespace

std::span<const Importer> model_importers() {
  return kImporters;
}

}  // namespace breakeven::cli
