// Configurations of Hugging Face Transformers: any text is a model whose profile can be written, or an error.
#include "profiles/import/models.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto imported = read_or_refuse(
      [](std::string_view json, const std::string& where) { return import_huggingface(json, where, {}); },
      data, size);
  if (imported) {
    require(imported->model.workload.elements() > 0, "a model has parameters");
    require(!write_model(imported->model).empty(), "a model can be written");
  }
  return 0;
}
