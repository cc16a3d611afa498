// What the low-rank schemes share: which matrices are worth it, their factors, the cost of each step.
#pragma once

#include <vector>

#include "compressors/matrices.h"
#include "compressors/params.h"
#include "compressors/plan.h"

namespace breakeven {

/// min(rows, cols, rank).
double capped_rank(const Shape& shape, double rank);
/// A matrix whose two factors, min_ratio times, are smaller than itself; min_ratio 0 takes every matrix.
/// Vectors never.
bool worth_factoring(const Shape& shape, double rank, double min_ratio);
Param min_ratio_param(std::string fallback);

/// Gram-Schmidt of one factor of every matrix. A column is one dependent step: 3 kernels normalise it (norm,
/// add, divide), 4 take it out of the columns to its right (multiply, sum, multiply, subtract), as PyTorch's
/// powerSGD_hook starts them.
struct GramSchmidt {
  double traffic = 0;  ///< elements read and written
  double flops = 0;    ///< 2 rows rank^2
  double launches = 0;
};

/// The factors of the matrices of one message: rows x rank and cols x rank.
struct Factors {
  double elements = 0;  ///< of the matrices
  double p = 0, q = 0;  ///< elements of the left and right factors
  double flops = 0;     ///< of one product with a factor
  double kernels = 0;   ///< that one product takes: one a matrix, or one a shape
  GramSchmidt gram_p, gram_q;
};
Factors factor(std::span<const Shape> matrices, double rank, bool batch_shapes);

/// The matrices among the tensors of a message, for which `coded` holds.
template <class Coded>
std::vector<Matrix> matrices_of(std::span<const Shape> tensors, double rank, Coded coded) {
  std::vector<Matrix> matrices;
  std::size_t first = 0;
  for (const Shape& shape : tensors) {
    if (shape.elements() > 0 && coded(shape)) {
      Matrix matrix;
      matrix.first = first;
      matrix.elements = shape.elements();
      matrix.rows = shape.rows;
      matrix.cols = shape.cols;
      matrix.rank = static_cast<std::size_t>(capped_rank(shape, rank));
      matrices.push_back(matrix);
    }
    first += shape.elements();
  }
  return matrices;
}

/// The sum of two works that run one after the other, as part of one coding.
Work operator+(Work a, const Work& b);
/// Matrix times factor, or factor times factor: either way the matrix and both factors are touched once.
Work product(const Factors& factors, double width);
Work orthogonalise(const GramSchmidt& gram, double width);

}  // namespace breakeven
