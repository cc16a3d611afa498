#include "model/bucket_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "model/schedules/bucket.h"

namespace breakeven {
namespace {

constexpr double kMebibyte = 1048576;
/// Steps that differ by less are the same: rounding.
constexpr double kSame = 1e-9;

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

  Prediction found = search.run(make_schedule("optimal"));
  plan.best = search.best();
  if (found.step <= plan.best.step * (1 + kSame)) {
    plan.best = std::move(found);
  }
  return plan;
}

}  // namespace breakeven
