// The best buckets that there are, by dynamic programme.
#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>

#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;  // rounding alone must not leave nothing

/// One way to send the first so many gradients.
struct Sent {
  double end = 0;   // from then on the next one could go, or all is over
  double busy = 0;  // the network's time so far, by which backward was slowed
  std::size_t buckets = 0;
  std::size_t begin = 0;   // of the last bucket
  std::size_t before = 0;  // which way the gradients before it are sent
};

bool sooner(const Sent& a, const Sent& b) {
  return std::tie(a.end, a.busy, a.buckets) < std::tie(b.end, b.busy, b.buckets);
}

/// A bucket is sent from max(the end of the one before, ready + drag * network time so far) on, since
/// backward loses drag = 1 - 1/gamma of every busy second. Both times only ever harm what comes after.
class Programme {
 public:
  template <class Cost>
  Programme(const Workload& workload, const Cost& cost, double gamma)
      : gradients_(in_gradient_order(workload)),
        count_(gradients_.size()),
        backward_(workload.backward().base()),
        drag_(1 - 1 / gamma),
        ways_(count_ + 1) {
    price_.reserve(count_ * (count_ + 1) / 2);
    for (std::size_t end = 1; end <= count_; ++end) {
      for (std::size_t begin = end; begin-- > 0;) {
        price_.push_back(cost(begin, end).base());
      }
    }
    ways_[0].emplace_back();
  }

  std::vector<GradientRange> best() {
    keep_one();
    if (drag_ > 0 && count_ > 0) {
      look_ahead();
      const double bound = std::min(ways_.back().front().end, over_by_guess());
      keep_all(bound * (1 + kSlack));
    }
    return ranges();
  }

 private:
  /// Calls visit(begin, ready, price) for the buckets that end before gradient `end`, the smallest first.
  template <class Visit>
  void each_bucket(std::size_t end, Visit visit) const {
    const double* price = &price_[end * (end - 1) / 2];
    double ready = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      ready = std::max(ready, gradients_[begin].ready.base());
      visit(begin, ready, *price++);
    }
  }
  /// The bucket [begin, end) after one of the ways before it.
  [[nodiscard]] Sent then(std::size_t begin, std::size_t end, std::size_t before, double ready,
                          double price) const {
    const Sent& way = ways_[begin][before];
    const double busy = way.busy + price;
    const double through = std::max(way.end, ready + drag_ * way.busy) + price;
    const double next = end < count_ ? gradients_[end].ready.base() : backward_;
    return {std::max(through, next + drag_ * busy), busy, way.buckets + 1, begin, before};
  }

  /// The way after which the next gradient can be sent soonest, for every number of gradients. All there is
  /// where nothing slows backward; else a good way, and how late the best may be.
  void keep_one() {
    for (std::size_t end = 1; end <= count_; ++end) {
      Sent best{kForever};
      each_bucket(end, [&](std::size_t begin, double ready, double price) {
        const Sent way = then(begin, end, 0, ready, price);
        best = sooner(way, best) ? way : best;
      });
      ways_[end].assign(1, best);
    }
  }

  /// What at least comes behind and before each number of gradients.
  void look_ahead() {
    behind_.assign(count_ + 1, {kForever, kForever, 0});
    behind_[count_] = {0, backward_, count_};
    least_before_.assign(count_ + 1, kForever);
    least_before_[0] = 0;
    for (std::size_t end = 1; end <= count_; ++end) {
      each_bucket(end, [&](std::size_t begin, double, double price) {
        least_before_[end] = std::min(least_before_[end], least_before_[begin] + price);
      });
    }
    for (std::size_t end = count_; end > 0; --end) {
      each_bucket(end, [&](std::size_t begin, double ready, double price) {
        const double over = std::max(drag_ * price + behind_[end].over, ready + price + behind_[end].busy);
        Behind& best = behind_[begin];
        best.busy = std::min(best.busy, price + behind_[end].busy);
        if (over < best.over) {
          best.over = over;
          best.next = end;
        }
      });
    }
  }

  /// When all is over if each bucket is the one that would be best on an idle network: hardly later than the
  /// best where the network is idle most of the time.
  [[nodiscard]] double over_by_guess() const {
    double through = 0, busy = 0;
    for (std::size_t begin = 0; begin < count_; begin = behind_[begin].next) {
      const std::size_t end = behind_[begin].next;
      double ready = 0;
      for (std::size_t i = begin; i < end; ++i) {
        ready = std::max(ready, gradients_[i].ready.base());
      }
      const double price = price_[end * (end - 1) / 2 + (end - 1 - begin)];
      through = std::max(through, ready + drag_ * busy) + price;
      busy += price;
    }
    return std::max(through, backward_ + drag_ * busy);
  }

  /// All ways that can be over by `bound` and that no other beats in both times.
  void keep_all(double bound) {
    for (std::size_t end = 1; end <= count_; ++end) {
      std::vector<Sent>& ways = ways_[end];
      ways.clear();
      const Behind& behind = behind_[end];
      each_bucket(end, [&](std::size_t begin, double ready, double price) {
        const double before_this = drag_ * least_before_[begin];
        if (std::max(ready + before_this + price + behind.busy, before_this + drag_ * price + behind.over) >
            bound) {
          return;
        }
        for (std::size_t before = 0; before < ways_[begin].size(); ++before) {
          const Sent way = then(begin, end, before, ready, price);
          if (std::max(way.end + behind.busy, drag_ * way.busy + behind.over) <= bound) {
            keep(ways, way);
          }
        }
      });
    }
  }

  /// `ways` in rising order of end, falling of busy: none beats another in both.
  void keep(std::vector<Sent>& ways, const Sent& way) const {
    const double rounding = 1e-14 * way.end;
    auto at = std::lower_bound(ways.begin(), ways.end(), way, sooner);
    if (at != ways.begin() && drag_ * ((at - 1)->busy - way.busy) <= rounding) {
      return;
    }
    const auto beaten = std::find_if(
        at, ways.end(), [&](const Sent& later) { return drag_ * (way.busy - later.busy) > rounding; });
    at = ways.erase(at, beaten);
    ways.insert(at, way);
  }

  [[nodiscard]] std::vector<GradientRange> ranges() const {
    std::vector<GradientRange> found;
    std::size_t last = 0;  // the soonest is the first
    for (std::size_t end = count_; end > 0;) {
      const Sent& way = ways_[end][last];
      found.emplace_back(way.begin, end);
      end = way.begin;
      last = way.before;
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  std::vector<Gradient> gradients_;
  std::size_t count_;
  double backward_, drag_;
  std::vector<double> price_;            // of the buckets in the order of each_bucket
  std::vector<std::vector<Sent>> ways_;  // by how many gradients are sent
  /// Of the gradients behind some first ones, for any way to send those.
  struct Behind {
    double busy = 0;       // how long the network takes at least
    double over = 0;       // when all is over at the earliest, apart from how the first ones slowed backward
    std::size_t next = 0;  // end of the bucket with which that is so
  };
  std::vector<Behind> behind_;
  std::vector<double> least_before_;  // how long the network takes at least for the first ones
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
