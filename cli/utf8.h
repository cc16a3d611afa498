// The little that the writers need to know about UTF-8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace breakeven::cli {

/// Bytes of the well-formed character at the front of `text`, which is not empty; 0 when there is none.
constexpr std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80         ? 1
                             : lead >> 5 == 0x6  ? 2
                             : lead >> 4 == 0xe  ? 3
                             : lead >> 3 == 0x1e ? 4
                                                 : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  char32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 0x2) {
      return 0;
    }
    code = (code << 6) | (byte(i) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};  // longer forms than needed are not UTF-8
  return code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : length;
}

/// Columns that `text` takes on a terminal: its characters, none of which is wide in our output.
constexpr std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace breakeven::cli
