// The doors through which a user's own schemes come in: a JSON file that describes one, a shared object.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

/// Adds the schemes of every --scheme-file and --plugin, and the codec times that came with them. Returns
/// warnings. Throws Error (file).
std::vector<std::string> open_doors(const Request& request, Registry& registry, Catalogue& catalogue);
/// What there is to say of times for a device that no profile knows; nothing where one does.
std::string unknown_device(const Catalogue& catalogue, const std::string& device);
/// " --plugin FILE" for each that brought schemes in, for a shell: nothing for a built-in scheme.
std::string plugin_flags(const Request& request, const std::string& scheme);
/// For a shell, quoted where that takes it.
std::string quoted(const std::string& text);
/// Whether an argument names a file of schemes: anything with a slash, or with a dot and no parameters.
bool is_scheme_file(const std::string& argument);
/// The schemes of one such file, whatever it is called: a shared object, else JSON. Throws Error (file).
std::vector<Scheme> schemes_of(const std::string& file);
/// Whether a scheme codes, with its parameters at their defaults.
bool has_code(const Scheme& scheme);

}  // namespace breakeven::cli
