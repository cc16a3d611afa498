// Products of a matrix with a few columns: each reads the matrix once, at the speed of memory where the
// columns are few.
#pragma once

#include <algorithm>
#include <cstddef>

namespace breakeven {

/// Columns come in pieces of so many elements, whatever vectors the machine has.
constexpr std::size_t kPiece = 16;

/// `rank` columns of `size` elements. The first kPiece elements of each column lie one column after the
/// other, then the next kPiece elements of each, and so on; the last pieces may be shorter. So what belongs
/// together is together in the caches, whatever the sizes.
template <class T>
struct Factor {
  T* data = nullptr;
  std::size_t size = 0, rank = 0;

  /// Where element i of column 0 lies, and how far the same element of the next column is.
  [[nodiscard]] T* at(std::size_t i) const { return data + i / kPiece * kPiece * rank + i % kPiece; }
  [[nodiscard]] std::size_t step(std::size_t i) const { return std::min(kPiece, size - i / kPiece * kPiece); }
};

/// Part of a matrix that lies row by row, `stride` elements apart: it begins at row `row` and column `col` of
/// the matrix, multiples of kPiece; a single row may be any.
template <class T>
struct Block {
  T* data = nullptr;
  std::size_t rows = 0, cols = 0, stride = 0, row = 0, col = 0;
};
/// Before a block is used, block += gradient - p q^T: what turns the last step's matrix into its error and
/// adds the gradient costs no pass of its own. `data` is the block's own; the gradient lies as it does. No
/// data: the block stays as it is.
struct Update {
  float* data = nullptr;
  const float* gradient = nullptr;
  Factor<const float> p{}, q{};
};

/// Of p = m q the block's rows. Here and below p and q are those of the whole matrix.
void multiply(const Block<const float>& m, const Update& update, Factor<const float> q, Factor<float> p);
/// Of q = m^T p, or of q += m^T p, the block's columns, from its rows alone.
void multiply_transposed(const Block<const float>& m, const Update& update, Factor<const float> p,
                         Factor<float> q, bool add);
/// The block = p q^T. `past_caches`: where that can be, without a visit to the caches: pays when all that is
/// written does not fit there.
void multiply_out(Factor<const float> p, Factor<const float> q, const Block<float>& m, bool past_caches);

}  // namespace breakeven
