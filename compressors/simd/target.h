// Which vector instructions the kernels run with: chosen when the program runs, by Highway.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// "AVX3_ZEN4", "AVX2", "SSE2" ...: what kernels use from now on.
std::string simd_target();
/// Every target that is compiled in and that this machine has, best first.
std::vector<std::string> simd_targets();
/// Kernels use this one from now on, at every thread; empty: the best. For tests: not while a kernel runs.
void use_simd_target(std::string_view target);

}  // namespace breakeven
