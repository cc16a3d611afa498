#include "compressors/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <memory>

#include "compressors/plugin_file.h"
#include "compressors/plugin_table.h"
#include "model/error.h"

namespace breakeven {
namespace {

constexpr int kVersion = 1;
constexpr auto kKind = "a shared object made with breakeven_plugin.h";

std::string symbol(int version) {
  return "breakeven_plugin_v" + std::to_string(version);
}

/// What dlopen says, without the path that it begins with.
std::string reason(const std::string& path) {
  const char* const text = ::dlerror();  // NOLINT(concurrency-mt-unsafe)
  std::string said = text == nullptr ? "unknown reason" : text;
  if (said.starts_with(path + ": ")) {
    said.erase(0, path.size() + 2);
  }
  return said;
}

[[noreturn]] void refuse_version(void* library, const std::string& path) {
  constexpr int kVersions = 100;
  for (int version = 0; version < kVersions; ++version) {
    if (version != kVersion && ::dlsym(library, symbol(version).c_str()) != nullptr) {
      throw Error(Fault::file, path, "a plugin of version " + std::to_string(version) + " of the interface",
                  "version " + std::to_string(kVersion));
    }
  }
  throw Error(Fault::file, path, "not a plugin: it exports no " + symbol(kVersion), kKind);
}

/// Unless its symbol says that it is data.
bool is_function(void* address) {
  Dl_info info{};
  void* extra = nullptr;
  if (::dladdr1(address, &info, &extra, RTLD_DL_SYMENT) == 0 || extra == nullptr) {
    return true;  // not known
  }
  const auto type = ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(extra)->st_info);
  return type != STT_OBJECT && type != STT_TLS;
}

}  // namespace

std::vector<Scheme> load_plugin(const std::string& path) {
  // A name without a slash would be looked for among the system's libraries.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  if (const std::string why = unloadable(file); !why.empty()) {
    throw Error(Fault::file, path, "cannot be loaded: " + why, kKind);
  }
  const std::shared_ptr<void> library(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
    if (handle != nullptr) {
      ::dlclose(handle);
    }
  });
  if (library == nullptr) {
    throw Error(Fault::file, path, "cannot be loaded: " + reason(file), kKind);
  }
  void* const found = ::dlsym(library.get(), symbol(kVersion).c_str());
  if (found == nullptr) {
    refuse_version(library.get(), path);
  }
  if (!is_function(found)) {
    throw Error(Fault::file, path, symbol(kVersion) + " is data", "a function");
  }
  const auto entry = reinterpret_cast<decltype(&breakeven_plugin_v1)>(found);
  const breakeven_plugin_v1_table* table = nullptr;
  try {
    table = entry();
  } catch (...) {
    throw Error(Fault::file, path, symbol(kVersion) + " throws an exception", "a table");
  }
  if (table == nullptr) {
    throw Error(Fault::file, path, symbol(kVersion) + " gives NULL", "a table");
  }
  return schemes_of(*table, path, library);
}

}  // namespace breakeven
