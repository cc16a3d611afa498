#include "cli/doors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "compressors/builtin.h"
#include "compressors/plugin.h"
#include "model/error.h"
#include "profiles/read.h"
#include "profiles/text_file.h"

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

/// By its first bytes, else by its name. A pipe cannot be read twice, nor be loaded.
bool is_shared_object(const std::string& file) {
  std::string head;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(file, ignored)) {
    std::ifstream in(file, std::ios::binary);
    constexpr std::size_t kMostBlanks = 4096;
    for (char c = 0; head.size() < 4 && static_cast<std::size_t>(in.tellg()) < kMostBlanks && in.get(c);) {
      if (!head.empty() || std::string_view(" \t\r\n").find(c) == std::string_view::npos) {
        head += c;
      }
    }
  }
  return head ==
             "\x7f"
             "ELF" ||
         (!head.starts_with('{') && file.ends_with(".so"));
}

}  // namespace

std::string quoted(const std::string& text) {
  const auto harmless = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+=:,@%").find(c) != std::string_view::npos;
  };
  if (std::all_of(text.begin(), text.end(), harmless)) {
    return text;
  }
  std::string result = "'";
  for (const char c : text) {
    result += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return result + "'";
}

std::vector<std::string> open_doors(const Request& request, Registry& registry, Catalogue& catalogue) {
  std::vector<std::string> warnings;
  for (const std::string& file : files(request, "scheme-file")) {
    SchemeFile read = read_scheme(read_text(file, "a scheme, as JSON"), place_of(file));
    for (const CodecCosts& costs : read.codec.costs) {
      if (const std::string unknown = unknown_device(catalogue, costs.device); !unknown.empty()) {
        warnings.push_back(place_of(file) + ": " + unknown);
      }
    }
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
  return warnings;
}

std::string unknown_device(const Catalogue& catalogue, const std::string& device) {
  const std::vector<std::string> known = catalogue.names("devices");
  if (std::find(known.begin(), known.end(), device) != known.end()) {
    return {};
  }
  const std::string close = nearest(device, known);
  return "no device profile is named \"" + device + "\"" +
         (close.empty() ? "" : " (did you mean " + close + "?)") +
         ": only a query whose device has that name uses these times";
}

std::string plugin_flags(const Request& request, const std::string& scheme) {
  Registry builtin;
  add_builtin(builtin);
  std::string text;
  if (!builtin.all().contains(scheme)) {
    for (const std::string& file : files(request, "plugin")) {
      text += " --plugin " + quoted(file);
    }
  }
  return text;
}

bool is_scheme_file(const std::string& argument) {
  const bool has_dot = argument.find('.') != std::string::npos;  // which no scheme's name has
  return argument.find('/') != std::string::npos || (has_dot && argument.find(':') == std::string::npos) ||
         argument.ends_with(".json") || argument.ends_with(".so");
}

std::vector<Scheme> schemes_of(const std::string& file) {
  if (is_shared_object(file)) {
    return load_plugin(file);
  }
  std::vector<Scheme> schemes;
  schemes.push_back(read_scheme(read_text(file, "a scheme, as JSON"), place_of(file)).scheme);
  return schemes;
}

bool has_code(const Scheme& scheme) {
  const Shape probe{64, 64, Element::f32};
  return scheme.make(Params(scheme.params, {}))->kernel(std::span(&probe, 1), Worker{}) != nullptr;
}

}  // namespace breakeven::cli
