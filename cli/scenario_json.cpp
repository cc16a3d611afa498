#include "cli/scenario_json.h"

namespace breakeven::cli {

void write_scenario(JsonWriter& json, const ScenarioSetup& setup) {
  json.begin_object().member("title", setup.title);
  json.key("inputs").begin_object();
  for (const Input& input : setup.inputs) {
    json.key(input.name).begin_object(true).key("value");
    input.value ? json.value(*input.value) : json.value(input.text);
    json.member("text", input.text).member("unit", input.unit).member("origin", name(input.origin));
    json.member("source", input.source).end_object();
  }
  json.end_object();
  json.key("warnings").begin_array();
  for (const std::string& warning : setup.warnings) {
    json.value(warning);
  }
  json.end_array().end_object();
}

}  // namespace breakeven::cli
