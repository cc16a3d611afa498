// Matrices in plain 64-bit arithmetic: what the products and bases of the kernels are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "compressors/simd/lowrank.h"
#include "compressors/trial/gradients.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {

/// rows x cols numbers in 64 bits: what everything is compared with.
struct Dense {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;

  Dense(std::size_t r, std::size_t c) : rows(r), cols(c), values(r * c) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * cols + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * cols + j]; }
};
inline Dense dense(Factor<const float> factor) {
  Dense all(factor.size, factor.rank);
  for (std::size_t i = 0; i < factor.size; ++i) {
    for (std::size_t c = 0; c < factor.rank; ++c) {
      all(i, c) = static_cast<double>(factor.at(i)[c * factor.step(i)]);
    }
  }
  return all;
}
inline Dense dense(const float* values, std::size_t rows, std::size_t cols) {
  Dense all(rows, cols);
  std::copy_n(values, rows * cols, all.values.begin());
  return all;
}
inline Dense transposed(const Dense& a) {
  Dense all(a.cols, a.rows);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t j = 0; j < a.cols; ++j) {
      all(j, i) = a(i, j);
    }
  }
  return all;
}
inline Dense operator*(const Dense& a, const Dense& b) {
  Dense all(a.rows, b.cols);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.cols; ++k) {
      for (std::size_t j = 0; j < b.cols; ++j) {
        all(i, j) += a(i, k) * b(k, j);
      }
    }
  }
  return all;
}
inline Dense combined(const Dense& a, double factor, const Dense& b) {
  Dense all = a;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    all.values[i] += factor * b.values[i];
  }
  return all;
}
inline double length(const Dense& a) {
  return std::sqrt(std::inner_product(a.values.begin(), a.values.end(), a.values.begin(), 0.0));
}
inline double distance(const Dense& a, const Dense& b) {
  return length(combined(a, -1, b));
}
/// Gram and Schmidt.
inline Dense basis(Dense q) {
  for (std::size_t c = 0; c < q.cols; ++c) {
    for (std::size_t k = 0; k <= c; ++k) {
      double share = 0;
      for (std::size_t i = 0; i < q.rows; ++i) {
        share += q(i, k) * q(i, c);
      }
      for (std::size_t i = 0; i < q.rows; ++i) {
        q(i, c) = k < c ? q(i, c) - share * q(i, k) : q(i, c) / std::sqrt(share);
      }
    }
  }
  return q;
}

inline std::vector<float> random_values(std::size_t n, std::uint64_t seed) {
  std::vector<float> values(n);
  fill_gradient(values, Message{{n, 1}}, GradientKind::normal, seed);
  const float scale = 1.0F / *std::max_element(values.begin(), values.end());
  for (float& value : values) {
    value *= scale;
  }
  return values;
}
inline Factor<const float> factor(const std::vector<float>& values, std::size_t size, std::size_t rank) {
  return {values.data(), size, rank};
}
inline Factor<float> factor(std::vector<float>& values, std::size_t size, std::size_t rank) {
  return {values.data(), size, rank};
}

constexpr double kRounding = 1e-5;  // of sums of a few hundred floats, relative to their length

}  // namespace breakeven::test
