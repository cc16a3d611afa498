// Measured, published or given codec times in place of the roofline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

/// Seconds by gradient elements: linear between points, the first point's time below it (the fixed part), the
/// last segment's slope, where that rises, above. Points have rising elements; at least one.
struct Curve {
  struct Point {
    double elements = 0;
    Seconds time;
  };
  std::vector<Point> points;

  [[nodiscard]] Seconds at(double elements) const;
  [[nodiscard]] bool covers(double elements) const;
};

/// What somebody measured for one scheme on one device.
struct CodecCosts {
  std::string scheme;  ///< canonical spec it was taken with
  std::string device;  ///< name of a device profile, or free text
  Origin origin = Origin::measured;
  Curve encode, decode;  ///< decode: of ONE payload
  Curve decode_next;  ///< of each further payload in the same go, where that was measured: else as the first
  double spread = 0;  ///< relative, where stated
  std::string source;
  std::string file = {};  ///< that states it, for errors
};

/// `inner` with every Work's time taken from `costs`.
std::shared_ptr<const Compressor> with_costs(std::shared_ptr<const Compressor> inner, CodecCosts costs);
/// `inner` with a given encode and decode time for a gradient of `total_elements`; a message takes its share.
std::shared_ptr<const Compressor> with_given(std::shared_ptr<const Compressor> inner, Seconds encode,
                                             Seconds decode, std::size_t total_elements);

}  // namespace breakeven
