// The head of a safetensors file: what it stores and where, without the data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/stored_tensors.h"

namespace breakeven {

struct SafetensorsHead {
  std::vector<StoredTensor> tensors;  ///< as they are stored
  double bytes = 0;                   ///< of all of them
  bool data_is_there = true;          ///< the file does not end before the last of them
};

/// `start` is the start of the file or all of it, `size` the whole file's where it is known. Throws Error
/// (file): a head that is cut off, lies about its length or is larger than 100 MB, an unknown type, a shape
/// that its bytes do not hold, bytes that two tensors share or none has.
SafetensorsHead read_safetensors_head(std::string_view start, std::optional<double> size,
                                      const std::string& where);

/// Whether it is the JSON of an index over several files.
bool is_safetensors_index(std::string_view start);

}  // namespace breakeven
