#include "cli/progress.h"

#include <ostream>

namespace breakeven::cli {

Progress::Progress(const Context& context) : err_(context.err) {
  const std::string when = context.request.get("progress", "auto");
  on_ = when == "always" ||
        (when == "auto" && context.environment.err_is_terminal && !context.request.has("quiet"));
}

bool Progress::due() const {
  return on_ && std::chrono::steady_clock::now() - last_ > std::chrono::milliseconds(100);
}

void Progress::say(std::string_view text) {
  if (on_) {
    last_ = std::chrono::steady_clock::now();
    shown_ = true;
    err_ << "\r" << text << "\033[K" << std::flush;
  }
}

void Progress::end() {
  if (shown_) {
    err_ << "\r\033[K" << std::flush;
    shown_ = false;
  }
}

}  // namespace breakeven::cli
