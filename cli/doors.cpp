#include "cli/doors.h"

#include <utility>

#include "compressors/plugin.h"
#include "model/error.h"
#include "profiles/read.h"

namespace breakeven::cli {
namespace {

/// What is wrong with a file's content is the file's fault.
template <class Add>
void add_from(const std::string& file, Add add) {
  try {
    add();
  } catch (const Error& error) {
    throw error.fault() == Fault::file ? error : error.inside(file, Fault::file);
  }
}

const std::vector<std::string>& files(const Request& request, std::string_view flag) {
  static const std::vector<std::string> none;
  const auto found = request.given.find(flag);
  return found == request.given.end() ? none : found->second;
}

}  // namespace

void open_doors(const Request& request, Registry& registry, Catalogue& catalogue) {
  for (const std::string& file : files(request, "scheme-file")) {
    SchemeFile read = read_scheme(read_text(file), place_of(file));
    add_from(place_of(file), [&] {
      registry.add(std::move(read.scheme));
      catalogue.add_codec(std::move(read.codec));
    });
  }
  for (const std::string& file : files(request, "plugin")) {
    for (Scheme& scheme : load_plugin(file)) {
      add_from(file, [&] { registry.add(std::move(scheme)); });
    }
  }
}

bool is_scheme_file(const std::string& argument) {
  return argument.find('/') != std::string::npos || argument.ends_with(".json") || argument.ends_with(".so");
}

std::vector<Scheme> schemes_of(const std::string& file) {
  if (!file.ends_with(".json")) {
    return load_plugin(file);
  }
  std::vector<Scheme> schemes;
  schemes.push_back(read_scheme(read_text(file), place_of(file)).scheme);
  return schemes;
}

bool has_code(const Scheme& scheme) {
  const Shape probe{64, 64, Element::f32};
  return scheme.make(Params(scheme.params, {}))->kernel(std::span(&probe, 1), Worker{}) != nullptr;
}

}  // namespace breakeven::cli
