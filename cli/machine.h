// What there is to say about the machine that times are taken on: nothing that names it or its user.
#pragma once

#include <optional>
#include <string>

#include "model/units.h"

namespace breakeven::cli {

/// "AMD EPYC 9354 32-Core Processor", as the system calls its CPU, else its architecture.
std::string cpu_model();
/// "g++ 12.2.0": what built this program.
std::string compiler();
/// Without optimisation times say nothing.
bool optimised();
/// "2025-11-30", UTC.
std::string today();
/// Memory that can be had without swapping; nothing where the system does not tell.
std::optional<Bytes> available_memory();

}  // namespace breakeven::cli
