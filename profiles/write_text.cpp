#include "profiles/write_text.h"

#include <algorithm>
#include <cmath>

#include "model/error.h"
#include "profiles/json_reader.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

constexpr int kAllDigits = 17;  // with so many every double has a text of its own

struct TimeUnit {
  std::string_view name;
  double in_a_second;
};
constexpr TimeUnit kTimeUnits[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};

/// The largest unit that leaves at least 1 in front of it.
const TimeUnit& unit_of(Seconds time) {
  const auto* pick = std::find_if(std::begin(kTimeUnits), std::end(kTimeUnits), [&](const TimeUnit& unit) {
    return std::abs(time.base()) * unit.in_a_second >= 1;
  });
  return pick == std::end(kTimeUnits) ? kTimeUnits[3] : *pick;
}

/// The fewest digits of `scaled` that `read` takes back to `value`; empty when none do, as the unit rounds.
template <class Read>
std::string shortest(double value, double scaled, Read read) {
  for (int digits = 1; digits <= kAllDigits; ++digits) {
    for (const double near : {scaled, std::nextafter(scaled, 0), std::nextafter(scaled, HUGE_VAL)}) {
      std::string text = significant(near, digits);
      if (read(text) == value) {
        return text;
      }
    }
  }
  return {};
}

}  // namespace

std::string time_text(Seconds time) {
  const TimeUnit& unit = unit_of(time);
  const std::string number =
      shortest(time.base(), time.base() * unit.in_a_second,
               [&](const std::string& text) { return parse<Seconds>(text + std::string(unit.name)).base(); });
  return number.empty() ? exact(time.base()) + " s" : number + " " + std::string(unit.name);
}

std::string percentage(double share) {
  const std::string number =
      shortest(share, share * 100, [](const std::string& text) { return parse_fraction(text + "%"); });
  return number.empty() ? exact(share) : number + "%";
}

std::string number_text(double value) {
  return shortest(value, value, [](const std::string& text) { return parse_number(text); });
}

void add_member(std::string& json, const std::string& indent, std::string_view key,
                const std::string& value) {
  json += (json.ends_with('{') ? "\n" : ",\n") + indent + json_text(key) + ": " + value;
}

void add_text(std::string& json, const std::string& indent, std::string_view key, const std::string& text) {
  if (!text.empty()) {  // the reader takes no empty text
    add_member(json, indent, key, json_text(text));
  }
}

Seconds rounded(Seconds time, int digits) {
  const TimeUnit& unit = unit_of(time);
  return parse<Seconds>(significant(time.base() * unit.in_a_second, digits) + std::string(unit.name));
}

}  // namespace breakeven
