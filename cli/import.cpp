// `breakeven import FORMAT FILE`: what other programs measured or describe -> a profile.
#include <algorithm>
#include <vector>

#include "cli/app.h"
#include "cli/command.h"
#include "cli/importers.h"
#include "cli/output.h"
#include "model/error.h"
#include "profiles/setup.h"

namespace breakeven::cli {
namespace {

struct Kind {
  std::string_view makes;
  std::vector<Importer> formats;
};

std::vector<Kind> kinds() {
  return {{"Fabric profiles, for --fabric", fabric_importers()},
          {"Model profiles, for --model, from a run", run_importers()},
          {"Model profiles, for --model, from a description", model_importers()},
          {"Codec profiles, for --codec", codec_importers()}};
}

/// Throws Error: unknown format.
Importer importer_of(const std::string& format) {
  std::vector<std::string> names;
  for (const Kind& kind : kinds()) {
    for (const Importer& importer : kind.formats) {
      if (importer.name == format) {
        return importer;
      }
      names.emplace_back(importer.name);
    }
  }
  throw Error(Fault::value, "import", "unknown format \"" + format + "\"", one_of(names, format));
}

/// A flag that another format needs is refused, not ignored.
void check_flags(const Request& request, const Importer& importer) {
  for (const Kind& kind : kinds()) {
    for (const Importer& other : kind.formats) {
      for (const std::string_view flag : other.flags) {
        const bool own =
            std::find(importer.flags.begin(), importer.flags.end(), flag) != importer.flags.end();
        if (request.has(flag) && !own) {
          throw Error(Fault::value, "--" + std::string(flag),
                      "does not apply to " + std::string(importer.name), "it left out");
        }
      }
    }
  }
}

}  // namespace

std::string importers_text() {
  std::string text;
  for (const Kind& kind : kinds()) {
    text += std::string(text.empty() ? "" : "\n\n") + std::string(kind.makes) + ". ";
    bool first = true;
    for (const Importer& importer : kind.formats) {
      text += (first ? "" : "; ") + std::string(importer.name) + ": " + std::string(importer.reads);
      first = false;
    }
    text += ".";
  }
  return text;
}

int import_profile(const Context& context) {
  const Importer importer = importer_of(context.request.arguments.front());
  check_flags(context.request, importer);
  Output output(context.request.get("output", "-"), context.out);
  output.stream() << importer.read(context, context.request.arguments[1]);
  output.commit();
  return kAnswered;
}

}  // namespace breakeven::cli
