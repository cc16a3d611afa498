// The setup of an answer in JSON, the same in every command.
#pragma once

#include "cli/json_writer.h"
#include "profiles/setup.h"

namespace breakeven::cli {

/// An object: title, every input with its value and origin, warnings.
void write_scenario(JsonWriter& json, const ScenarioSetup& setup);

}  // namespace breakeven::cli
