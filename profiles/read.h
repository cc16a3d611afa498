// Profile text -> values, strictly: every quantity with its unit, every key known, every error with its file
// and JSON path.
#pragma once

#include <string>
#include <string_view>

#include "model/compressor.h"
#include "profiles/catalogue.h"

namespace breakeven {

/// `where` names the file in errors: "FILE: /timings/0/backward: ...". All throw Error (file).
ModelProfile read_model(std::string_view json, const std::string& where);
DeviceProfile read_device(std::string_view json, const std::string& where);
FabricProfile read_fabric(std::string_view json, const std::string& where);
CodecProfile read_codec(std::string_view json, const std::string& where);
/// Not JSON: "gap_us,bytes" and a row a gradient, or the log of arXiv 2006.10103's authors (a line of
/// explanation, the number of batches, the number of rows, the rows). Errors name the line.
BackwardLog read_backward_log(std::string_view text, const std::string& where);

/// A scheme that somebody described by its sizes, with the times that were taken of it (none: no costs).
struct SchemeFile {
  Scheme scheme;  ///< without a kernel; its plans throw Error (file) where a message makes a size absurd
  CodecProfile codec;
};
SchemeFile read_scheme(std::string_view json, const std::string& where);

}  // namespace breakeven
