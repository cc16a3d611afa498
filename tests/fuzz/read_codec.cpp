// Codec profiles: any text is curves that give finite times, or an error.
#include <algorithm>

#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

void check_curve(const Curve& curve) {
  require(!curve.points.empty(), "a curve has a point");
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const Curve::Point& point = curve.points[i];
    require_above_zero(point.elements, "elements");
    require(i == 0 || point.elements > curve.points[i - 1].elements, "elements rise");
    require(curve.covers(point.elements), "a curve covers its points");
    const Seconds scale = std::max(point.time, i == 0 ? point.time : curve.points[i - 1].time);
    require(std::abs((curve.at(point.elements) - point.time).base()) <= 1e-9 * scale.base(),
            "a curve says what its points say");
  }
  for (const double elements : {0.0, 1.0, 1e6, 1e15}) {
    require_amount(curve.at(elements), "time of a coding");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = read_or_refuse(read_codec, data, size);
  if (!profile) {
    return 0;
  }
  require(!profile->name.empty(), "a profile has a name");
  require(!profile->costs.empty(), "a codec profile has costs");
  for (const CodecCosts& costs : profile->costs) {
    require(!costs.scheme.empty() && !costs.device.empty(), "costs are of a scheme on a device");
    require(costs.spread >= 0 && costs.spread <= 1, "a spread is a share");
    check_curve(costs.encode);
    check_curve(costs.decode);
  }
  return 0;
}
