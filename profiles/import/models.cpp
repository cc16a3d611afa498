#include "profiles/import/models.h"

namespace breakeven {

std::string with_commas(std::size_t count) {
  std::string text = std::to_string(count);
  for (std::size_t i = text.size(); i > 3;) {
    i -= 3;
    text.insert(i, ",");
  }
  return text;
}

std::string size_note(const Workload& workload) {
  const std::size_t tensors = workload.tensors.size();
  return with_commas(workload.elements()) + " parameters in " + with_commas(tensors) +
         (tensors == 1 ? " tensor" : " tensors");
}

}  // namespace breakeven
