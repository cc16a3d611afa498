#include "model/bucket_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

constexpr double kMebibyte = 1048576;
/// Steps that differ by less are the same: rounding.
constexpr double kSame = 1e-9;

/// The first so many gradients are sent in the best way for some amount of network time.
struct Sent {
  double end = 0;   // of the last bucket
  double busy = 0;  // the network's time so far, by which backward was slowed
  std::size_t buckets = 0;
  std::size_t begin = 0;   // of the last bucket
  std::size_t before = 0;  // which way the gradients before it are sent

  [[nodiscard]] auto rank() const { return std::tuple(end, busy, buckets); }
};

/// Leaves those that no other beats in both times.
void keep_best(std::vector<Sent>& ways, double drag) {
  constexpr double kRounding = 1e-14;
  std::sort(ways.begin(), ways.end(), [](const Sent& a, const Sent& b) { return a.rank() < b.rank(); });
  std::size_t kept = 0;
  double least = std::numeric_limits<double>::infinity();
  for (const Sent& way : ways) {
    if (kept == 0 || drag * (least - way.busy) > kRounding * way.end) {
      least = way.busy;
      ways[kept++] = way;
    }
  }
  ways.resize(kept);
}

std::vector<GradientRange> ranges_of(const std::vector<std::vector<Sent>>& ways, std::size_t last) {
  std::vector<GradientRange> ranges;
  for (std::size_t end = ways.size() - 1; end > 0;) {
    const Sent& way = ways[end][last];
    ranges.emplace_back(way.begin, end);
    end = way.begin;
    last = way.before;
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

/// DeepSpeed's ZeRO stages 1 and 2: a bucket is sent before the tensor that would make it exceed the limit
/// (stage_1_and_2.py, reduce_independent_p_g_buckets_and_remove_grads).
Schedule deepspeed(double elements) {
  Schedule schedule;
  schedule.spec = "deepspeed:reduce_bucket_size=" + exact(elements);
  schedule.messages = [elements](const Workload& workload, const MessageCosts& /*costs*/) {
    std::vector<Message> messages;
    Bucket bucket;
    double held = 0;
    for (const Gradient& gradient : in_gradient_order(workload)) {
      const auto more = static_cast<double>(gradient.shape.elements());
      if (held + more > elements) {
        bucket.flush(messages);
        held = 0;
      }
      bucket.add(gradient.shape, gradient.ready, gradient.module);
      held += more;
    }
    bucket.flush(messages);
    return messages;
  };
  return schedule;
}

/// Four values an octave from `low` on, the last one at least `high`.
std::vector<double> octaves(double low, double high) {
  std::vector<double> values;
  for (double base = low; values.empty() || values.back() < high; base *= 2) {
    for (const double part : {1.0, 1.25, 1.5, 1.75}) {
      if (values.empty() || values.back() < high) {
        values.push_back(base * part);
      }
    }
  }
  return values;
}

/// Round numbers from `low`, a power of ten, on; the last one at least `high`.
std::vector<double> decades(double low, double high) {
  std::vector<double> values;
  for (double base = low; values.empty() || values.back() < high; base *= 10) {
    for (const double part : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
      if (values.empty() || values.back() < high) {
        values.push_back(std::round(base * part));
      }
    }
  }
  return values;
}

class Search {
 public:
  Search(Scenario scenario, const Compressor& plain) : scenario_(std::move(scenario)), plain_(plain) {}

  Prediction run(Schedule schedule) {
    scenario_.schedule = std::move(schedule);
    Prediction prediction = predict(scenario_, plain_);
    if (prediction.step < least_) {
      least_ = prediction.step;
      best_ = prediction;
    }
    return prediction;
  }
  Division divide(Schedule schedule) {
    const Prediction prediction = run(std::move(schedule));
    return {scenario_.schedule.spec, prediction.parts, prediction.messages.size()};
  }
  Division divide(const std::string& spec) { return divide(make_schedule(spec)); }
  [[nodiscard]] const Prediction& best() const { return best_; }

 private:
  Scenario scenario_;
  const Compressor& plain_;
  Seconds least_ = Seconds::of(std::numeric_limits<double>::infinity());
  Prediction best_;
};

bool better(const Division& a, const Division& b, double by) {
  return a.parts.step() < b.parts.step() * (1 - by);
}

/// `tried` in the order of preference: the first of those with the shortest step.
Setting choose(std::vector<Setting> tried, const std::function<double(const Setting&)>& distance) {
  std::stable_sort(tried.begin(), tried.end(),
                   [&](const Setting& a, const Setting& b) { return distance(a) < distance(b); });
  Setting best = tried.front();
  for (const Setting& setting : tried) {
    best = better(setting.division, best.division, kSame) ? setting : best;
  }
  return best;
}

/// The best of `values` (rising), and of a finer grid around it where that gains enough for an odder number.
Setting one_knob(const std::vector<double>& values, double usual,
                 const std::function<Division(double)>& divide) {
  const auto distance = [usual](const Setting& setting) { return std::abs(std::log(setting.size / usual)); };
  const auto best_of = [&](const std::vector<double>& grid) {
    std::vector<Setting> tried;
    tried.reserve(grid.size());
    for (const double value : grid) {
      tried.push_back({divide(value), value, {}});
    }
    return choose(std::move(tried), distance);
  };
  const Setting coarse = best_of(values);
  const auto at = std::find(values.begin(), values.end(), coarse.size);
  const double low = at == values.begin() ? *at : *(at - 1);
  const double high = at + 1 == values.end() ? *at : *(at + 1);
  constexpr int kPoints = 16;
  std::vector<double> finer;
  for (int i = 1; i < kPoints; ++i) {
    finer.push_back(parse_number(significant(low + (high - low) * i / kPoints)));
  }
  const Setting fine = best_of(finer);
  constexpr double kWorthIt = 1e-3;
  return better(fine.division, coarse.division, kWorthIt) ? fine : coarse;
}

Setting best_horovod(Search& search, Bytes gradient) {
  constexpr double kUsualBytes = 64 * kMebibyte;
  constexpr double kUsualCycle = 5e-3;
  std::vector<Setting> tried;
  for (double size = kMebibyte; tried.empty() || size < 2 * gradient.base(); size *= 2) {
    for (const char* cycle : {"0.5", "1", "2", "3", "5", "10", "20", "50"}) {
      const std::string spec = "horovod:bytes=" + exact(size) + "B,cycle=" + cycle + "ms";
      tried.push_back({search.divide(spec), size, parse<Seconds>(std::string(cycle) + "ms")});
    }
  }
  return choose(std::move(tried), [](const Setting& setting) {
    return std::abs(std::log(setting.size / kUsualBytes)) +
           std::abs(std::log(setting.cycle.base() / kUsualCycle));
  });
}

}  // namespace

/// Dynamic programme over where the last bucket begins. A bucket is sent from max(the end of the one before,
/// ready + drag * network time so far) on, since backward loses drag = 1 - 1/gamma of every busy second; both
/// times only ever harm what comes after, so that the ways that no other beats in both are enough.
std::vector<GradientRange> best_ranges(const Workload& workload,
                                       const std::function<Seconds(std::size_t begin, std::size_t end)>& cost,
                                       double gamma, Seconds bound) {
  const std::vector<Gradient> gradients = in_gradient_order(workload);
  const double backward = workload.backward().base();
  const double drag = 1 - 1 / gamma;
  std::vector<std::vector<Sent>> ways(gradients.size() + 1);
  ways[0].emplace_back();
  for (std::size_t end = 1; end <= gradients.size(); ++end) {
    double ready = 0;
    for (std::size_t begin = end; begin-- > 0;) {
      ready = std::max(ready, gradients[begin].ready.base());
      const double time = cost(begin, end).base();
      for (std::size_t before = 0; before < ways[begin].size(); ++before) {
        const Sent& way = ways[begin][before];
        const Sent next{std::max(way.end, ready + drag * way.busy) + time, way.busy + time, way.buckets + 1,
                        begin, before};
        if (std::max(next.end, backward + drag * next.busy) <= bound.base()) {
          ways[end].push_back(next);
        }
      }
    }
    keep_best(ways[end], drag);
  }
  const std::vector<Sent>& all = ways.back();
  if (all.empty()) {
    return {};
  }
  const auto over = [&](const Sent& way) { return std::max(way.end, backward + drag * way.busy); };
  const auto best = std::min_element(all.begin(), all.end(),
                                     [&](const Sent& a, const Sent& b) { return over(a) < over(b); });
  return ranges_of(ways, static_cast<std::size_t>(best - all.begin()));
}

std::vector<Message> buckets_of(const Workload& workload, const std::vector<GradientRange>& ranges) {
  const std::vector<Gradient> gradients = in_gradient_order(workload);
  std::vector<Message> messages;
  for (const auto& [begin, end] : ranges) {
    Bucket bucket;
    for (std::size_t i = begin; i < end; ++i) {
      bucket.add(gradients[i].shape, gradients[i].ready, gradients[i].module);
    }
    bucket.flush(messages);
  }
  return messages;
}

std::vector<Message> best_buckets(const Workload& workload, const MessageCosts& costs, double gamma,
                                  Seconds bound) {
  std::vector<Bytes> before(1);  // bytes of the gradients before each
  for (const Gradient& gradient : in_gradient_order(workload)) {
    before.push_back(before.back() + gradient.shape.bytes());
  }
  const auto cost = [&](std::size_t begin, std::size_t end) {
    return costs.exchange(before[end] - before[begin]);
  };
  return buckets_of(workload, best_ranges(workload, cost, gamma, bound));
}

BucketPlan plan_buckets(const Scenario& scenario, const Compressor& plain) {
  constexpr double kUsualCap = 25;
  constexpr double kUsualElements = 5e8;
  constexpr double kLeastCap = 0.25;
  constexpr double kLeastElements = 1e5;
  Search search(scenario, plain);
  BucketPlan plan;
  for (const char* spec : {"ddp", "mgwfbp", "optimal", "bsp", "wfbp"}) {
    plan.compared.push_back(search.divide(std::string(spec)));
  }
  const Bytes gradient = scenario.workload.gradient_bytes();
  const auto cap_text = [](double cap) { return exact(cap) + "MiB"; };
  plan.ddp = one_knob(octaves(kLeastCap, gradient.base() / kMebibyte), kUsualCap, [&](double cap) {
    return search.divide("ddp:first=" + cap_text(cap) + ",cap=" + cap_text(cap));
  });
  plan.ddp_small_first = search.divide("ddp:cap=" + cap_text(plan.ddp.size));
  if (!better(plan.ddp.division, plan.compared.front(), kSame)) {
    plan.ddp = {plan.compared.front(), 0, {}};
    plan.ddp_small_first = plan.compared.front();
  }
  plan.horovod = best_horovod(search, gradient);
  plan.deepspeed =
      one_knob(decades(kLeastElements, static_cast<double>(scenario.workload.elements())), kUsualElements,
               [&](double elements) { return search.divide(deepspeed(elements)); });

  Schedule best;
  best.spec = "best";
  best.weighs_costs = true;
  const Seconds bound = search.best().parts.backward_and_sync() * (1 + kSame);
  best.messages = [gamma = scenario.overlap.gamma, bound](const Workload& workload,
                                                          const MessageCosts& costs) {
    std::vector<Message> messages = best_buckets(workload, costs, gamma, bound);
    // Rounding alone could leave nothing.
    return messages.empty() ? std::vector<Message>{whole_gradient(workload)} : messages;
  };
  Prediction found = search.run(std::move(best));
  plan.best = search.best();
  if (found.step <= plan.best.step * (1 + kSame)) {
    plan.best = std::move(found);
  }
  return plan;
}

}  // namespace breakeven
