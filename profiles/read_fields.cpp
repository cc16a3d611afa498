#include "profiles/read_fields.h"

#include <algorithm>

namespace breakeven {

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

double read_share(const Json& json) {
  const double share = json.fraction();
  if (!(share > 0) || share > 1) {
    json.fail("\"" + json.scalar() + "\" is out of range", "above 0 and at most 1, such as 92%");
  }
  return share;
}

}  // namespace breakeven
