// `breakeven import`: a network's description -> a model profile.
#include "cli/importers.h"

namespace breakeven::cli {

std::span<const Importer> model_importers() { return {}; }

}  // namespace breakeven::cli
