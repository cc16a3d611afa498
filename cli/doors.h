// The doors through which a user's own schemes come in: a JSON file that describes one, a shared object.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

/// Adds the schemes of every --scheme-file and --plugin, and the codec times that came with them. Throws
/// Error (file).
void open_doors(const Request& request, Registry& registry, Catalogue& catalogue);
/// Whether an argument names a file of schemes: FILE.json, FILE.so, anything with a slash.
bool is_scheme_file(const std::string& argument);
/// The schemes of one such file. Throws Error (file).
std::vector<Scheme> schemes_of(const std::string& file);
/// Whether a scheme codes, with its parameters at their defaults.
bool has_code(const Scheme& scheme);

}  // namespace breakeven::cli
