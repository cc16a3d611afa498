// Values -> profile text that the readers take.
#pragma once

#include <string>

#include "profiles/catalogue.h"

namespace breakeven {

/// A codec profile as JSON, one curve a line; read_codec() reads back the same values. Characters that a
/// profile cannot hold are replaced. Throws Error (value) when its costs are of more than one device or
/// origin.
std::string write_codec(const CodecProfile& profile);

/// `time` with `digits` significant digits in the unit that write_codec() picks for it: five are finer than
/// any clock's spread, and a profile stays readable.
Seconds rounded(Seconds time, int digits = 5);

}  // namespace breakeven
