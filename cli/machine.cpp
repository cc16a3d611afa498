#include "cli/machine.h"

#include <sys/utsname.h>

#include <array>
#include <ctime>
#include <fstream>

namespace breakeven::cli {
namespace {

/// What follows "key :" in the first such line of a file of /proc.
std::string value_of(const char* file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) {
      const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
      return begin == std::string::npos ? std::string() : line.substr(begin);
    }
  }
  return {};
}

}  // namespace

std::string cpu_model() {
  std::string model = value_of("/proc/cpuinfo", "model name");
  utsname system{};
  if (model.empty() && uname(&system) == 0) {
    model = static_cast<const char*>(system.machine);
  }
  return model.empty() ? "unknown CPU" : model;
}

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

bool optimised() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return {text.data(), length};
}

std::optional<Bytes> available_memory() {
  const std::string text = value_of("/proc/meminfo", "MemAvailable");  // "16303820 kB", in units of 1024
  if (text.empty() || text.find_first_not_of("0123456789") == 0) {
    return std::nullopt;
  }
  return Bytes::of(1024 * std::stod(text));
}

}  // namespace breakeven::cli
