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

std::vector<Importer> importers() {
  std::vector<Importer> all;
  for (const auto some : {codec_importers(), fabric_importers(), run_importers(), model_importers()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

int import_profile(const Context& context) {
  const std::string& format = context.request.arguments.front();
  const std::vector<Importer> known = importers();
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Importer& importer) { return importer.name == format; });
  if (found == known.end()) {
    std::vector<std::string> names;
    for (const Importer& importer : known) {
      names.emplace_back(importer.name);
    }
    throw Error(Fault::value, "import", "unknown format \"" + format + "\"", one_of(names, format));
  }
  Output output(context.request.get("output", "-"), context.out);
  output.stream() << found->read(context, context.request.arguments[1]);
  output.commit();
  return kAnswered;
}

}  // namespace breakeven::cli
