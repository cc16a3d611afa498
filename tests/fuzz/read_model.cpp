// Model profiles: any text is a model whose numbers can be computed with, or an error.
#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = read_or_refuse(read_model, data, size);
  if (!model) {
    return 0;
  }
  require(!model->name.empty(), "a model has a name");
  Workload workload = model->workload;
  require(!workload.tensors.empty(), "a model has tensors");
  double elements = 0;
  for (const Tensor& tensor : workload.tensors) {
    require(tensor.module < workload.modules.size(), "a tensor belongs to a module");
    const Shape shape = workload.shape(tensor);
    require(tensor.elements() >= 1, "a tensor holds something");
    require(shape.elements() == tensor.elements(), "a tensor's matrix holds its elements");
    elements += static_cast<double>(tensor.elements());
  }
  require(elements <= 1e15, "elements do not overflow");
  require(static_cast<double>(workload.elements()) == elements, "the tensors add up");
  require_amount(workload.forward_flops(), "forward FLOPs");
  require_amount(workload.backward_flops(), "backward FLOPs");
  for (const Timing& timing : model->timings) {
    require_above_zero(timing.batch, "batch");
    require_amount(timing.forward, "forward");
    require_above_zero(timing.backward, "backward");
    require_amount(timing.other, "other");
    set_times(workload, timing.forward, timing.backward);
    for (const Module& module : workload.modules) {
      require_amount(module.forward, "a module's forward");
      require_amount(module.backward, "a module's backward");
    }
  }
  return 0;
}
