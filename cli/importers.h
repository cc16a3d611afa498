// The formats that `breakeven import` reads, by what they become.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace breakeven::cli {

struct Importer {
  std::string_view name;
  /// Reads a file ("-": standard input), says on context.err what it understood, and returns a profile.
  /// Throws Error.
  std::string (*read)(const Context& context, const std::string& file);
};

std::span<const Importer> codec_importers();   ///< kernel timings -> a codec profile
std::span<const Importer> fabric_importers();  ///< network measurements -> a fabric profile
std::span<const Importer> run_importers();     ///< a run that was traced -> a model profile with timings
std::span<const Importer> model_importers();   ///< a network's description -> a model profile

}  // namespace breakeven::cli
