// The matrices of one message and their factors: what PowerSGD and ACP-SGD do with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/simd/lowrank.h"
#include "compressors/threads.h"
#include "model/compressor.h"

namespace breakeven {

/// rows x cols elements of the message, of which the last ones may be missing: they count as zeros.
struct Matrix {
  std::size_t first = 0;     ///< in the message
  std::size_t elements = 0;  ///< that are there
  std::size_t rows = 0, cols = 0, rank = 0;
  std::size_t p = 0, q = 0;  ///< where its factors begin among those of all matrices
};

/// M = P Q^T for every matrix M. The factors of all matrices lie one after the other, without gaps: as they
/// are sent. Results are the same for any number of threads, and what is not finite in one matrix stays
/// there.
class Matrices {
 public:
  enum class Side { left, right };  ///< P, Q

  /// Where their factors begin need not be filled in.
  Matrices(std::vector<Matrix> matrices, const Worker& worker);

  [[nodiscard]] std::size_t p_size() const { return p_size_; }
  [[nodiscard]] std::size_t q_size() const { return q_size_; }
  [[nodiscard]] bool empty() const { return matrices_.empty(); }
  [[nodiscard]] Threads& threads() { return threads_; }

  /// What is multiplied: the message as it is or, with an error, error += gradient - p q^T for the factors of
  /// the last step, and then the error.
  struct Source {
    const float* message = nullptr;
    float* error = nullptr;
    const float *p = nullptr, *q = nullptr;
  };
  /// p = M q
  void multiply(const Source& source, const float* q, float* p);
  /// q = M^T p
  void multiply_transposed(const Source& source, const float* p, float* q);
  /// M = p q^T, where M lies in the message.
  void multiply_out(const float* p, const float* q, float* message);
  /// Columns of length one, orthogonal to each other; what vanished starts anew, at every worker alike.
  void orthonormalise(Side side, std::size_t step, const float* from, float* to);
  void draw(Side side, std::size_t step, float* to);

 private:
  /// Rows or columns first..last of a matrix: the share of one thread.
  struct Part {
    const Matrix* matrix;
    std::size_t first, last;
  };
  template <class F>
  void each_factor(Side side, std::size_t step, F&& work);
  void split(std::size_t threads);

  std::vector<Matrix> matrices_;
  std::vector<Part> rows_, cols_;
  std::size_t p_size_ = 0, q_size_ = 0, elements_ = 0;
  std::uint64_t seed_;
  Threads threads_;
};

}  // namespace breakeven
