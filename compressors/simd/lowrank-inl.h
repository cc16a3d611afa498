// What the products of a matrix with few columns share, for one target: vectors, fetching ahead, tiles of p
// q^T.
#if defined(BREAKEVEN_LOWRANK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BREAKEVEN_LOWRANK_INL_H
#undef BREAKEVEN_LOWRANK_INL_H
#else
#define BREAKEVEN_LOWRANK_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "compressors/simd/lowrank.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
/// 32 registers hold sums of 4 x 4 vectors, 16 of them 4 x 2.
constexpr std::size_t kWide = HWY_MAX_BYTES >= 64 ? 4 : 2;

/// The first `n` lanes, the others zero; nothing is read behind them.
HWY_INLINE V load_part(const float* from, std::size_t n) {
  HWY_ALIGN float lanes[kLanes] = {};
  std::memcpy(lanes, from, n * sizeof(float));
  return hn::Load(D(), lanes);
}
HWY_INLINE void store_part(V v, float* to, std::size_t n) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, D(), lanes);
  std::memcpy(to, lanes, n * sizeof(float));
}
template <bool kWhole>
HWY_INLINE V load(const float* from, std::size_t n) {
  if constexpr (kWhole) {
    return hn::LoadU(D(), from);
  } else {
    return load_part(from, n);
  }
}
template <bool kWhole>
HWY_INLINE void store(V v, float* to, std::size_t n) {
  if constexpr (kWhole) {
    hn::StoreU(v, D(), to);
  } else {
    store_part(v, to, n);
  }
}

#if HWY_TARGET != HWY_SCALAR
/// The 128-bit blocks of a vector, added up.
template <class DV, class VV>
HWY_INLINE hn::Vec<hn::Full128<float>> add_blocks([[maybe_unused]] DV d, VV v) {
  if constexpr (hn::MaxLanes(DV()) > 4) {
    const hn::Half<DV> half;
    return add_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else {
    return v;
  }
}
/// The sums of all lanes of four vectors, in turn.
HWY_INLINE hn::Vec<hn::Full128<float>> four_sums(V a, V b, V c, V e) {
  const D d;
  const hn::Repartition<double, D> pairs;
  const V ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const V ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto low = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  const auto high = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  return add_blocks(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)));
}
#endif
/// to[i] = the sum of the lanes of sums[i], or is added to.
template <std::size_t kCount>
HWY_INLINE void store_sums(const V (&sums)[kCount], float* to, bool add) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<float> d;
  for (; i + 4 <= kCount; i += 4) {
    const auto four = four_sums(sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
    hn::StoreU(add ? hn::Add(four, hn::LoadU(d, to + i)) : four, d, to + i);
  }
#endif
  for (; i < kCount; ++i) {
    const float sum = hn::GetLane(hn::SumOfLanes(D(), sums[i]));
    to[i] = add ? to[i] + sum : sum;
  }
}

/// What is read next, asked for while the present is worked on. Memory delivers at its full rate only along
/// addresses in order, so the next panel of rows is fetched into the second cache that way, whatever order
/// the work has; the next tile, by then in the second cache, is fetched into the first.
template <bool kUpdate>
class Ahead {
 public:
  /// The panel that follows: `rows` rows of m from row `row`, as far as m has them.
  HWY_INLINE Ahead(const Block<const float>& m, const float* gradient, std::size_t row, std::size_t rows)
      : m_(m.data),
        gradient_(gradient),
        cols_(m.cols),
        stride_(m.stride),
        row_(row * m.stride),
        rows_(row < m.rows ? std::min(rows, m.rows - row) : 0) {}

  /// So many vectors of the panel.
  HWY_INLINE void panel(std::size_t vectors) {
    if (left_ < vectors) {
      if (rows_ == 0) {
        return;
      }
      left_ = cols_ / kLanes;
      at_ = row_;
      row_ += stride_;
      --rows_;
    }
    vectors = std::min(vectors, left_);
    left_ -= vectors;
    for (; vectors > 0; --vectors, at_ += kLanes) {
      __builtin_prefetch(m_ + at_, 0, 2);
      if constexpr (kUpdate) {
        __builtin_prefetch(gradient_ + at_, 0, 2);
      }
    }
  }
  /// The vector at m.data[at].
  HWY_INLINE void tile(std::size_t at) const { __builtin_prefetch(m_ + at, 0, 3); }

 private:
  const float *m_, *gradient_;
  std::size_t cols_, stride_, row_, rows_, at_ = 0, left_ = 0;
};
/// What group `g` of `groups` asks for at each step, of `count` vectors that the next tile has there.
struct Share {
  std::size_t size = 0, first = 0;
  Share(std::size_t count, std::size_t g, std::size_t groups) {
    const std::size_t each = (count + groups - 1) / groups;
    first = std::min(count, g * each);
    size = std::min(each, count - first);
  }
};

/// work(first column, width as a constant, which group, of how many) over columns first..last, kWide, 2 or 1
/// at a time.
template <class F>
HWY_INLINE void each_group(std::size_t first, std::size_t last, F&& work) {
  const std::size_t rest = (last - first) % kWide;
  const std::size_t groups = (last - first) / kWide + rest / 2 + rest % 2;
  std::size_t c = first, g = 0;
  for (; c + kWide <= last; c += kWide, ++g) {
    work(c, std::integral_constant<std::size_t, kWide>(), g, groups);
  }
  if (kWide > 2 && c + 2 <= last) {
    work(c, std::integral_constant<std::size_t, 2>(), g, groups);
    c += 2;
    ++g;
  }
  if (c < last) {
    work(c, std::integral_constant<std::size_t, 1>(), g, groups);
  }
}
/// More columns than this are taken so many at a time: with them the tiles still fit into the first cache.
constexpr std::size_t kMostColumns = 16;
/// Elements between vectors j and j + v of a column.
HWY_INLINE std::size_t between(std::size_t v, std::size_t rank) {
  return v * kLanes / kPiece * kPiece * rank + v * kLanes % kPiece;
}

// m += gradient - p q^T, and p q^T.

enum class Out { update, store, past_caches };

/// kRows rows and kVectors vectors of columns; `n` lanes of each vector where they are not whole. p and q
/// point to column 0, their columns are p_step and q_step apart.
template <std::size_t kRows, std::size_t kVectors, Out kOut, bool kWhole>
HWY_INLINE void out_tile(const float* gradient, const float* p, std::size_t p_step, const float* q,
                         std::size_t q_step, std::size_t rank, float* m, std::size_t stride, std::size_t n) {
  const D d;
  V sums[kRows][kVectors];
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const std::size_t at = i * stride + v * kLanes;
      sums[i][v] = kOut == Out::update ? hn::Add(load<kWhole>(m + at, n), load<kWhole>(gradient + at, n))
                                       : hn::Zero(d);
    }
  }
  for (std::size_t c = 0; c < rank; ++c, p += p_step, q += q_step) {
    V columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      columns[v] = load<kWhole>(q + between(v, rank), n);
    }
    for (std::size_t i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, p[i]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[i][v] = kOut == Out::update ? hn::NegMulAdd(factor, columns[v], sums[i][v])
                                         : hn::MulAdd(factor, columns[v], sums[i][v]);
      }
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* const to = m + i * stride + v * kLanes;
      if constexpr (kOut == Out::past_caches && kWhole) {
        hn::Stream(sums[i][v], d, to);
      } else {
        store<kWhole>(sums[i][v], to, n);
      }
    }
  }
}

/// kRows rows of the block, from row i of it.
template <std::size_t kRows, Out kOut>
HWY_INLINE void out_rows(const float* gradient, Factor<const float> p, Factor<const float> q,
                         const Block<float>& m, std::size_t i) {
  const std::size_t at = i * m.stride;
  const auto tile = [&](auto vectors, auto whole, std::size_t j, std::size_t n) HWY_ATTR {
    out_tile<kRows, decltype(vectors)::value, kOut, decltype(whole)::value>(
        kOut == Out::update ? gradient + at + j : nullptr, p.at(m.row + i), p.step(m.row + i),
        q.at(m.col + j), q.step(m.col + j), q.rank, m.data + at + j, m.stride, n);
  };
  std::size_t j = 0;
  for (; j + kWide * kLanes <= m.cols; j += kWide * kLanes) {
    tile(std::integral_constant<std::size_t, kWide>(), std::true_type(), j, kLanes);
  }
  for (; j + kLanes <= m.cols; j += kLanes) {
    tile(std::integral_constant<std::size_t, 1>(), std::true_type(), j, kLanes);
  }
  if (j < m.cols) {
    tile(std::integral_constant<std::size_t, 1>(), std::false_type(), j, m.cols - j);
  }
}

/// Rows first..last of the block.
template <Out kOut>
HWY_INLINE void out_block(const float* gradient, Factor<const float> p, Factor<const float> q,
                          const Block<float>& m, std::size_t first, std::size_t last) {
  std::size_t i = first;
  for (; i + 4 <= last; i += 4) {
    out_rows<4, kOut>(gradient, p, q, m, i);
  }
  for (; i < last; ++i) {
    out_rows<1, kOut>(gradient, p, q, m, i);
  }
}

/// The update of rows first..last.
template <bool kUpdate>
HWY_INLINE void bring_up(const Block<const float>& m, const Update& update, std::size_t first,
                         std::size_t last) {
  if constexpr (kUpdate) {
    out_block<Out::update>(update.gradient, update.p, update.q,
                           Block<float>{update.data, m.rows, m.cols, m.stride, m.row, m.col}, first, last);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#endif  // BREAKEVEN_LOWRANK_INL_H
