// A scheme of a plugin examined in a process of its own: what crashes, ends or stops it is a finding.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "compressors/trial/conformance.h"

namespace breakeven::cli {

struct Examined {
  std::string scheme;  ///< its spec
  Conformance result;
};

/// What `examine` gives; it must call `before` with the place before each step that may go wrong. `scheme` is
/// the name where it does not come so far as to say its own. Throws what it throws, if that is an Error.
Examined examined_apart(
    const std::string& scheme, std::chrono::milliseconds longest_step,
    const std::function<Examined(const std::function<void(const std::string& where)>& before)>& examine);

}  // namespace breakeven::cli
