// The threads of one kernel: the one place where compressors start any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace breakeven {

/// Threads that stay from job to job; the caller works too, so that one thread starts none.
class Threads {
 public:
  explicit Threads(std::size_t count = 1);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads();

  [[nodiscard]] std::size_t count() const { return count_; }

  /// work(part) for each part below `parts`, on whichever thread is free; back when all are done. Parts must
  /// not throw.
  template <class F>
  void run(std::size_t parts, F&& work) {
    if (parts == 1 || count_ == 1) {
      for (std::size_t part = 0; part < parts; ++part) {
        work(part);
      }
      return;
    }
    dispatch(
        parts, [](void* job, std::size_t part) { (*static_cast<std::remove_reference_t<F>*>(job))(part); },
        &work);
  }

  /// work(begin, end) over consecutive ranges that cover 0..n, one a thread: their bounds are multiples of
  /// `grain` (a multiple of 64 keeps packed bits and cache lines whole), and none is shorter unless n is.
  template <class F>
  void ranges(std::size_t n, std::size_t grain, F&& work) {
    const std::size_t grains = (n + grain - 1) / grain;
    const std::size_t parts = std::max<std::size_t>(1, std::min(count_, grains));
    run(parts, [&](std::size_t part) {
      const std::size_t begin = grains * part / parts * grain;
      const std::size_t end = std::min(n, grains * (part + 1) / parts * grain);
      work(begin, end);
    });
  }

 private:
  void dispatch(std::size_t parts, void (*call)(void*, std::size_t), void* job);

  std::size_t count_;
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace breakeven
