// What the world around the program tells it, as a value, so that tests can say something else.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace breakeven::cli {

struct Environment {
  bool out_is_terminal = false, err_is_terminal = false;
  std::map<std::string, std::string, std::less<>> variables;  ///< NO_COLOR, TERM

  [[nodiscard]] std::string_view get(std::string_view variable) const {
    const auto found = variables.find(variable);
    return found == variables.end() ? std::string_view{} : std::string_view(found->second);
  }
};

}  // namespace breakeven::cli
