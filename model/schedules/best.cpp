// The best buckets that there are, by dynamic programme.
#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-13;  // what decides no more

/// A bucket is sent from max(the end of the one before, ready + drag * network time so far) on, since
/// backward loses drag = 1 - 1/gamma of every busy second. All is over at
///   drag * network time + late,  late = max(backward, max over buckets of ready + rest / gamma)
/// where rest is the network time from that bucket on. With a bound on late, the least network time is a
/// shortest path, since less of it harms no bucket; and the looser the bound, the less network time.
class Programme {
 public:
  template <class Cost>
  Programme(const Workload& workload, const Cost& cost, double gamma)
      : gradients_(in_gradient_order(workload)),
        count_(gradients_.size()),
        backward_(workload.backward().base()),
        share_(1 / gamma),
        ready_(count_ + 1),
        rest_(count_ + 1) {
    price_.reserve(count_ * (count_ + 1) / 2);
    for (std::size_t end = 1; end <= count_; ++end) {
      ready_[end] = std::max(ready_[end - 1], gradients_[end - 1].ready.base());
      for (std::size_t begin = end; begin-- > 0;) {
        price_.push_back(cost(begin, end).base());
      }
    }
  }

  std::vector<GradientRange> best() {
    if (count_ > 0) {
      best_.emplace_back(0, count_);  // where no time is finite
      const Found soonest = least_busy(least_late());
      const Found idlest = least_busy(kForever);
      search(soonest, idlest);
    }
    return std::move(best_);
  }

 private:
  /// The buckets with the least network time within a bound on late.
  struct Found {
    double late = 0, busy = 0;
  };
  /// From a gradient on.
  struct Rest {
    double busy = kForever, late = 0;
    std::size_t buckets = 0, end = 0;                    // end: of the first bucket
    [[nodiscard]] bool before(const Rest& same) const {  // of the same network time
      return std::tie(late, buckets) < std::tie(same.late, same.buckets);
    }
  };

  [[nodiscard]] double over(const Found& found) const { return (1 - share_) * found.busy + found.late; }

  /// The least late that there is: each bucket as soon as the one before has left, at 1/gamma of its price.
  [[nodiscard]] double least_late() const {
    std::vector<double> through(count_ + 1, kForever);
    through[0] = 0;
    const double* price = price_.data();
    for (std::size_t end = 1; end <= count_; ++end) {
      for (std::size_t begin = end; begin-- > 0;) {
        through[end] = std::min(through[end], std::max(through[begin], ready_[end]) + share_ * *price++);
      }
    }
    return std::max(backward_, through[count_]);
  }

  /// Shortest path from the last gradient to the first; of equals what is less late, then fewer buckets.
  Found least_busy(double bound) {
    std::fill(rest_.begin(), rest_.end(), Rest{});
    rest_[count_] = {0, backward_, 0, count_};
    for (std::size_t end = count_; end > 0; --end) {
      const Rest behind = rest_[end];
      const double limit = (bound * (1 + kRounding) - ready_[end]) / share_;
      if (behind.busy > limit) {
        continue;
      }
      const double* price = &price_[end * (end - 1) / 2];
      for (std::size_t begin = end; begin-- > 0;) {
        const double busy = behind.busy + *price++;
        if (busy <= limit && busy <= rest_[begin].busy) {
          const Rest way{busy, std::max(behind.late, ready_[end] + share_ * busy), behind.buckets + 1, end};
          if (busy < rest_[begin].busy || way.before(rest_[begin])) {
            rest_[begin] = way;
          }
        }
      }
    }
    return remember({rest_[0].late, rest_[0].busy});
  }

  /// The path in rest_ is the best if it is over sooner than those before.
  Found remember(const Found& found) {
    if (over(found) < over_) {
      over_ = over(found);
      best_.clear();
      for (std::size_t begin = 0; begin < count_; begin = rest_[begin].end) {
        best_.emplace_back(begin, rest_[begin].end);
      }
    }
    return found;
  }

  /// What lies between the two, as long as something there can be over sooner than the best so far: the next
  /// one below the looser, then either half below that.
  void search(const Found& soonest, const Found& idlest) {
    std::vector<std::pair<Found, Found>> open{{soonest, idlest}};
    while (!open.empty()) {
      const auto [tight, loose] = open.back();
      open.pop_back();
      const double bound = std::min(loose.late, over_ - (1 - share_) * loose.busy) * (1 - 10 * kRounding);
      if (!between(tight, {bound, loose.busy})) {
        continue;
      }
      const Found next = least_busy(bound);
      const double middle = (tight.late + next.late) / 2;
      if (between(tight, {middle, next.busy})) {
        const Found found = least_busy(middle);
        open.emplace_back(Found{middle, found.busy}, next);
        open.emplace_back(tight, found);
      }
    }
  }
  /// Whether a looser bound than that of `tight` is left, and less network time to be had.
  static bool between(const Found& tight, const Found& loose) {
    return loose.late > tight.late * (1 + kRounding) && tight.busy > loose.busy * (1 + kRounding);
  }

  std::vector<Gradient> gradients_;
  std::size_t count_;
  double backward_, share_;    // 1 / gamma
  std::vector<double> ready_;  // of the first so many gradients
  std::vector<double> price_;  // of buckets: by end, the smallest first
  std::vector<Rest> rest_;     // by the gradient that it begins with
  std::vector<GradientRange> best_;
  double over_ = kForever;  // with the best
};

}  // namespace

std::vector<GradientRange> best_ranges(const Workload& workload,
                                       const std::function<Seconds(std::size_t begin, std::size_t end)>& cost,
                                       double gamma) {
  return Programme(workload, cost, gamma).best();
}

std::vector<Message> buckets_of(const Workload& workload, const std::vector<GradientRange>& ranges) {
  std::vector<std::size_t> begins(ranges.size());
  std::transform(ranges.begin(), ranges.end(), begins.begin(),
                 [](const GradientRange& range) { return range.first; });
  return merged(in_gradient_order(workload), begins);
}

std::vector<Message> best_buckets(const Workload& workload, const MessageCosts& costs) {
  std::vector<Bytes> before(1);  // of the gradients before each
  for (const Gradient& gradient : in_gradient_order(workload)) {
    before.push_back(before.back() + gradient.shape.bytes());
  }
  const auto cost = [&](std::size_t begin, std::size_t end) {
    return costs.exchange(before[end] - before[begin]);
  };
  return buckets_of(workload, Programme(workload, cost, costs.gamma).best());
}

}  // namespace breakeven
