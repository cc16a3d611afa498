#include "cli/colour.h"

namespace breakeven::cli {

std::string Style::operator()(Tone tone, std::string_view text) const {
  constexpr std::string_view codes[] = {"", "1", "2", "32", "31", "33"};  // SGR parameters of ECMA-48
  if (!on_ || tone == Tone::plain || text.empty()) {
    return std::string(text);
  }
  std::string out = "\x1b[";
  out.append(codes[static_cast<int>(tone)]).append("m").append(text).append("\x1b[0m");
  return out;
}

Style style_for(std::string_view when, bool terminal, const Environment& environment) {
  if (when == "always" || when == "never") {
    return Style(when == "always");
  }
  return Style(terminal && environment.get("NO_COLOR").empty() && environment.get("TERM") != "dumb");
}

}  // namespace breakeven::cli
