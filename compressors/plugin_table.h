// A plugin's table of C functions as schemes: everything it says and returns is checked before it is used.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compressors/breakeven_plugin.h"
#include "model/compressor.h"

namespace breakeven {

/// `name` is the file's, for errors; `owner`, which the schemes, their compressors and kernels share, keeps
/// the functions and texts where they are. Throws Error (file) where a row makes no sense. What the functions
/// return later is checked when they do: nonsense is an Error (file), but values that the plugin refuses are
/// the user's: Error (value).
std::vector<Scheme> schemes_of(const breakeven_plugin_v1_table& table, const std::string& name,
                               const std::shared_ptr<const void>& owner);

}  // namespace breakeven
