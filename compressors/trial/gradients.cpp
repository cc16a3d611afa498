#include "compressors/trial/gradients.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "compressors/random.h"

namespace breakeven {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"normal",  "heavy-tailed", "constant", "zero",
                                                    "one-hot", "with NaN",     "with Inf", "denormal"};

/// One normal number (Box, Muller).
double normal_at(std::uint64_t stream, std::uint64_t position) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform_at(stream, 2 * position)));
  return radius * std::cos(2 * std::numbers::pi * uniform_at(stream, 2 * position + 1));
}

/// Student's t with two degrees of freedom: its distribution function has a closed inverse.
double student_at(std::uint64_t stream, std::uint64_t position) {
  const double u = std::max(uniform_at(stream, position), 0x1p-53);
  return (2 * u - 1) / std::sqrt(2 * u * (1 - u));
}

void fill_random(std::span<float> gradient, std::span<const Shape> tensors, GradientKind kind,
                 std::uint64_t seed) {
  std::size_t first = 0;
  for (std::size_t tensor = 0; tensor < tensors.size(); ++tensor) {
    // The scale is the layer's, the same at every worker.
    const double scale = 3e-5 * std::pow(1e-2 / 3e-5, uniform_at(0, tensor));
    const std::size_t last = first + tensors[tensor].elements();
    for (std::size_t i = first; i < last; ++i) {
      const double value = kind == GradientKind::heavy_tailed ? student_at(seed, i) : normal_at(seed, i);
      gradient[i] = static_cast<float>(scale * value);
    }
    first = last;
  }
}

/// About one element in 100, and always the first and the last.
void sprinkle(std::span<float> gradient, float value, std::uint64_t seed) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (i == 0 || i + 1 == gradient.size() || random_at(seed + 1, i) % 100 == 0) {
      gradient[i] = i % 2 == 0 ? value : -value;
    }
  }
}

}  // namespace

std::string_view name(GradientKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

const std::vector<GradientKind>& gradient_kinds() {
  static const std::vector<GradientKind> kinds = [] {
    std::vector<GradientKind> all;
    for (std::size_t i = 0; i < kNames.size(); ++i) {
      all.push_back(static_cast<GradientKind>(i));
    }
    return all;
  }();
  return kinds;
}

void fill_gradient(std::span<float> gradient, std::span<const Shape> tensors, GradientKind kind,
                   std::uint64_t seed) {
  switch (kind) {
    case GradientKind::constant:
      std::fill(gradient.begin(), gradient.end(), 0.125F);
      return;
    case GradientKind::zero:
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      return;
    case GradientKind::one_hot:
      std::fill(gradient.begin(), gradient.end(), 0.0F);
      if (!gradient.empty()) {
        gradient[random_at(seed, 0) % gradient.size()] = -2.5F;
      }
      return;
    case GradientKind::denormal:
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = static_cast<float>(normal_at(seed, i)) * 1e-40F;
      }
      return;
    default:
      break;
  }
  fill_random(gradient, tensors, kind, seed);
  if (kind == GradientKind::with_nan) {
    sprinkle(gradient, std::numeric_limits<float>::quiet_NaN(), seed);
  } else if (kind == GradientKind::with_inf) {
    sprinkle(gradient, std::numeric_limits<float>::infinity(), seed);
  }
}

}  // namespace breakeven
