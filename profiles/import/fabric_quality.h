// How well a line, several lines and the table itself predict what was measured.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profiles/import/fit.h"
#include "profiles/import/network.h"

namespace breakeven {

/// By sizes that each description was not made from: a line of words each. Nothing for too few sizes.
std::vector<std::string> quality_of(const Points& measured, Exchange exchange);

/// How far `rising`, monotone() of `measured`, is from it: a line of words. Empty where it is the same.
std::string moved_text(const Points& measured, const Points& rising);

/// Every time of one exchange among one group, by the bytes of its size.
using Samples = std::map<double, std::vector<Seconds>>;
/// That sizes measured several times were merged, and how far they lie apart: a line of words, which says
/// whose they are. Empty where none was.
std::string merged_text(const Samples& samples, const std::string& whose);

}  // namespace breakeven
