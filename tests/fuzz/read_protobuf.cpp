// Protocol buffers, as ONNX models: any bytes are a graph's tensors, or an error that names the file.
#include "profiles/import/onnx.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = read_or_refuse(read_onnx, data, size);
  if (!graph) {
    return 0;
  }
  for (const StoredTensor& tensor : graph->tensors) {
    require(!tensor.name.empty(), "a tensor has a name");
    require(product_of(tensor.dims) >= 0, "a tensor has a size");
  }
  return 0;
}
