// Text that a user names, whatever it is for.
#pragma once

#include <string>
#include <string_view>

namespace breakeven {

/// read_text() of catalogue.h, whose errors say that they expected `what`: "a profile".
std::string read_text(const std::string& path, const std::string& what);
/// Editors and shells of Windows put UTF-8's byte order mark in front of text. read_text() leaves it out.
std::string_view without_byte_order_mark(std::string_view text);

}  // namespace breakeven
