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

/// A scheme that somebody described by its sizes, with the times that were taken of it (none: no costs).
struct SchemeFile {
  Scheme scheme;  ///< without a kernel; its plans throw Error (file) where a message makes a size absurd
  CodecProfile codec;
};
SchemeFile read_scheme(std::string_view json, const std::string& where);

}  // namespace breakeven
