// Do the products and the bases of the low-rank schemes come out as in plain arithmetic?
#include <gmock/gmock.h>

#include <limits>
#include <utility>

#include "compressors/simd/orthonormal.h"
#include "tests/compressors/kernels.h"
#include "tests/compressors/plain_matrix.h"

namespace breakeven::test {
namespace {

TEST(LowRankProducts, AreThoseOfPlainArithmetic) {
  on_every_target([] {
    for (const std::size_t rows : std::vector<std::size_t>{1, 3, 4, 16, 21}) {
      for (const std::size_t cols : std::vector<std::size_t>{1, 5, 16, 31, 64, 130, 300}) {
        for (const std::size_t rank : std::vector<std::size_t>{1, 2, 3, 4, 7, 16, 19}) {
          SCOPED_TRACE(testing::Message() << rows << " x " << cols << ", rank " << rank);
          // Exactly as long as they are: sanitizers see what goes beyond.
          const std::vector<float> m = random_values(rows * cols, 1);
          std::vector<float> p(rows * rank), q = random_values(cols * rank, 2), out(rows * cols);
          const Dense wide = dense(m.data(), rows, cols);
          const Dense right = dense(factor(std::as_const(q), cols, rank));
          multiply({m.data(), rows, cols, cols}, {}, factor(std::as_const(q), cols, rank),
                   factor(p, rows, rank));
          const Dense left = dense(factor(std::as_const(p), rows, rank));
          EXPECT_LE(distance(left, wide * right), kRounding * length(wide) * length(right));
          for (const bool past_caches : {false, true}) {
            multiply_out(factor(std::as_const(p), rows, rank), factor(std::as_const(q), cols, rank),
                         {out.data(), rows, cols, cols}, past_caches);
            EXPECT_LE(distance(dense(out.data(), rows, cols), left * transposed(right)),
                      kRounding * length(left) * length(right));
          }
          multiply_transposed({m.data(), rows, cols, cols}, {}, factor(std::as_const(p), rows, rank),
                              factor(q, cols, rank), false);
          const Dense back = transposed(wide) * left;
          EXPECT_LE(distance(dense(factor(std::as_const(q), cols, rank)), back),
                    kRounding * length(wide) * length(left));
          multiply_transposed({m.data(), rows, cols, cols}, {}, factor(std::as_const(p), rows, rank),
                              factor(q, cols, rank), true);
          EXPECT_LE(distance(dense(factor(std::as_const(q), cols, rank)), combined(back, 1, back)),
                    kRounding * length(wide) * length(left) * 2);
        }
      }
    }
  });
}

TEST(LowRankProducts, BringTheMatrixUpToDateOnTheWay) {
  on_every_target([] {
    for (const std::size_t rank : std::vector<std::size_t>{1, 2, 4, 19}) {
      for (const bool sideways : {false, true}) {
        SCOPED_TRACE(testing::Message() << "rank " << rank << ", transposed " << sideways);
        const std::size_t rows = 37, cols = 301;
        const std::vector<float> before = random_values(rows * cols, 1),
                                 gradient = random_values(rows * cols, 2), p = random_values(rows * rank, 3),
                                 q = random_values(cols * rank, 4);
        std::vector<float> m = before, product((sideways ? cols : rows) * rank);
        const Update update{m.data(), gradient.data(), factor(p, rows, rank), factor(q, cols, rank)};
        const Block<const float> block{m.data(), rows, cols, cols};
        if (sideways) {
          multiply_transposed(block, update, factor(p, rows, rank), factor(product, cols, rank), false);
        } else {
          multiply(block, update, factor(q, cols, rank), factor(product, rows, rank));
        }
        const Dense left = dense(factor(p, rows, rank)), right = dense(factor(q, cols, rank));
        const Dense sum = combined(dense(before.data(), rows, cols), 1, dense(gradient.data(), rows, cols));
        const Dense now = combined(sum, -1, left * transposed(right));
        EXPECT_LE(distance(dense(m.data(), rows, cols), now), kRounding * length(now));
        const Dense expected = sideways ? transposed(now) * left : now * right;
        EXPECT_LE(distance(dense(factor(std::as_const(product), expected.rows, rank)), expected),
                  kRounding * length(now) * (sideways ? length(left) : length(right)));
      }
    }
  });
}

void expect_orthonormal(Factor<const float> q) {
  const Dense columns = dense(q);
  Dense unit(q.rank, q.rank);
  for (std::size_t c = 0; c < q.rank; ++c) {
    unit(c, c) = 1;
  }
  EXPECT_LE(distance(transposed(columns) * columns, unit), 2e-5 * static_cast<double>(q.rank));
}

TEST(Orthonormalise, GivesABasisOfTheSameSpace) {
  on_every_target([] {
    for (const std::size_t size : std::vector<std::size_t>{1, 2, 16, 77, 400}) {
      for (const std::size_t rank : std::vector<std::size_t>{1, 2, 3, 4, 9, 16, 33, 70}) {
        if (rank > size) {
          continue;
        }
        SCOPED_TRACE(testing::Message() << size << " x " << rank);
        const std::vector<float> from = random_values(size * rank, 5);
        std::vector<float> to(size * rank);
        orthonormalise(factor(from, size, rank), 1, factor(to, size, rank));
        expect_orthonormal(factor(std::as_const(to), size, rank));
        const Dense before = dense(factor(from, size, rank)),
                    q = dense(factor(std::as_const(to), size, rank));
        EXPECT_LE(distance(q * (transposed(q) * before), before), 1e-4 * length(before));
      }
    }
  });
}

TEST(Orthonormalise, TakesColumnsThatAlmostCoincide) {
  on_every_target([] {
    for (const double apart : {0.3, 1e-1, 1e-2, 1e-3, 1e-4}) {
      SCOPED_TRACE(apart);
      const std::size_t size = 200, rank = 5;
      std::vector<float> from = random_values(size * rank, 5), to(size * rank);
      const Factor<float> columns = factor(from, size, rank);
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t c = 1; c < rank; ++c) {
          float& x = columns.at(i)[c * columns.step(i)];
          x = columns.at(i)[0] + static_cast<float>(apart) * x;
        }
      }
      orthonormalise(factor(std::as_const(from), size, rank), 1, factor(to, size, rank));
      expect_orthonormal(factor(std::as_const(to), size, rank));
      const Dense before = dense(factor(std::as_const(from), size, rank)),
                  q = dense(factor(std::as_const(to), size, rank));
      EXPECT_LE(distance(q * (transposed(q) * before), before), 1e-5 * length(before));
    }
  });
}

TEST(Orthonormalise, StartsAnewWhatVanishedOrIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  on_every_target([] {
    const std::size_t size = 50, rank = 6;
    std::vector<float> from = random_values(size * rank, 5), to(size * rank);
    const Factor<float> columns = factor(from, size, rank);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t step = columns.step(i);
      columns.at(i)[0] = 0;
      columns.at(i)[2 * step] = 3 * columns.at(i)[step];
      columns.at(i)[3 * step] *= 1e-41F;
      columns.at(i)[4 * step] = i == 9 ? kNan : 1;
      columns.at(i)[5 * step] = i == 9 ? std::numeric_limits<float>::infinity() : 1;
    }
    orthonormalise(factor(std::as_const(from), size, rank), 1, factor(to, size, rank));
    expect_orthonormal(factor(std::as_const(to), size, rank));
    std::vector<float> again(size * rank);
    orthonormalise(factor(std::as_const(from), size, rank), 2, factor(again, size, rank));
    EXPECT_NE(to, again);  // by another stream
  });
}

}  // namespace
}  // namespace breakeven::test
