#include "compressors/threads.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace breakeven {

struct Threads::Pool {
  std::mutex mutex;
  std::condition_variable wake, done;
  std::size_t job_number = 0, working = 0;
  bool stop = false;
  void (*call)(void*, std::size_t) = nullptr;
  void* job = nullptr;
  std::size_t parts = 0;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;

  void take_parts() {
    for (std::size_t part = next++; part < parts; part = next++) {
      call(job, part);
    }
  }

  void live() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stop || job_number != seen; });
      if (stop) {
        return;
      }
      seen = job_number;
      lock.unlock();
      take_parts();
      lock.lock();
      if (--working == 0) {
        done.notify_one();
      }
    }
  }
};

Threads::Threads(std::size_t count) : count_(std::max<std::size_t>(count, 1)) {
  if (count_ == 1) {
    return;
  }
  pool_ = std::make_unique<Pool>();
  pool_->threads.reserve(count_ - 1);
  try {
    while (pool_->threads.size() + 1 < count_) {
      pool_->threads.emplace_back([pool = pool_.get()] { pool->live(); });
    }
  } catch (const std::system_error&) {
    count_ = pool_->threads.size() + 1;  // the system has no more: results do not depend on the number
  }
}

Threads::~Threads() {
  if (!pool_) {
    return;
  }
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->stop = true;
  }
  pool_->wake.notify_all();
  for (std::thread& thread : pool_->threads) {
    thread.join();
  }
}

void Threads::dispatch(std::size_t parts, void (*call)(void*, std::size_t), void* job) {
  {
    const std::lock_guard lock(pool_->mutex);
    pool_->call = call;
    pool_->job = job;
    pool_->parts = parts;
    pool_->next = 0;
    pool_->working = pool_->threads.size();
    ++pool_->job_number;
  }
  pool_->wake.notify_all();
  pool_->take_parts();
  std::unique_lock lock(pool_->mutex);
  pool_->done.wait(lock, [&] { return pool_->working == 0; });
}

}  // namespace breakeven
