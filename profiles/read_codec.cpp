// Reads a codec profile: what encode and decode cost on one device.
#include <algorithm>

#include "profiles/json_reader.h"
#include "profiles/read.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

std::vector<std::pair<std::string, std::string>> read_conditions(const Json& json) {
  std::vector<std::pair<std::string, std::string>> conditions;
  for (const std::string& key : json.keys()) {
    if (key.empty()) {
      json.fail("a key is empty", "the name of a condition");
    }
    conditions.emplace_back(key, json.at(key, "text").text());
  }
  return conditions;
}

}  // namespace

CodecProfile read_codec(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "device", "origin", "conditions", "costs"});
  check_schema(root);
  CodecProfile profile;
  profile.name = root.at("name", "the profile's name").text();
  profile.summary = text_or_empty(root, "summary");
  profile.source = text_or_empty(root, "source");
  const std::string device = root.at("device", "the name of a device").text();
  const Origin origin = read_origin(root.at("origin", "measured or published"));
  if (const auto conditions = root.find("conditions")) {
    profile.conditions = read_conditions(*conditions);
  }
  for (const Json& row : root.at("costs", "a list of costs").list(1)) {
    row.only({"scheme", "encode", "decode", "decode_next", "spread", "source"});
    CodecCosts costs;
    costs.scheme = row.at("scheme", "a scheme with its parameters").text();
    costs.device = device;
    costs.file = where;
    costs.origin = origin;
    read_curves(row, costs);
    const auto source = row.find("source");
    costs.source = source ? source->text() : profile.source;
    if (std::any_of(profile.costs.begin(), profile.costs.end(),
                    [&](const CodecCosts& known) { return known.scheme == costs.scheme; })) {
      row.fail("the scheme \"" + costs.scheme + "\" is there twice", "each scheme once");
    }
    profile.costs.push_back(std::move(costs));
  }
  return profile;
}

}  // namespace breakeven
