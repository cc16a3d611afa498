// The profiles that were built into the binary, as text.
#pragma once

#include <span>
#include <string_view>

namespace breakeven {

struct EmbeddedProfile {
  std::string_view kind;  ///< folder under profiles/: models, devices, fabrics, codecs, sweeps, published,
                          ///< published/NAME/fabrics
  std::string_view name;  ///< file name without .json
  std::string_view json;
};
/// In order of kind, then name.
std::span<const EmbeddedProfile> embedded_profiles();

}  // namespace breakeven
