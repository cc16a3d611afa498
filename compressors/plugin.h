// Door 3: schemes in a shared object that exports the C interface of breakeven_plugin.h.
#pragma once

#include <string>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

/// The schemes of a shared object, which stays loaded for as long as one of them or of their compressors is
/// there. Throws Error (file): missing, not a shared object, no or another version of the interface, rows
/// that make no sense. What a plugin returns later is checked too: nonsense is an Error (file) that names it.
std::vector<Scheme> load_plugin(const std::string& path);

/// Whether a plugin's scheme has the functions of a kernel.
bool claims_code(const Compressor& compressor);

}  // namespace breakeven
