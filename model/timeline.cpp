#include "model/timeline.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>

namespace breakeven {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

/// First come, first served; never more entries than chains.
struct Queue {
  std::vector<std::uint32_t> chains;
  std::size_t head = 0;
  std::size_t running = kNobody;
  double end = 0;  // of what runs

  [[nodiscard]] bool busy() const { return running != kNobody; }
  [[nodiscard]] bool waiting() const { return head < chains.size(); }
};

class Loop {
 public:
  Loop(std::span<const Chain> chains, Seconds backward, Slowdown slowdown, std::vector<Span>* spans)
      : chains_(chains),
        backward_(backward.base()),
        slowdown_(slowdown),
        spans_(spans),
        stage_(chains.size()) {
    order_.resize(chains.size());
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    const auto by_ready = [&](std::uint32_t a, std::uint32_t b) {
      return chains_[a].ready < chains_[b].ready;
    };
    if (!std::is_sorted(order_.begin(), order_.end(), by_ready)) {
      std::stable_sort(order_.begin(), order_.end(), by_ready);
    }
  }

  Breakdown run() {
    while (true) {
      release();
      dispatch();
      const double next = next_event();
      if (next == std::numeric_limits<double>::infinity()) {
        break;
      }
      advance(next);
      finish();
    }
    parts_.backward = Seconds::of(backward_);
    return parts_;
  }

 private:
  [[nodiscard]] Queue& queue(Resource resource) { return queues_[static_cast<std::size_t>(resource)]; }
  [[nodiscard]] bool busy(Resource resource) const {
    return queues_[static_cast<std::size_t>(resource)].busy();
  }
  [[nodiscard]] bool backward_runs() const { return done_ < backward_ && !busy(Resource::compute); }
  /// Seconds that one second of backward's work takes right now.
  [[nodiscard]] double pace() const {
    return (busy(Resource::network) ? slowdown_.network : 1) * (busy(Resource::codec) ? slowdown_.codec : 1);
  }
  /// Backward work at which something happens next.
  [[nodiscard]] double target() const {
    return pending_ < order_.size() ? std::min(backward_, chains_[order_[pending_]].ready.base()) : backward_;
  }

  void enqueue(std::uint32_t chain) {
    if (stage_[chain] < chains_[chain].stages.size()) {
      queue(chains_[chain].stages[stage_[chain]].resource).chains.push_back(chain);
    }
  }

  void release() {
    while (pending_ < order_.size() &&
           (done_ >= backward_ || chains_[order_[pending_]].ready.base() <= done_)) {
      enqueue(order_[pending_++]);
    }
  }

  void dispatch() {
    for (Queue& q : queues_) {
      if (!q.busy() && q.waiting()) {
        q.running = q.chains[q.head++];
        q.end = now_ + chains_[q.running].stages[stage_[q.running]].time.base();
      }
    }
  }

  [[nodiscard]] double next_event() const {
    double next = std::numeric_limits<double>::infinity();
    for (const Queue& q : queues_) {
      next = q.busy() ? std::min(next, q.end) : next;
    }
    return backward_runs() ? std::min(next, now_ + (target() - done_) * pace()) : next;
  }

  /// Moves the clock to `next` and books the time in between on exactly one part.
  void advance(double next) {
    const double passed = next - now_;
    if (backward_runs()) {
      const double rate = pace();
      const double goal = target();
      // Land on the goal exactly when it is what ends this interval: rounding must not leave a sliver of
      // work.
      const double work = next >= now_ + (goal - done_) * rate ? goal - done_ : passed / rate;
      done_ = work == goal - done_ ? goal : done_ + work;
      parts_.slowdown += Seconds::of(work * (rate - 1));
      record_backward(next);
    } else if (busy(Resource::compute) || busy(Resource::codec) || busy(Resource::host) ||
               busy(Resource::copy)) {
      parts_.exposed_codec += Seconds::of(passed);
    } else {
      parts_.exposed_communication += Seconds::of(passed);
    }
    now_ = next;
  }

  void record_backward(double end) {
    if (spans_ == nullptr || end == now_) {
      return;
    }
    if (last_backward_ != kNobody && (*spans_)[last_backward_].end.base() == now_) {
      (*spans_)[last_backward_].end = Seconds::of(end);
      return;
    }
    last_backward_ = spans_->size();
    spans_->push_back({Resource::compute, Activity::backward, 0, 0, Seconds::of(now_), Seconds::of(end)});
  }

  void finish() {
    for (Queue& q : queues_) {
      if (!q.busy() || q.end > now_) {
        continue;
      }
      const std::size_t chain = q.running;
      const Stage& stage = chains_[chain].stages[stage_[chain]];
      book(stage);
      if (spans_ != nullptr) {
        spans_->push_back({stage.resource, stage.activity, chain, stage.round,
                           Seconds::of(now_ - stage.time.base()), Seconds::of(now_)});
      }
      q.running = kNobody;
      ++stage_[chain];
      enqueue(static_cast<std::uint32_t>(chain));
    }
  }

  void book(const Stage& stage) {
    switch (stage.activity) {
      case Activity::encode:
        parts_.encode += stage.time;
        break;
      case Activity::decode:
        parts_.decode += stage.time;
        break;
      case Activity::exchange:
        parts_.communication += stage.time;
        break;
      default:
        break;
    }
  }

  std::span<const Chain> chains_;
  double backward_;
  Slowdown slowdown_;
  std::vector<Span>* spans_;
  std::vector<std::size_t> stage_;    // next stage by chain
  std::vector<std::uint32_t> order_;  // chains by ready
  std::size_t pending_ = 0;           // index into order_
  std::array<Queue, kResources> queues_;
  std::size_t last_backward_ = kNobody;
  double now_ = 0, done_ = 0;
  Breakdown parts_;
};

}  // namespace

std::string_view name(Resource resource) {
  constexpr std::array<std::string_view, kResources> names = {"compute", "codec", "host", "copy", "network"};
  return names[static_cast<std::size_t>(resource)];
}

std::string_view name(Activity activity) {
  constexpr std::array<std::string_view, 7> names = {"forward", "backward", "encode", "exchange",
                                                     "decode",  "copy",     "other"};
  return names[static_cast<std::size_t>(activity)];
}

Breakdown run_timeline(std::span<const Chain> chains, Seconds backward, Slowdown slowdown,
                       std::vector<Span>* spans) {
  return Loop(chains, backward, slowdown, spans).run();
}

}  // namespace breakeven
