#include "bench/peers_eigen.h"

#ifdef BREAKEVEN_EIGEN
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#endif

namespace breakeven::bench {

#ifdef BREAKEVEN_EIGEN
namespace {

using Index = Eigen::Index;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Factor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;
using Column = Eigen::VectorXf;

/// `F`: a column where the rank is one, for which Eigen has other code.
template <class F>
void left(const Factored& from, Index rank) {
  const auto rows = static_cast<Index>(from.rows), cols = static_cast<Index>(from.cols);
  const Eigen::Map<const F> q(from.q, cols, rank);
  Eigen::Map<F>(from.p, rows, rank).noalias() = Eigen::Map<const Matrix>(from.matrix, rows, cols) * q;
}

template <class F>
void right(const Factored& from, Index rank) {
  const auto rows = static_cast<Index>(from.rows), cols = static_cast<Index>(from.cols);
  const Eigen::Map<const Matrix> matrix(from.matrix, rows, cols);
  const Eigen::Map<const F> p(from.p, rows, rank);
  Eigen::Map<F>(from.q, cols, rank).noalias() = matrix.transpose() * p;
}

template <class F>
void decode(const Factored& to, Index rank) {
  const auto rows = static_cast<Index>(to.rows), cols = static_cast<Index>(to.cols);
  const Eigen::Map<const F> p(to.p, rows, rank), q(to.q, cols, rank);
  Eigen::Map<Matrix>(to.product, rows, cols).noalias() = p * q.transpose();
}

}  // namespace

bool eigen_runs_here() {
#ifdef __AVX2__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("bmi2") != 0;
#else
  return true;
#endif
}

void eigen_left(const Factored& matrix, std::size_t rank) {
  rank == 1 ? left<Column>(matrix, 1) : left<Factor>(matrix, static_cast<Index>(rank));
}

void eigen_right(const Factored& matrix, std::size_t rank) {
  rank == 1 ? right<Column>(matrix, 1) : right<Factor>(matrix, static_cast<Index>(rank));
}

void eigen_decode(const Factored& matrix, std::size_t rank) {
  rank == 1 ? decode<Column>(matrix, 1) : decode<Factor>(matrix, static_cast<Index>(rank));
}
#else
bool eigen_runs_here() {
  return false;
}

void eigen_left(const Factored&, std::size_t) {}
void eigen_right(const Factored&, std::size_t) {}
void eigen_decode(const Factored&, std::size_t) {}
#endif

}  // namespace breakeven::bench
