#include "compressors/simd/target.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

namespace breakeven {

std::string simd_target() {
  return simd_targets().front();
}

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

void use_simd_target(std::string_view target) {
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t one : hwy::SupportedAndGeneratedTargets()) {
    if (target == hwy::TargetName(one)) {
      hwy::SetSupportedTargetsForTest(one);
    }
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace breakeven
