// Tensors that a file holds by name: which of them are trained, and in what order a forward pass meets them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/models.h"

namespace breakeven {

struct StoredTensor {
  std::string name;
  std::vector<std::size_t> dims;
  bool floating = true;  ///< integers and booleans are never trained
};

/// The product of `dims` and `size`; more than 1e15 becomes infinity.
double product_of(const std::vector<std::size_t>& dims, double size = 1);

/// Storage order is often alphabetical. Numbers in names count up ("layers.2" before "layers.10"), embeddings
/// and stems come first, heads last; the rest stays as it is stored, a module's tensors together.
void sort_as_computed(std::vector<StoredTensor>& tensors);

/// The model of those tensors that are trained, without FLOPs. Says what it leaves out: buffers, by their
/// names, and what is no floating-point number or empty. Throws Error (file) when nothing is left or there
/// are more than 1e15 elements.
ImportedModel model_of(const std::vector<StoredTensor>& tensors, const ModelOptions& options,
                       const std::string& where);

}  // namespace breakeven
