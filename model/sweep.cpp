#include "model/sweep.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace breakeven {
namespace {

/// Chunks go out to workers in order; results come back in any order and leave in order. A worker may run
/// ahead of the consumer by at most `window` chunks, so that memory stays flat when the output is slow.
class Line {
 public:
  Line(std::size_t chunks, std::size_t window) : chunks_(chunks), window_(window) {}

  /// The next chunk to work on; `chunks` when there is none left.
  std::size_t take() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return stopped_ || next_ >= chunks_ || next_ < consumed_ + window_; });
    return stopped_ || next_ >= chunks_ ? chunks_ : next_++;
  }
  void give(std::size_t chunk, std::string&& text) {
    const std::lock_guard lock(mutex_);
    done_.emplace(chunk, std::move(text));
    ready_.notify_one();
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = std::move(error);
    }
    stop_locked();
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stop_locked();
  }
  /// Waits for the next result in order; false at the end or when a worker failed.
  bool next(std::string& text) {
    std::unique_lock lock(mutex_);
    if (consumed_ == chunks_) {
      return false;
    }
    ready_.wait(lock, [this] { return stopped_ || done_.contains(consumed_); });
    const auto found = done_.find(consumed_);
    if (stopped_ || found == done_.end()) {
      return false;
    }
    text = std::move(found->second);
    done_.erase(found);
    ++consumed_;
    room_.notify_all();
    return true;
  }
  [[nodiscard]] std::exception_ptr error() const { return error_; }

 private:
  void stop_locked() {
    stopped_ = true;
    room_.notify_all();
    ready_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::map<std::size_t, std::string> done_;
  std::size_t chunks_, window_, next_ = 0, consumed_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
};

}  // namespace

void run_in_order(std::size_t chunks, std::size_t threads,
                  const std::function<std::string(std::size_t chunk, std::size_t worker)>& produce,
                  const std::function<bool(std::string&&)>& consume) {
  threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, chunks));
  Line line(chunks, 4 * threads);
  std::vector<std::thread> pool;
  const auto join = [&] {
    line.stop();
    for (std::thread& thread : pool) {
      thread.join();
    }
  };
  try {
    for (std::size_t worker = 0; worker < threads; ++worker) {
      const auto work = [&, worker] {
        try {
          for (std::size_t chunk = line.take(); chunk < chunks; chunk = line.take()) {
            line.give(chunk, produce(chunk, worker));
          }
        } catch (...) {
          line.fail(std::current_exception());
        }
      };
      try {
        pool.emplace_back(work);
      } catch (const std::system_error&) {
        if (pool.empty()) {
          throw;  // not even one
        }
        break;  // the system gives no more: those that run do the work
      }
    }
    std::string text;
    while (line.next(text)) {
      if (!consume(std::move(text))) {
        break;
      }
    }
  } catch (...) {
    join();
    throw;
  }
  join();
  if (line.error()) {
    std::rethrow_exception(line.error());
  }
}

}  // namespace breakeven
