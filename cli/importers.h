// The formats that `breakeven import` reads, by what they become.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace breakeven::cli {

struct Importer {
  std::string_view name;
  std::string_view reads;               ///< of the help: what the file is
  std::vector<std::string_view> flags;  ///< its own, of those of import
  std::vector<std::string_view> marks;  ///< one of them stands in such a file, and in no other program's
  /// Reads a file ("-": standard input), says on context.err what it understood, and returns a profile.
  /// Throws Error.
  std::string (*read)(const Context& context, const std::string& file);
  bool packed = false;  ///< it may be packed by gzip
};

std::vector<Importer> codec_importers();   ///< kernel timings -> a codec profile
std::vector<Importer> fabric_importers();  ///< network measurements -> a fabric profile
std::vector<Importer> run_importers();     ///< a run that was traced -> a model profile with timings
std::vector<Importer> model_importers();   ///< a network's description -> a model profile
/// "; this looks like a file for import osu": what a file that is no profile may be; empty where no format is
/// known.
std::string import_hint(const std::string& file);
/// The formats and what they become, for help and man page.
std::string importers_text();

}  // namespace breakeven::cli
