// Colour: when it is used, and the few tones there are.
#pragma once

#include <string>
#include <string_view>

#include "cli/environment.h"

namespace breakeven::cli {

enum class Tone { plain, strong, faint, good, bad, unsure };

class Style {
 public:
  explicit Style(bool on) : on_(on) {}
  [[nodiscard]] bool on() const { return on_; }
  [[nodiscard]] std::string operator()(Tone tone, std::string_view text) const;

 private:
  bool on_;
};

/// `when`: auto, always or never. auto: a terminal, unless NO_COLOR is set and not empty (no-color.org) or
/// TERM is dumb.
Style style_for(std::string_view when, bool terminal, const Environment& environment);

}  // namespace breakeven::cli
