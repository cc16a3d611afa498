// Published cases: any text is a source whose cases can be told apart, or an error.
#include <algorithm>
#include <set>

#include "profiles/published.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = read_or_refuse(read_published, data, size);
  if (!source) {
    return 0;
  }
  require(!source->cases.empty(), "a source has a case");
  require(source->least_within || source->largest_error, "a bound holds something");
  require(source->least_within.value_or(1) > 0 && source->least_within.value_or(1) <= 1, "a share is one");
  require_above_zero(source->largest_error.value_or(1), "an error");
  std::set<std::string> ids;
  for (const PublishedCase& one : source->cases) {
    require(ids.insert(one.id).second, "an id is there once:", one.id);
    require_amount(one.tolerance.value, "a tolerance");
    if (one.figure == Figure::ordering) {
      require(one.order.size() >= 2, "an ordering has neighbours:", one.id);
      continue;
    }
    require_above_zero(one.expected, "an expected value");
    require(!one.scheme.empty(), "a case has a scheme:", one.id);
    for (const auto& value : one.options) {
      require(!value.second.empty(), "a value is not empty:", value.first);
    }
  }
  for (const PublishedCase& one : source->cases) {
    require(std::all_of(one.order.begin(), one.order.end(),
                        [&](const std::string& id) { return ids.contains(id); }),
            "an ordering knows its cases:", one.id);
  }
  return 0;
}
