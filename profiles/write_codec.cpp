// Writes a codec profile, as short as its values allow.
#include <algorithm>
#include <string_view>

#include "model/error.h"
#include "profiles/json_reader.h"
#include "profiles/write.h"
#include "profiles/write_text.h"

namespace breakeven {
namespace {

void add_curve(std::string& json, std::string_view key, const Curve& curve) {
  if (curve.points.empty()) {
    return;
  }
  std::string points;
  for (const Curve::Point& point : curve.points) {
    points += (points.empty() ? "[" : ", [") + number_text(point.elements) + ", " +
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

}  // namespace breakeven
