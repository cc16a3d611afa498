#include "compressors/matrices.h"

#include <algorithm>
#include <utility>

#include "compressors/random.h"
#include "compressors/simd/orthonormal.h"

namespace breakeven {
namespace {

Factor<const float> left(const Matrix& matrix, const float* p) {
  return {p + matrix.p, matrix.rows, matrix.rank};
}
Factor<const float> right(const Matrix& matrix, const float* q) {
  return {q + matrix.q, matrix.cols, matrix.rank};
}
Factor<float> left(const Matrix& matrix, float* p) {
  return {p + matrix.p, matrix.rows, matrix.rank};
}
Factor<float> right(const Matrix& matrix, float* q) {
  return {q + matrix.q, matrix.cols, matrix.rank};
}

/// work(offset in the message, block) for rows and columns of a matrix: its whole rows, then what there is of
/// the row after them.
template <class T, class F>
void each_block(const Matrix& matrix, T* data, std::size_t first_row, std::size_t last_row,
                std::size_t first_col, std::size_t last_col, F&& work) {
  const std::size_t whole = matrix.elements / matrix.cols, rest = matrix.elements % matrix.cols;
  const auto block = [&](std::size_t rows, std::size_t row, std::size_t end) {
    const std::size_t offset = matrix.first + row * matrix.cols + first_col;
    work(offset, Block<T>{data + offset, rows, end - first_col, matrix.cols, row, first_col});
  };
  if (first_row < std::min(last_row, whole)) {
    block(std::min(last_row, whole) - first_row, first_row, last_col);
  }
  if (first_row <= whole && whole < last_row && first_col < std::min(last_col, rest)) {
    block(1, whole, std::min(last_col, rest));
  }
}

Update update_of(const Matrix& matrix, const Matrices::Source& source, std::size_t offset) {
  if (source.error == nullptr) {
    return {};
  }
  return {source.error + offset, source.message + offset, left(matrix, source.p), right(matrix, source.q)};
}

}  // namespace

Matrices::Matrices(std::vector<Matrix> matrices, const Worker& worker)
    : matrices_(std::move(matrices)), seed_(worker.seed), threads_(worker.threads) {
  for (Matrix& matrix : matrices_) {
    matrix.p = p_size_;
    matrix.q = q_size_;
    p_size_ += matrix.rows * matrix.rank;
    q_size_ += matrix.cols * matrix.rank;
    elements_ += matrix.elements;
  }
  split(threads_.count());
}

/// Whole matrices for one thread, for more of them about eight parts for each. The bounds do not matter for
/// the results: a row of P and a column of Q^T are added up in one order.
void Matrices::split(std::size_t threads) {
  constexpr std::size_t kLeast = 65536;
  const std::size_t target = threads == 1 ? elements_ : std::max(kLeast, elements_ / (8 * threads));
  const auto add = [&](std::vector<Part>& parts, const Matrix& matrix, std::size_t length, std::size_t unit) {
    const std::size_t count = std::max<std::size_t>(1, matrix.elements / std::max<std::size_t>(target, 1));
    const std::size_t each = ((length + count - 1) / count + unit - 1) / unit * unit;
    for (std::size_t first = 0; first < length; first += each) {
      parts.push_back({&matrix, first, std::min(length, first + each)});
    }
  };
  for (const Matrix& matrix : matrices_) {
    add(rows_, matrix, matrix.rows, kPiece);
  }
  // Backwards: of what went through the caches forwards, the end is still there.
  for (std::size_t i = matrices_.size(); i-- > 0;) {
    add(cols_, matrices_[i], matrices_[i].cols, 16 * kPiece);
  }
}

void Matrices::multiply(const Source& source, const float* q, float* p) {
  const float* const data = source.error != nullptr ? source.error : source.message;
  threads_.run(rows_.size(), [&](std::size_t i) {
    const Part& part = rows_[i];
    const Matrix& matrix = *part.matrix;
    each_block(matrix, data, part.first, part.last, 0, matrix.cols,
               [&](std::size_t offset, const Block<const float>& block) {
                 breakeven::multiply(block, update_of(matrix, source, offset), right(matrix, q),
                                     left(matrix, p));
               });
  });
}

void Matrices::multiply_transposed(const Source& source, const float* p, float* q) {
  const float* const data = source.error != nullptr ? source.error : source.message;
  threads_.run(cols_.size(), [&](std::size_t i) {
    const Part& part = cols_[i];
    const Matrix& matrix = *part.matrix;
    each_block(matrix, data, 0, matrix.rows, part.first, part.last,
               [&](std::size_t offset, const Block<const float>& block) {
                 breakeven::multiply_transposed(block, update_of(matrix, source, offset), left(matrix, p),
                                                right(matrix, q), block.row > 0);
               });
  });
}

void Matrices::multiply_out(const float* p, const float* q, float* message) {
  constexpr std::size_t kCaches = std::size_t{1} << 21U;  // elements; more do not stay in most caches
  threads_.run(rows_.size(), [&](std::size_t i) {
    const Part& part = rows_[i];
    const Matrix& matrix = *part.matrix;
    each_block(matrix, message, part.first, part.last, 0, matrix.cols,
               [&](std::size_t, const Block<float>& block) {
                 breakeven::multiply_out(left(matrix, p), right(matrix, q), block, elements_ > kCaches);
               });
  });
}

template <class F>
void Matrices::each_factor(Side side, std::size_t step, F&& work) {
  threads_.run(matrices_.size(), [&](std::size_t i) {
    const std::uint64_t stream = random_at(random_at(seed_, step), 2 * i + (side == Side::left ? 0 : 1));
    work(matrices_[i], stream);
  });
}

void Matrices::orthonormalise(Side side, std::size_t step, const float* from, float* to) {
  each_factor(side, step, [&](const Matrix& matrix, std::uint64_t stream) {
    if (side == Side::left) {
      breakeven::orthonormalise(left(matrix, from), stream, left(matrix, to));
    } else {
      breakeven::orthonormalise(right(matrix, from), stream, right(matrix, to));
    }
  });
}

void Matrices::draw(Side side, std::size_t step, float* to) {
  each_factor(side, step, [&](const Matrix& matrix, std::uint64_t stream) {
    fill_random(stream, side == Side::left ? left(matrix, to) : right(matrix, to));
  });
}

}  // namespace breakeven
