#include "compressors/simd/orthonormal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "compressors/random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/orthonormal.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/lowrank-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

/// Products of kWide columns from column `a` with as many from column `b`; columns behind the last are it.
HWY_INLINE void gram_tile(const float* from, std::size_t pieces, std::size_t rank, std::size_t a,
                          std::size_t b, std::size_t stride, double* gram) {
  const float *left[kWide], *right[kWide];
  V sums[kWide][kWide];
  for (std::size_t i = 0; i < kWide; ++i) {
    left[i] = from + std::min(a + i, rank - 1) * kPiece;
    right[i] = from + std::min(b + i, rank - 1) * kPiece;
    for (std::size_t j = 0; j < kWide; ++j) {
      sums[i][j] = hn::Zero(D());
    }
  }
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    for (std::size_t k = 0; k < kPiece; k += kLanes) {
      V rows[kWide], columns[kWide];
      for (std::size_t i = 0; i < kWide; ++i) {
        rows[i] = hn::LoadU(D(), left[i] + piece * kPiece * rank + k);
        columns[i] = hn::LoadU(D(), right[i] + piece * kPiece * rank + k);
      }
      for (std::size_t i = 0; i < kWide; ++i) {
        for (std::size_t j = 0; j < kWide; ++j) {
          sums[i][j] = hn::MulAdd(rows[i], columns[j], sums[i][j]);
        }
      }
    }
  }
  for (std::size_t i = 0; i < kWide; ++i) {
    float products[kWide];
    store_sums(sums[i], products, false);
    for (std::size_t j = 0; j < kWide; ++j) {
      gram[(a + i) * stride + b + j] += static_cast<double>(products[j]);
    }
  }
}

/// gram += the products of all columns with each other, row by row, from the diagonal on.
void add_products(Factor<const float> from, std::size_t stride, double* gram) {
  constexpr std::size_t kPieces = 64;  // so few are added in 32 bits
  const std::size_t whole = from.size / kPiece;
  for (std::size_t first = 0; first < whole; first += kPieces) {
    for (std::size_t a = 0; a < from.rank; a += kWide) {
      for (std::size_t b = a; b < from.rank; b += kWide) {
        gram_tile(from.at(first * kPiece), std::min(kPieces, whole - first), from.rank, a, b, stride, gram);
      }
    }
  }
  const float* const rest = from.at(whole * kPiece);
  const std::size_t width = from.size - whole * kPiece;
  for (std::size_t a = 0; a < from.rank; ++a) {
    for (std::size_t b = a; b < from.rank; ++b) {
      for (std::size_t i = 0; i < width; ++i) {
        gram[a * stride + b] +=
            static_cast<double>(rest[a * width + i]) * static_cast<double>(rest[b * width + i]);
      }
    }
  }
}

template <bool kWhole>
HWY_INLINE void combine_vector(const float* from, std::size_t step, std::size_t rank, const float* upper,
                               std::size_t stride, std::size_t n, float* to) {
  for (std::size_t c = 0; c < rank; c += kWide) {
    const std::size_t some = std::min(kWide, rank - c);
    V sums[kWide];
    for (V& sum : sums) {
      sum = hn::Zero(D());
    }
    for (std::size_t k = 0; k < c + some; ++k) {
      const V column = load<kWhole>(from + k * step, n);
      for (std::size_t i = 0; i < kWide; ++i) {
        sums[i] = hn::MulAdd(hn::Set(D(), upper[k * stride + c + i]), column, sums[i]);
      }
    }
    for (std::size_t i = 0; i < kWide; ++i) {
      if (i < some) {
        store<kWhole>(sums[i], to + (c + i) * step, n);
      }
    }
  }
}

/// to = from times an upper triangular matrix that lies row by row.
void combine(Factor<const float> from, const float* upper, std::size_t stride, Factor<float> to) {
  const std::size_t whole = from.size / kPiece * kPiece;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    combine_vector<true>(from.at(i), kPiece, from.rank, upper, stride, kLanes, to.at(i));
  }
  for (std::size_t i = whole; i < from.size; i += kLanes) {
    combine_vector<false>(from.at(i), from.size - whole, from.rank, upper, stride,
                          std::min(kLanes, from.size - i), to.at(i));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(add_products);
HWY_EXPORT(combine);

namespace {

/// More columns are taken one by one.
constexpr std::size_t kMostAtOnce = 64;

/// Room for matrices of up to kMost rows; tiles reach a little behind the last column.
template <class T, std::size_t kMost>
struct Small {
  static constexpr std::size_t kStride = kMost + 4;
  std::array<T, kMost * kStride> data{};

  T& operator()(std::size_t row, std::size_t col) { return data[row * kStride + col]; }
  const T& operator()(std::size_t row, std::size_t col) const { return data[row * kStride + col]; }
};

/// The inverse of the upper triangular R with R^T R = gram (Cholesky). Returns the least share of a column
/// that those before it do not have, or 0 where the products say too little.
template <std::size_t kMost>
double inverse_root(const Small<double, kMost>& gram, std::size_t rank, Small<double, kMost>& inverse) {
  constexpr double kLeast = 1e-24, kGreatest = 1e30;  // squares of floats that neither vanish nor overflow
  Small<double, kMost> root;
  double share = 1;
  for (std::size_t c = 0; c < rank; ++c) {
    double left = gram(c, c);
    for (std::size_t k = 0; k < c; ++k) {
      double sum = gram(k, c);
      for (std::size_t m = 0; m < k; ++m) {
        sum -= root(m, k) * root(m, c);
      }
      root(k, c) = sum / root(k, k);
      left -= root(k, c) * root(k, c);
    }
    if (!(gram(c, c) > kLeast && gram(c, c) < kGreatest && left > 0)) {
      return 0;
    }
    share = std::min(share, left / gram(c, c));
    root(c, c) = std::sqrt(left);
    inverse(c, c) = 1 / root(c, c);
    for (std::size_t k = c; k-- > 0;) {
      double sum = 0;
      for (std::size_t m = k + 1; m <= c; ++m) {
        sum -= root(k, m) * inverse(m, c);
      }
      inverse(k, c) = sum / root(k, k);
    }
  }
  return share;
}

/// Cholesky-QR, exact to rounding where no column lies almost within those before it; again, with the
/// products of the result, where one comes close. False: it is not like that.
template <std::size_t kMost>
bool at_once(Factor<const float> from, Factor<float> to) {
  const std::size_t rank = from.rank;
  Factor<const float> current = from;
  Small<double, kMost> all;
  for (std::size_t i = 0; i < rank; ++i) {
    all(i, i) = 1;
  }
  for (int round = 0; round < 3; ++round) {
    Small<double, kMost> gram, inverse, both;
    HWY_DYNAMIC_DISPATCH(add_products)(current, gram.kStride, gram.data.data());
    const double share = inverse_root(gram, rank, inverse);
    if (!(share > 1e-3)) {
      return false;
    }
    Small<float, kMost> upper;
    for (std::size_t k = 0; k < rank; ++k) {
      for (std::size_t c = k; c < rank; ++c) {
        for (std::size_t m = k; m <= c; ++m) {
          both(k, c) += all(k, m) * inverse(m, c);
        }
        upper(k, c) = static_cast<float>(both(k, c));
      }
    }
    all = both;
    HWY_DYNAMIC_DISPATCH(combine)(from, upper.data.data(), upper.kStride, to);
    if (share > 0.25) {
      break;
    }
    current = {to.data, to.size, to.rank};
  }
  return true;
}
bool at_once(Factor<const float> from, Factor<float> to) {
  return from.rank <= 4             ? at_once<4>(from, to)
         : from.rank <= 16          ? at_once<16>(from, to)
         : from.rank <= kMostAtOnce ? at_once<kMostAtOnce>(from, to)
                                    : false;
}

/// work(element of column a, the same of column b) for all of them.
template <class F>
void each_pair(Factor<float> q, std::size_t a, std::size_t b, F&& work) {
  for (std::size_t i = 0; i < q.size; i += kPiece) {
    float* const piece = q.at(i);
    const std::size_t width = q.step(i);
    for (std::size_t k = 0; k < width; ++k) {
      work(piece[a * width + k], piece[b * width + k]);
    }
  }
}
double product(Factor<float> q, std::size_t a, std::size_t b) {
  double sum = 0;
  each_pair(q, a, b, [&](float x, float y) { sum += static_cast<double>(x) * static_cast<double>(y); });
  return sum;
}
void draw_column(std::uint64_t stream, Factor<float> to, std::size_t c) {
  std::uint64_t position = c * to.size;
  each_pair(to, c, c, [&](float& x, float&) {
    // Four 16-bit numbers: their sum is nearly normal.
    const std::uint64_t bits = random_at(stream, position++);
    const auto sum = static_cast<double>((bits & 0xffffU) + (bits >> 16U & 0xffffU) +
                                         (bits >> 32U & 0xffffU) + (bits >> 48U));
    x = static_cast<float>(sum * 0x1p-16 - 2);
  });
}

/// Takes the columns before it out of column c, twice (once leaves rounding, relative to what was taken out),
/// and makes it one long. False where nothing was left of it.
bool stand_up(Factor<float> q, std::size_t c) {
  constexpr double kNothing = 1e-6;  // what rounding leaves of a dependent column, and a little more
  const double before = std::sqrt(product(q, c, c));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t k = 0; k < c; ++k) {
      const double share = product(q, k, c);
      each_pair(q, k, c, [&](float x, float& y) {
        y = static_cast<float>(static_cast<double>(y) - share * static_cast<double>(x));
      });
    }
  }
  const double length = std::sqrt(product(q, c, c));
  if (!(length > kNothing * before) || !(before <= std::numeric_limits<double>::max())) {
    return false;
  }
  each_pair(q, c, c, [&](float& x, float&) { x = static_cast<float>(static_cast<double>(x) / length); });
  return true;
}

/// Gram and Schmidt, column by column and in 64 bits: for what is degenerate.
void careful(std::uint64_t stream, Factor<float> q) {
  for (std::size_t c = 0; c < q.rank; ++c) {
    bool stands = stand_up(q, c);
    for (std::uint64_t attempt = 0; !stands && attempt < 8; ++attempt) {
      draw_column(mix(stream + attempt), q, c);
      stands = stand_up(q, c);
    }
    if (!stands) {
      each_pair(q, c, c, [](float& x, float&) { x = 0; });
    }
  }
}

}  // namespace

void orthonormalise(Factor<const float> from, std::uint64_t stream, Factor<float> to) {
  if (!at_once(from, to)) {
    std::copy_n(from.data, from.size * from.rank, to.data);
    careful(stream, to);
  }
}

void fill_random(std::uint64_t stream, Factor<float> to) {
  for (std::size_t c = 0; c < to.rank; ++c) {
    draw_column(stream, to, c);
  }
}

}  // namespace breakeven
#endif  // HWY_ONCE
