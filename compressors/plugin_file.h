// A shared object's file, looked at before dlopen maps it: what is cut short would kill the program there.
#pragma once

#include <string>

namespace breakeven {

/// Why it cannot be loaded, in a few words; empty where nothing speaks against it.
std::string unloadable(const std::string& path);

}  // namespace breakeven
