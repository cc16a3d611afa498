// Heads of safetensors files: any bytes are tensors in an order of their own, or an error.
#include "profiles/import/safetensors.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto head = read_or_refuse(
      [](std::string_view bytes, const std::string& where) {
        return read_safetensors_head(bytes, static_cast<double>(bytes.size()), where);
      },
      data, size);
  if (!head) {
    return 0;
  }
  require_amount(head->bytes, "bytes of data");
  const std::size_t before = head->tensors.size();
  sort_as_computed(head->tensors);
  require(head->tensors.size() == before, "sorting keeps the tensors");
  const auto model = read_or_refuse(
      [&](std::string_view, const std::string& where) { return model_of(head->tensors, {}, where); }, data,
      size);
  if (model) {
    require_above_zero(static_cast<double>(model->model.workload.elements()), "elements");
    require(static_cast<double>(model->model.workload.elements()) <= 1e15, "elements do not overflow");
  }
  return 0;
}
