// Values -> profile text that the readers take.
#pragma once

#include <string>

#include "profiles/catalogue.h"

namespace breakeven {

/// A codec profile as JSON, one curve a line; read_codec() reads back the same values. Characters that a
/// profile cannot hold are replaced. Throws Error (value) when its costs are of more than one device or
/// origin.
std::string write_codec(const CodecProfile& profile);

/// A model profile as JSON, one tensor a line; read_model() reads back the same values. A module's FLOPs
/// stand at its first tensor. Throws Error (value) for what no profile can state: no tensors, two of one
/// name, an empty dimension, modules that are empty, out of order or of their neighbour's name.
std::string write_model(const ModelProfile& profile);

/// A fabric profile as JSON, one table a line; read_fabric() reads back the same values. Throws Error (value)
/// for one without links.
std::string write_fabric(const FabricProfile& profile);

/// `time` with `digits` significant digits in the unit that write_codec() picks for it: five are finer than
/// any clock's spread, and a profile stays readable.
Seconds rounded(Seconds time, int digits = 5);

}  // namespace breakeven
