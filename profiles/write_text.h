// Values -> the shortest text that the readers take back to the same value, and members of JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "model/units.h"

namespace breakeven {

std::string time_text(Seconds time);    ///< "12.3 ms"
std::string percentage(double share);   ///< "2.5%"
std::string number_text(double value);  ///< a plain number

/// Adds `"key": value` on a line of its own to an object that is not closed yet.
void add_member(std::string& json, const std::string& indent, std::string_view key, const std::string& value);
/// The same for a text; nothing for an empty one.
void add_text(std::string& json, const std::string& indent, std::string_view key, const std::string& text);

}  // namespace breakeven
