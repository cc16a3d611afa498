// Tables of torchinfo: any text is a model whose profile can be written and read back, or an error.
#include "profiles/import/models.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto imported = read_or_refuse(
      [](std::string_view text, const std::string& where) { return import_torchinfo(text, where, {}); }, data,
      size);
  if (!imported) {
    return 0;
  }
  const Workload& workload = imported->model.workload;
  require(!workload.tensors.empty() && workload.elements() > 0, "a model has parameters");
  require_amount(workload.forward_flops(), "forward FLOPs");
  const std::string text = write_model(imported->model);
  require(!is_printable_ascii(text_of(data, size)) || write_model(read_model(text, "written")) == text,
          "a profile reads back as it was written");
  return 0;
}
