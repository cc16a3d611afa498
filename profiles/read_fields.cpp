#include "profiles/read_fields.h"

#include <algorithm>
#include <cmath>

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

void read_curves(const Json& row, CodecCosts& costs) {
  costs.encode = read_curve(row.at("encode", "a list of [elements, time]"));
  costs.decode = read_curve(row.at("decode", "a list of [elements, time]"));
  if (const auto next = row.find("decode_next")) {
    costs.decode_next = read_curve(*next);
  }
  if (const auto spread = row.find("spread")) {
    costs.spread = spread->fraction();
    if (costs.spread < 0) {
      spread->fail("\"" + spread->scalar() + "\" must not be negative", "a fraction, such as 5%");
    }
    if (costs.spread > 1) {
      spread->fail("\"" + spread->scalar() + "\" must be at most 1", "a fraction, such as 5%");
    }
  }
}

std::size_t read_choice(const Json& json, const std::vector<std::string>& names, std::string_view what) {
  const std::string& text = json.text();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    json.fail("unknown " + std::string(what) + " \"" + text + "\"", one_of(names, text));
  }
  return static_cast<std::size_t>(found - names.begin());
}

Precision read_precision(const Json& json) {
  return static_cast<Precision>(read_choice(json, {"fp32", "tf32", "fp16", "bf16"}, "precision"));
}

Origin read_origin(const Json& json) {
  return read_choice(json, {"measured", "published"}, "origin") == 0 ? Origin::measured : Origin::published;
}

double steepness(const Table::Point& left, const Table::Point& right) {
  return std::log(right.time / left.time) / std::log(right.payload / left.payload);
}

double read_share(const Json& json) {
  const double share = json.fraction();
  if (!(share > 0) || share > 1) {
    json.fail("\"" + json.scalar() + "\" is out of range", "above 0 and at most 1, such as 92%");
  }
  return share;
}

}  // namespace breakeven
