#include "compressors/simd/lowrank.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/simd/lowrank.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "compressors/simd/lowrank-inl.h"

HWY_BEFORE_NAMESPACE();
namespace breakeven {
namespace HWY_NAMESPACE {

void multiply_out_block(Factor<const float> p, Factor<const float> q, const Block<float>& m,
                        bool past_caches) {
  constexpr std::size_t kVector = kLanes * sizeof(float);
  if (past_caches && reinterpret_cast<std::uintptr_t>(m.data) % kVector == 0 && m.stride % kLanes == 0) {
    out_block<Out::past_caches>(nullptr, p, q, m, 0, m.rows);
    hwy::FlushStream();
  } else {
    out_block<Out::store>(nullptr, p, q, m, 0, m.rows);
  }
}

// p = m q: dot products, 4 rows x kWide columns at a time.

template <std::size_t kRows, std::size_t kCols, bool kWhole>
HWY_INLINE void dot_step(const float* m, std::size_t stride, const float* q, std::size_t q_step,
                         std::size_t n, V (&sums)[kCols][kRows]) {
  V rows[kRows], columns[kCols];
  for (std::size_t i = 0; i < kRows; ++i) {
    rows[i] = load<kWhole>(m + i * stride, n);
  }
  for (std::size_t c = 0; c < kCols; ++c) {
    columns[c] = load<kWhole>(q + c * q_step, n);
  }
  // A loop of its own, so that compilers keep the sums in registers.
  for (std::size_t c = 0; c < kCols; ++c) {
    for (std::size_t i = 0; i < kRows; ++i) {
      sums[c][i] = hn::MulAdd(rows[i], columns[c], sums[c][i]);
    }
  }
}

/// A tile of m, kCols columns of q beside it and what they give of p. Whole pieces, of which each step asks
/// for more with next(j), or the last one.
template <std::size_t kRows, std::size_t kCols, bool kWhole, class Next>
HWY_INLINE void dots(const float* m, std::size_t stride, std::size_t cols, const float* q, std::size_t q_step,
                     std::size_t rank, float* p, std::size_t p_step, bool add, Next&& next) {
  V sums[kCols][kRows];
  for (std::size_t c = 0; c < kCols; ++c) {
    for (std::size_t i = 0; i < kRows; ++i) {
      sums[c][i] = hn::Zero(D());
    }
  }
  for (std::size_t j = 0; j < cols; j += kPiece, q += kPiece * rank) {
    for (std::size_t k = 0; k < (kWhole ? kPiece : cols); k += kLanes) {
      next(j + k);
      dot_step<kRows, kCols, kWhole>(m + j + k, stride, q + k, q_step, std::min(kLanes, cols - k), sums);
    }
  }
  for (std::size_t c = 0; c < kCols; ++c) {
    store_sums(sums[c], p + c * p_step, add);
  }
}

/// One column, whole rows one after the other: so memory is fastest, and one column needs no tiles.
HWY_INLINE void row_dots(const float* m, std::size_t cols, const float* q, float* p) {
  const D d;
  V sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t j = 0;
  for (; j + 4 * kLanes <= cols; j += 4 * kLanes) {
    for (std::size_t v = 0; v < 4; ++v) {
      const std::size_t at = j + v * kLanes;
      sums[v] = hn::MulAdd(hn::LoadU(d, m + at), hn::LoadU(d, q + at), sums[v]);
    }
  }
  V sum[1][1] = {{hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]))}};
  for (; j + kLanes <= cols; j += kLanes) {
    dot_step<1, 1, true>(m + j, 0, q + j, 0, kLanes, sum);
  }
  if (j < cols) {
    dot_step<1, 1, false>(m + j, 0, q + j, 0, cols - j, sum);
  }
  store_sums(sum[0], p, false);
}

template <bool kUpdate>
void multiply_rows(const Block<const float>& m, const Update& update, Factor<const float> q,
                   Factor<float> p) {
  for (std::size_t i = 0; i < m.rows; ++i) {
    bring_up<kUpdate>(m, update, i, i + 1);
    row_dots(m.data + i * m.stride, m.cols, q.at(m.col), p.at(m.row + i));
  }
}

template <bool kUpdate>
void multiply_tiles(const Block<const float>& m, const Update& update, Factor<const float> q,
                    Factor<float> p) {
  constexpr std::size_t kWidth = 256;  // columns of m at a time, which fit into the first cache with q's
  // Enough rows that fetching ahead pays.
  const std::size_t panel = std::max<std::size_t>(8, 8192 / m.cols / 4 * 4);
  for (std::size_t first = 0; first < m.rows; first += panel) {
    const std::size_t last = std::min(m.rows, first + panel);
    bring_up<kUpdate>(m, update, first, last);
    Ahead<kUpdate> ahead(m, update.gradient, last, panel);
    for (std::size_t c0 = 0; c0 < q.rank; c0 += kMostColumns) {
      for (std::size_t j = 0; j < m.cols; j += kWidth) {
        const std::size_t cols = std::min(kWidth, m.cols - j), whole = cols / kPiece * kPiece;
        const auto tile = [&](auto count, std::size_t i) HWY_ATTR {
          constexpr std::size_t kRows = decltype(count)::value;
          const bool below = i + 2 * kRows <= last, right = j + 2 * kWidth <= m.cols;
          const float* const here = m.data + i * m.stride + j;
          const std::size_t next = below ? (i + kRows) * m.stride + j : first * m.stride + j + kWidth;
          const std::size_t p_step = p.step(m.row + i), rest_step = q.step(m.col + j + whole);
          const auto group = [&](std::size_t c, auto wide, std::size_t g, std::size_t groups) HWY_ATTR {
            constexpr std::size_t kCols = decltype(wide)::value;
            const Share share(below || right ? kRows : 0, g, groups);
            const std::size_t from = next + share.first * m.stride, size = share.size;
            float* const to = p.at(m.row + i) + c * p_step;
            dots<kRows, kCols, true>(here, m.stride, whole, q.at(m.col + j) + c * kPiece, kPiece, q.rank, to,
                                     p_step, j > 0, [&](std::size_t k) HWY_ATTR {
                                       ahead.panel(size);
                                       for (std::size_t row = 0; row < size; ++row) {
                                         ahead.tile(from + row * m.stride + k);
                                       }
                                     });
            if (whole < cols) {
              dots<kRows, kCols, false>(here + whole, m.stride, cols - whole,
                                        q.at(m.col + j + whole) + c * rest_step, rest_step, q.rank, to,
                                        p_step, true, [](std::size_t) HWY_ATTR {});
            }
          };
          each_group(c0, std::min(q.rank, c0 + kMostColumns), group);
        };
        std::size_t i = first;
        for (; i + 4 <= last; i += 4) {
          tile(std::integral_constant<std::size_t, 4>(), i);
        }
        for (; i < last; ++i) {
          tile(std::integral_constant<std::size_t, 1>(), i);
        }
      }
    }
  }
}

template <bool kUpdate>
void multiply_block(const Block<const float>& m, const Update& update, Factor<const float> q,
                    Factor<float> p) {
  if (q.rank == 1) {
    multiply_rows<kUpdate>(m, update, q, p);
  } else {
    multiply_tiles<kUpdate>(m, update, q, p);
  }
}
void multiply_kept(const Block<const float>& m, const Update& update, Factor<const float> q,
                   Factor<float> p) {
  multiply_block<false>(m, update, q, p);
}
void multiply_updated(const Block<const float>& m, const Update& update, Factor<const float> q,
                      Factor<float> p) {
  multiply_block<true>(m, update, q, p);
}

// q = m^T p: rows of m, scaled by p, added up in registers.

/// kVectors vectors of m's columns, kCols columns of p; before each row next(row) asks for what comes.
template <std::size_t kVectors, std::size_t kCols, bool kWhole, class Next>
HWY_INLINE void sum_tile(const float* m, std::size_t stride, std::size_t rows, const float* p,
                         std::size_t p_step, float* q, std::size_t q_step, std::size_t rank, std::size_t n,
                         bool add, Next&& next) {
  V sums[kCols][kVectors];
  for (std::size_t c = 0; c < kCols; ++c) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      sums[c][v] = add ? load<kWhole>(q + c * q_step + between(v, rank), n) : hn::Zero(D());
    }
  }
  for (std::size_t i = 0; i < rows; ++i) {
    next(i);
    V row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
      row[v] = load<kWhole>(m + i * stride + v * kLanes, n);
    }
    for (std::size_t c = 0; c < kCols; ++c) {
      const V factor = hn::Set(D(), p[c * p_step + i]);
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[c][v] = hn::MulAdd(factor, row[v], sums[c][v]);
      }
    }
  }
  for (std::size_t c = 0; c < kCols; ++c) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      store<kWhole>(sums[c][v], q + c * q_step + between(v, rank), n);
    }
  }
}

template <bool kUpdate>
void multiply_transposed_block(const Block<const float>& m, const Update& update, Factor<const float> p,
                               Factor<float> q, bool add) {
  constexpr std::size_t kStrip = 4;
  const std::size_t piece = p.rank <= 4 ? 8 : kPiece;  // vectors
  for (std::size_t i = 0, rows = 0; i < m.rows; i += rows) {
    rows = std::min(m.rows - i, piece - (m.row + i) % piece);
    bring_up<kUpdate>(m, update, i, i + rows);
    Ahead<kUpdate> ahead(m, update.gradient, i + rows, piece);
    const auto tile = [&](auto vectors, auto whole, std::size_t j, std::size_t n) HWY_ATTR {
      constexpr std::size_t kVectors = decltype(vectors)::value;
      const bool right = j + 2 * kVectors * kLanes <= m.cols;
      const std::size_t p_step = p.step(m.row + i), q_step = q.step(m.col + j);
      each_group(0, p.rank, [&](std::size_t c, auto group, std::size_t g, std::size_t groups) HWY_ATTR {
        constexpr std::size_t kCols = decltype(group)::value;
        // As many sums as registers hold, whatever the kWidth of the group.
        constexpr std::size_t kAtOnce = std::min(kVectors, kCols == 1 ? 8 : kWide * kWide / kCols);
        const Share share(right ? kAtOnce : 0, g, groups);
        for (std::size_t v = 0; v < kVectors; v += kAtOnce) {
          const std::size_t at = i * m.stride + j + v * kLanes;
          const std::size_t next = at + (kVectors + share.first) * kLanes;
          sum_tile<kAtOnce, kCols, decltype(whole)::value>(
              m.data + at, m.stride, rows, p.at(m.row + i) + c * p_step, p_step,
              q.at(m.col + j) + c * q_step + between(v, q.rank), q_step, q.rank, n, add || i > 0,
              [&](std::size_t row) HWY_ATTR {
                ahead.panel(share.size);
                for (std::size_t k = 0; k < share.size; ++k) {
                  ahead.tile(next + row * m.stride + k * kLanes);
                }
              });
        }
      });
    };
    std::size_t j = 0;
    for (; j + kStrip * kLanes <= m.cols; j += kStrip * kLanes) {
      tile(std::integral_constant<std::size_t, kStrip>(), std::true_type(), j, kLanes);
    }
    for (; j + kLanes <= m.cols; j += kLanes) {
      tile(std::integral_constant<std::size_t, 1>(), std::true_type(), j, kLanes);
    }
    if (j < m.cols) {
      tile(std::integral_constant<std::size_t, 1>(), std::false_type(), j, m.cols - j);
    }
  }
}

void multiply_transposed_kept(const Block<const float>& m, const Update& update, Factor<const float> p,
                              Factor<float> q, bool add) {
  multiply_transposed_block<false>(m, update, p, q, add);
}
void multiply_transposed_updated(const Block<const float>& m, const Update& update, Factor<const float> p,
                                 Factor<float> q, bool add) {
  multiply_transposed_block<true>(m, update, p, q, add);
}

}  // namespace HWY_NAMESPACE
}  // namespace breakeven
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace breakeven {

HWY_EXPORT(multiply_kept);
HWY_EXPORT(multiply_updated);
HWY_EXPORT(multiply_transposed_kept);
HWY_EXPORT(multiply_transposed_updated);
HWY_EXPORT(multiply_out_block);

void multiply(const Block<const float>& m, const Update& update, Factor<const float> q, Factor<float> p) {
  if (update.data == nullptr) {
    HWY_DYNAMIC_DISPATCH(multiply_kept)(m, update, q, p);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_updated)(m, update, q, p);
  }
}
void multiply_transposed(const Block<const float>& m, const Update& update, Factor<const float> p,
                         Factor<float> q, bool add) {
  if (update.data == nullptr) {
    HWY_DYNAMIC_DISPATCH(multiply_transposed_kept)(m, update, p, q, add);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_transposed_updated)(m, update, p, q, add);
  }
}
void multiply_out(Factor<const float> p, Factor<const float> q, const Block<float>& m, bool past_caches) {
  HWY_DYNAMIC_DISPATCH(multiply_out_block)(p, q, m, past_caches);
}

}  // namespace breakeven
#endif  // HWY_ONCE
