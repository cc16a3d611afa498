// What is said of plugins, for their tests.
#pragma once

#include <functional>
#include <string>

#include "model/error.h"

namespace breakeven::test {

inline const std::string kPlugins = BREAKEVEN_PLUGINS "/";

/// "file: " or "value: " and the words of the error; without the folder of the plugins.
inline std::string refusal(const std::function<void()>& call) {
  try {
    call();
    return "nothing";
  } catch (const Error& error) {
    std::string words = error.what();
    if (const std::size_t at = words.find(kPlugins); at != std::string::npos) {
      words.erase(at, kPlugins.size());
    }
    return (error.fault() == Fault::file ? "file: " : "value: ") + words;
  }
}

}  // namespace breakeven::test
