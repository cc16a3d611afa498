// The tensors of an ONNX model's graph.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/stored_tensors.h"

namespace breakeven {

struct OnnxGraph {
  std::vector<StoredTensor> tensors;  ///< in the order in which nodes use them
  std::size_t constants = 0;          ///< left out: single numbers, running statistics, what no node uses
  std::size_t sparse = 0;             ///< left out
};

/// Throws Error (file) for what is no ONNX model, is cut off or makes no sense.
OnnxGraph read_onnx(std::string_view bytes, const std::string& where);

}  // namespace breakeven
