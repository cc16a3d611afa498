// Tables of tensors: any text is a model whose profile can be written and read back, or an error.
#include "profiles/import/models.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto imported = read_or_refuse(
      [](std::string_view text, const std::string& where) { return import_tensor_csv(text, where, {}); },
      data, size);
  if (!imported) {
    return 0;
  }
  require(imported->model.workload.elements() > 0, "a model has elements");
  const std::string text = write_model(imported->model);
  require(!is_printable_ascii(text_of(data, size)) || write_model(read_model(text, "written")) == text,
          "a profile reads back as it was written");
  return 0;
}
