// A line on the terminal that is written over while a command works.
#pragma once

#include <chrono>
#include <string_view>

#include "cli/command.h"

namespace breakeven::cli {

/// Shown as --progress says: by default on a terminal, unless --quiet.
class Progress {
 public:
  explicit Progress(const Context& context);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { end(); }

  /// Whether a new text is wanted: ten times a second.
  [[nodiscard]] bool due() const;
  void say(std::string_view text);
  /// Takes the line away.
  void end();

 private:
  std::ostream& err_;
  bool on_ = false, shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace breakeven::cli
