// Writes a codec profile, as short as its values allow.
#include <algorithm>
#include <cmath>
#include <string_view>

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

std::string elements_text(double elements) {
  return shortest(elements, elements, [](const std::string& text) { return parse_number(text); });
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

void add_curve(std::string& json, std::string_view key, const Curve& curve) {
  if (curve.points.empty()) {
    return;
  }
  std::string points;
  for (const Curve::Point& point : curve.points) {
    points += (points.empty() ? "[" : ", [") + elements_text(point.elements) + ", " +
              json_text(time_text(point.time)) + "]";
  }
  add_member(json, "      ", key, "[" + points + "]");
}

std::string costs_text(const CodecCosts& costs, const std::string& source_of_all) {
  std::string json = "    {";
  add_text(json, "      ", "scheme", costs.scheme);
  add_curve(json, "encode", costs.encode);
  add_curve(json, "decode", costs.decode);
  add_curve(json, "decode_next", costs.decode_next);
  if (costs.spread > 0) {
    add_member(json, "      ", "spread", json_text(percentage(costs.spread)));
  }
  add_text(json, "      ", "source", costs.source == source_of_all ? std::string() : costs.source);
  return json + "\n    }";
}

/// What the whole file states once.
const CodecCosts& check_one_device(const CodecProfile& profile) {
  const auto other = [&](const CodecCosts& costs) {
    return costs.device != profile.costs.front().device || costs.origin != profile.costs.front().origin;
  };
  if (profile.costs.empty() || std::any_of(profile.costs.begin(), profile.costs.end(), other)) {
    throw Error(Fault::value, "codec profile",
                profile.costs.empty() ? "has no costs" : "has costs of several devices or origins",
                "costs of one device and one origin");
  }
  return profile.costs.front();
}

}  // namespace

std::string write_codec(const CodecProfile& profile) {
  const CodecCosts& common = check_one_device(profile);
  std::string json = "{";
  add_member(json, "  ", "schema", "1");
  add_text(json, "  ", "name", profile.name);
  add_text(json, "  ", "summary", profile.summary);
  add_text(json, "  ", "source", profile.source);
  add_text(json, "  ", "device", common.device);
  add_text(json, "  ", "origin", std::string(name(common.origin)));
  std::string conditions = "{";
  for (const auto& [key, text] : profile.conditions) {
    add_text(conditions, "    ", key, text);
  }
  if (conditions != "{") {
    add_member(json, "  ", "conditions", conditions + "\n  }");
  }
  std::string rows;
  for (const CodecCosts& costs : profile.costs) {
    rows += (rows.empty() ? "" : ",\n") + costs_text(costs, profile.source);
  }
  add_member(json, "  ", "costs", "[\n" + rows + "\n  ]");
  return json + "\n}\n";
}

Seconds rounded(Seconds time, int digits) {
  const TimeUnit& unit = unit_of(time);
  return parse<Seconds>(significant(time.base() * unit.in_a_second, digits) + std::string(unit.name));
}

}  // namespace breakeven
