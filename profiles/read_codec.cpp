// Reads a codec profile: what encode and decode cost on one device.
#include "profiles/json_reader.h"
#include "profiles/read.h"
#include "profiles/read_fields.h"

namespace breakeven {
namespace {

Curve read_curve(const Json& json) {
  Curve curve;
  for (const Json& point : json.list(1)) {
    const std::vector<Json> cells = point.list(2, 2);
    const double elements = cells[0].number();
    const double before = curve.points.empty() ? 0 : curve.points.back().elements;
    if (!(elements > before)) {
      cells[0].fail(cells[0].scalar() + " is not above " + exact(before), "rising numbers of elements");
    }
    curve.points.push_back({elements, cells[1].not_negative<Seconds>()});
  }
  return curve;
}

}  // namespace

CodecProfile read_codec(std::string_view json, const std::string& where) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  root.only({"schema", "name", "summary", "source", "device", "origin", "costs"});
  check_schema(root);
  CodecProfile profile;
  profile.name = root.at("name", "the profile's name").text();
  profile.summary = text_or_empty(root, "summary");
  profile.source = text_or_empty(root, "source");
  const std::string device = root.at("device", "the name of a device").text();
  const Origin origin = read_origin(root.at("origin", "measured or published"));
  for (const Json& row : root.at("costs", "a list of costs").list(1)) {
    row.only({"scheme", "encode", "decode", "spread", "source"});
    CodecCosts costs;
    costs.scheme = row.at("scheme", "a scheme with its parameters").text();
    costs.device = device;
    costs.origin = origin;
    costs.encode = read_curve(row.at("encode", "a list of [elements, time]"));
    costs.decode = read_curve(row.at("decode", "a list of [elements, time]"));
    if (const auto spread = row.find("spread")) {
      costs.spread = spread->fraction();
      if (costs.spread < 0) {
        spread->fail("\"" + spread->scalar() + "\" must not be negative", "a fraction, such as 5%");
      }
      if (costs.spread > 1) {
        spread->fail("\"" + spread->scalar() + "\" must be at most 1", "a fraction, such as 5%");
      }
    }
    const auto source = row.find("source");
    costs.source = source ? source->text() : profile.source;
    profile.costs.push_back(std::move(costs));
  }
  return profile;
}

}  // namespace breakeven
