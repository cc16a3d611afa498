#include "model/timeline.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace breakeven {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
constexpr double kForever = std::numeric_limits<double>::infinity();

/// First come, first served; never more entries than chains.
struct Queue {
  std::vector<std::uint32_t> chains;
  std::size_t head = 0;
  std::size_t running = kNobody;
  double end = 0;  // of what runs

  [[nodiscard]] bool busy() const { return running != kNobody; }
  [[nodiscard]] bool waiting() const { return head < chains.size(); }
};

/// What a network that goes by priority has not been handed yet: lowest rank on top, then the first chain.
class Pending {
 public:
  explicit Pending(std::span<const Chain> chains) : later_{chains} {}
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  void push(std::uint32_t chain) {
    heap_.push_back(chain);
    std::push_heap(heap_.begin(), heap_.end(), later_);
  }
  std::uint32_t pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later_);
    const std::uint32_t chain = heap_.back();
    heap_.pop_back();
    return chain;
  }

 private:
  struct Later {
    std::span<const Chain> chains;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      return std::pair(chains[a].rank, a) > std::pair(chains[b].rank, b);
    }
  };
  Later later_;
  std::vector<std::uint32_t> heap_;
};

class Loop {
 public:
  Loop(const Step& step, std::vector<Span>* spans)
      : step_(step),
        chains_(step.chains),
        backward_(step.backward.base()),
        spans_(spans),
        stage_(chains_.size()),
        out_{Pending(chains_), Pending(chains_)},
        missing_(step.forward.size()) {
    order_.resize(chains_.size());
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    const auto by_ready = [&](std::uint32_t a, std::uint32_t b) {
      return chains_[a].ready < chains_[b].ready;
    };
    if (!std::is_sorted(order_.begin(), order_.end(), by_ready)) {
      std::stable_sort(order_.begin(), order_.end(), by_ready);
    }
    for (const Chain& chain : chains_) {
      early_ += chain.late != 0 && !chain.stages.empty() ? 1 : 0;
      if (!step_.forward.empty() && !chain.stages.empty()) {
        ++missing_[chain.part];
      }
      if (chain.late != kNever) {
        late_parts_.push_back(chain.part);
      }
    }
    std::sort(late_parts_.begin(), late_parts_.end());
  }

  Breakdown run() {
    while (true) {
      release();
      begin_forward();
      dispatch();
      const double next = next_event();
      if (next == kForever) {
        break;
      }
      advance(next);
      finish();
    }
    parts_.backward = step_.backward;
    return parts_;
  }

 private:
  [[nodiscard]] Queue& queue(Resource resource) { return queues_[static_cast<std::size_t>(resource)]; }
  [[nodiscard]] bool busy(Resource resource) const {
    return queues_[static_cast<std::size_t>(resource)].busy();
  }
  [[nodiscard]] bool backward_over() const { return done_ >= backward_; }
  /// Backward or a part of forward makes progress.
  [[nodiscard]] bool computing() const {
    return !busy(Resource::compute) && (!backward_over() || (part_begun_ && part_ < step_.forward.size()));
  }
  /// A codec or a copy runs; compute may also be held by an exchange that it waits for.
  [[nodiscard]] bool coding() const {
    const Queue& compute = queues_[static_cast<std::size_t>(Resource::compute)];
    const auto held = [&] {
      return chains_[compute.running].stages[stage_[compute.running]].activity == Activity::exchange;
    };
    return busy(Resource::codec) || busy(Resource::host) || busy(Resource::copy) ||
           (compute.busy() && !held());
  }
  /// Seconds that one second of compute's work takes right now.
  [[nodiscard]] double pace() const {
    const bool network = busy(Resource::network) || busy(Resource::network_in);
    return (network ? step_.slowdown.network : 1) * (busy(Resource::codec) ? step_.slowdown.codec : 1);
  }
  /// Work, of backward or of the part of forward, at which something happens next.
  [[nodiscard]] double target() const {
    if (backward_over()) {
      return step_.forward[part_].base();
    }
    return pending_ < order_.size() ? std::min(backward_, chains_[order_[pending_]].ready.base()) : backward_;
  }
  double& progress() { return backward_over() ? part_done_ : done_; }

  void enqueue(std::uint32_t chain) {
    const std::size_t stage = stage_[chain];
    if (stage >= chains_[chain].stages.size()) {
      return;
    }
    if (stage == chains_[chain].late && !open(chains_[chain].part)) {
      held_.push_back(chain);
      return;
    }
    const Resource resource = chains_[chain].stages[stage].resource;
    if (step_.order.priority && resource >= Resource::network) {
      out_[resource == Resource::network ? 0 : 1].push(chain);
    } else {
      queue(resource).chains.push_back(chain);
    }
  }

  /// Whether late stages of this part's messages may go.
  [[nodiscard]] bool open(std::size_t part) const {
    const auto found = std::lower_bound(late_parts_.begin(), late_parts_.end(), part);
    if (found == late_parts_.begin()) {
      return backward_over() && early_ == 0;
    }
    const std::size_t before = *(found - 1);
    return part_ > before || (part_ == before && part_begun_);
  }

  void release() {
    while (pending_ < order_.size() && (backward_over() || chains_[order_[pending_]].ready.base() <= done_)) {
      const std::uint32_t chain = order_[pending_++];
      const double delay = chains_[chain].delay.base();
      if (delay > 0) {
        delayed_.emplace_back(now_ + delay, chain);
        std::push_heap(delayed_.begin(), delayed_.end(), std::greater<>());
      } else {
        enqueue(chain);
      }
    }
    while (!delayed_.empty() && delayed_.front().first <= now_) {
      enqueue(delayed_.front().second);
      std::pop_heap(delayed_.begin(), delayed_.end(), std::greater<>());
      delayed_.pop_back();
    }
  }

  /// Begins the next part of forward once its messages are there, and lets go what that lets go.
  void begin_forward() {
    let_go();
    while (backward_over() && part_ < step_.forward.size() && missing_[part_] == 0) {
      if (!part_begun_) {
        part_begun_ = true;
        let_go();
      }
      if (part_done_ < step_.forward[part_].base()) {
        return;
      }
      ++part_;
      part_begun_ = false;
      part_done_ = 0;
    }
  }

  void let_go() {
    if (held_.empty()) {
      return;
    }
    std::vector<std::uint32_t> held;
    held.swap(held_);
    for (const std::uint32_t chain : held) {
      enqueue(chain);
    }
  }

  void dispatch() {
    if (step_.order.priority) {
      while (!out_[0].empty() && (handed_count_ == 0 || handed_ < step_.order.credit)) {
        const std::uint32_t chain = out_[0].pop();
        handed_ += chains_[chain].size;
        ++handed_count_;
        queue(Resource::network).chains.push_back(chain);
      }
      if (!out_[1].empty() && !busy(Resource::network_in)) {
        queue(Resource::network_in).chains.push_back(out_[1].pop());
      }
    }
    for (Queue& q : queues_) {
      if (!q.busy() && q.waiting()) {
        q.running = q.chains[q.head++];
        q.end = now_ + chains_[q.running].stages[stage_[q.running]].time.base();
      }
    }
  }

  [[nodiscard]] double next_event() {
    double next = kForever;
    if (!delayed_.empty()) {
      next = delayed_.front().first;
    }
    for (const Queue& q : queues_) {
      next = q.busy() ? std::min(next, q.end) : next;
    }
    return computing() ? std::min(next, now_ + (target() - progress()) * pace()) : next;
  }

  /// Moves the clock to `next` and books the time in between on exactly one part.
  void advance(double next) {
    const double passed = next - now_;
    if (computing()) {
      const double rate = pace();
      const double goal = target();
      double& done = progress();
      // Land on the goal exactly when it is what ends this interval: rounding must not leave a sliver of
      // work.
      const double work = next >= now_ + (goal - done) * rate ? goal - done : passed / rate;
      record_compute(next);
      done = work == goal - done ? goal : done + work;
      parts_.slowdown += Seconds::of(work * (rate - 1));
    } else if (coding()) {
      parts_.exposed_codec += Seconds::of(passed);
    } else {
      parts_.exposed_communication += Seconds::of(passed);
    }
    now_ = next;
  }

  void record_compute(double end) {
    if (spans_ == nullptr || end == now_) {
      return;
    }
    const Activity activity = backward_over() ? Activity::forward : Activity::backward;
    if (last_compute_ != kNobody && (*spans_)[last_compute_].end.base() == now_ &&
        (*spans_)[last_compute_].activity == activity) {
      (*spans_)[last_compute_].end = Seconds::of(end);
      return;
    }
    last_compute_ = spans_->size();
    spans_->push_back({Resource::compute, activity, 0, 0, Seconds::of(now_), Seconds::of(end)});
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
      leave(chain, stage.resource);
      enqueue(static_cast<std::uint32_t>(chain));
    }
  }

  /// A chain has done a stage.
  void leave(std::size_t chain, Resource resource) {
    if (step_.order.priority && resource == Resource::network) {
      handed_ = --handed_count_ == 0 ? Bytes{} : handed_ - chains_[chain].size;
    }
    const std::size_t all = chains_[chain].stages.size();
    const std::size_t done = ++stage_[chain];
    if (done == std::min(chains_[chain].late, all)) {
      --early_;
    }
    if (done == all && !step_.forward.empty()) {
      --missing_[chains_[chain].part];
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

  const Step step_;
  std::span<const Chain> chains_;
  double backward_;
  std::vector<Span>* spans_;
  std::vector<std::size_t> stage_;                         // next stage by chain
  std::vector<std::uint32_t> order_;                       // chains by ready
  std::vector<std::pair<double, std::uint32_t>> delayed_;  // heap of chains by when they may go
  std::size_t pending_ = 0;                                // index into order_
  std::array<Queue, kResources> queues_;
  std::array<Pending, 2> out_;  // for the network and its way back
  Bytes handed_;                // to the network, and not yet through
  std::size_t handed_count_ = 0;
  std::size_t early_ = 0;                // chains with stages left that belong to backward
  std::vector<std::uint32_t> held_;      // chains whose next stage waits for forward
  std::vector<std::size_t> late_parts_;  // of the chains with late stages, rising
  std::vector<std::size_t> missing_;     // messages that each part of forward still waits for
  std::size_t part_ = 0;                 // of forward
  bool part_begun_ = false;
  double part_done_ = 0;
  std::size_t last_compute_ = kNobody;
  double now_ = 0, done_ = 0;
  Breakdown parts_;
};

}  // namespace

std::string_view name(Resource resource) {
  constexpr std::array<std::string_view, kResources> names = {"compute", "codec",   "host",
                                                              "copy",    "network", "network in"};
  return names[static_cast<std::size_t>(resource)];
}

std::string_view name(Activity activity) {
  constexpr std::array<std::string_view, 7> names = {"forward", "backward", "encode", "exchange",
                                                     "decode",  "copy",     "other"};
  return names[static_cast<std::size_t>(activity)];
}

Breakdown run_timeline(const Step& step, std::vector<Span>* spans) {
  return Loop(step, spans).run();
}

Breakdown run_timeline(std::span<const Chain> chains, Seconds backward, Slowdown slowdown,
                       std::vector<Span>* spans) {
  return Loop({chains, backward, slowdown, {}, {}}, spans).run();
}

}  // namespace breakeven
