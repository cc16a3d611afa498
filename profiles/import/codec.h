// Times of encode and decode, whatever program took them -> a codec profile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalogue.h"

namespace breakeven {

struct CodecOptions {
  std::string name = "imported", summary, source;  ///< of the profile
  std::string device = "cpu";
  Origin origin = Origin::measured;
  /// Checks a SPEC and returns the one text that stands for it. Throws Error (value). Empty: as it is
  /// written.
  std::function<std::string(const std::string& spec)> canonical;
};

struct ImportedCodec {
  CodecProfile codec;
  std::vector<std::string> notes;  ///< what was understood and what was left out, a line each
};

/// Rows `kernel,elements,encode_us,decode_us,n`: `kernel` is a SPEC, `elements` are the gradient's, and
/// decode_us is the time of n gathered payloads in one go (1 where the column is missing). The median counts
/// where a size is there several times. Throws Error (file) with the line.
ImportedCodec import_codec_csv(std::string_view text, const std::string& where, const CodecOptions& options);

}  // namespace breakeven
