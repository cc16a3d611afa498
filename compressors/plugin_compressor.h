// One scheme of a plugin behind the interface of Compressor.
#pragma once

#include <memory>
#include <string>

#include "compressors/breakeven_plugin.h"
#include "model/compressor.h"

namespace breakeven {

/// A row of the table that has been checked, with what it takes to speak of it and to keep it.
struct PluginScheme {
  std::shared_ptr<const void> owner;
  const breakeven_scheme* row = nullptr;
  std::string file;   ///< as the user named it
  std::string where;  ///< "./x.so: scheme \"x\"": for errors
};

/// Where the plugin refuses the values: Error (value), its file's name in front.
std::unique_ptr<Compressor> make_plugin_compressor(const PluginScheme& scheme, const Params& values);

/// Printable text of at most `most` bytes, on one line; null where it is not that.
const char* one_line(const char* text, std::size_t most);

}  // namespace breakeven
