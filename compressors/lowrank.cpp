#include "compressors/lowrank.h"

#include <set>
#include <utility>

namespace breakeven {
namespace {

void add_gram(GramSchmidt& gram, double rows, double rank, bool launched) {
  // Column i is normalised and projected out of the rank - i columns to its right; each is read and written.
  gram.traffic += rows * rank * (rank + 1);
  gram.flops += 2 * rows * rank * rank;
  gram.launches += launched ? 3 * rank + 4 * (rank - 1) : 0;
}

}  // namespace

double capped_rank(const Shape& shape, double rank) {
  return std::min(rank, static_cast<double>(std::min(shape.rows, shape.cols)));
}

bool worth_factoring(const Shape& shape, double rank, double min_ratio) {
  const auto rows = static_cast<double>(shape.rows), cols = static_cast<double>(shape.cols);
  return !shape.is_vector() &&
         (min_ratio == 0 || (rows + cols) * capped_rank(shape, rank) * min_ratio < rows * cols);
}

Param min_ratio_param(std::string fallback) {
  Param param;
  param.name = "min_ratio";
  param.kind = Param::Kind::real;
  param.fallback = std::move(fallback);
  param.high = 1e6;
  param.help = "a matrix is coded when its factors are smaller by more than this; 0: every matrix";
  return param;
}

Factors factor(std::span<const Shape> matrices, double rank, bool batch_shapes) {
  Factors factors;
  std::set<std::pair<std::size_t, std::size_t>> seen;
  for (const Shape& shape : matrices) {
    const auto rows = static_cast<double>(shape.rows), cols = static_cast<double>(shape.cols);
    const double r = capped_rank(shape, rank);
    const bool launched = seen.insert({shape.rows, shape.cols}).second || !batch_shapes;
    factors.elements += rows * cols;
    factors.p += rows * r;
    factors.q += cols * r;
    factors.flops += 2 * rows * cols * r;
    factors.kernels += launched ? 1 : 0;
    add_gram(factors.gram_p, rows, r, launched);
    add_gram(factors.gram_q, cols, r, launched);
  }
  return factors;
}

Work operator+(Work a, const Work& b) {
  a.touched += b.touched;
  a.flops += b.flops;
  a.launches += b.launches;
  return a;
}

Work product(const Factors& factors, double width) {
  return coding(width * (factors.elements + factors.p + factors.q), factors.flops, factors.kernels, 0);
}

Work orthogonalise(const GramSchmidt& gram, double width) {
  return coding(width * gram.traffic, gram.flops, gram.launches, 0);
}

}  // namespace breakeven
