// PowerSGD's products as Eigen does them. Compiled for newer instructions than the rest: this header holds no
// code that two translation units could share.
#pragma once

#include <cstddef>

namespace breakeven::bench {

/// A row-major matrix, its factors (column by column) and where their product goes.
struct Factored {
  std::size_t rows, cols;
  const float* matrix;
  float *p, *q, *product;
};

/// Whether Eigen was there, and this machine has the instructions.
bool eigen_runs_here();
/// P = M Q.
void eigen_left(const Factored& matrix, std::size_t rank);
/// Q = M^T P.
void eigen_right(const Factored& matrix, std::size_t rank);
/// P Q^T.
void eigen_decode(const Factored& matrix, std::size_t rank);

}  // namespace breakeven::bench
