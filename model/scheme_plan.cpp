#include "model/scheme_plan.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "model/mixer.h"

namespace breakeven {
namespace {

constexpr double kMebibyte = 1048576;

Mix everywhere(Mixer& mixer, const Ranges& ranges, std::size_t choice) {
  Mix mix{ranges, std::vector<std::size_t>(ranges.size(), choice)};
  mixer.run(mix);
  return mix;
}

/// The best of one choice everywhere, the first among equals.
Mix uniform(Mixer& mixer, const Ranges& ranges) {
  Mix best;
  for (std::size_t choice = 0; choice < mixer.choices(); ++choice) {
    Mix mix = everywhere(mixer, ranges, choice);
    best = sooner(mix, best) ? std::move(mix) : best;
  }
  return best;
}

/// Each bucket with the choice that takes least, were it alone.
Mix cheapest(Mixer& mixer, const Ranges& ranges) {
  Mix mix{ranges, std::vector<std::size_t>(ranges.size(), 0)};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t choice = 1; choice < mixer.choices(); ++choice) {
      const Seconds now = cost_of(mixer.chain(ranges[i], mix.choices[i])).all;
      mix.choices[i] = cost_of(mixer.chain(ranges[i], choice)).all < now ? choice : mix.choices[i];
    }
  }
  mixer.run(mix);
  return mix;
}

/// Espresso's rule, from `mix` on.
void choose(Mixer& mixer, Mix& mix) {
  const auto size = [&](std::size_t bucket) {
    return mixer.chain(mix.ranges[bucket], mix.choices[bucket]).size;
  };
  std::vector<std::size_t> order(mix.ranges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) > size(b); });
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t bucket : order) {
      for (std::size_t choice = 0; choice < mixer.choices(); ++choice) {
        Mix other = mix;
        other.choices[bucket] = choice;
        mixer.run(other);
        if (sooner(other, mix)) {
          mix = std::move(other);
          changed = true;
        }
      }
    }
  }
}

/// The best found in these buckets: never worse than one choice everywhere.
Mix chosen(Mixer& mixer, const Ranges& ranges) {
  Mix mix = uniform(mixer, ranges);
  if (Mix other = cheapest(mixer, ranges); sooner(other, mix)) {
    mix = std::move(other);
  }
  choose(mixer, mix);
  return mix;
}

/// Every mix that differs from `mix` in one boundary: moved, taken out, or put in.
template <class Visit>
void neighbours(const Mix& mix, std::size_t choices, const Visit& visit) {
  for (std::size_t i = 0; i < mix.ranges.size(); ++i) {
    const auto [begin, end] = std::pair(mix.ranges[i].first, mix.ranges[i].second);
    if (i + 1 < mix.ranges.size()) {
      const std::size_t far = mix.ranges[i + 1].second;
      for (std::size_t by = 1; by < far - begin; by *= 2) {
        for (const bool up : {false, true}) {
          if (by < (up ? far - end : end - begin)) {
            Mix moved = mix;
            moved.ranges[i].second = moved.ranges[i + 1].first = up ? end + by : end - by;
            visit(std::move(moved));
          }
        }
      }
      for (const std::size_t kept : {mix.choices[i], mix.choices[i + 1]}) {
        Mix merged = mix;
        merged.ranges[i].second = far;
        merged.choices[i] = kept;
        merged.ranges.erase(merged.ranges.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        merged.choices.erase(merged.choices.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        visit(std::move(merged));
      }
    }
    constexpr std::size_t kPlaces = 8;
    std::size_t last = begin;
    for (std::size_t place = 1; place < kPlaces; ++place) {
      const std::size_t at = begin + (end - begin) * place / kPlaces;
      for (std::size_t c = 0; at > last && c < choices * choices; ++c) {
        Mix split = mix;
        split.ranges[i].second = at;
        split.choices[i] = c / choices;
        split.ranges.insert(split.ranges.begin() + static_cast<std::ptrdiff_t>(i) + 1, {at, end});
        split.choices.insert(split.choices.begin() + static_cast<std::ptrdiff_t>(i) + 1, c % choices);
        visit(std::move(split));
      }
      last = at;
    }
  }
}

/// Takes the best neighbour until none is better, and chooses anew.
void improve(Mixer& mixer, Mix& mix, std::size_t most_runs) {
  const std::size_t limit = mixer.runs() + most_runs;
  for (bool better = true; better && mixer.runs() < limit;) {
    Mix best = mix;
    neighbours(mix, mixer.choices(), [&](Mix other) {
      if (mixer.runs() < limit) {
        mixer.run(other);
        best = sooner(other, best) ? std::move(other) : best;
      }
    });
    better = sooner(best, mix);
    if (better) {
      mix = std::move(best);
      choose(mixer, mix);
    }
  }
}

Ranges ranges_of(const std::vector<Message>& messages) {
  Ranges ranges;
  std::size_t begin = 0;
  for (const Message& message : messages) {
    ranges.emplace_back(begin, begin + message.tensors.size());
    begin = ranges.back().second;
  }
  return ranges;
}

Ranges scheduled(const Workload& workload, const std::string& spec) {
  return ranges_of(make_schedule(spec).messages(workload, {}));
}

/// Neighbours joined until there are at most about `most` of them: what a dynamic programme can hold.
Ranges joined(const Workload& workload, std::size_t most) {
  if (workload.tensors.size() <= most) {
    return scheduled(workload, "wfbp");
  }
  const double limit = workload.gradient_bytes().base() / static_cast<double>(most);
  return scheduled(workload, "ddp:first=" + exact(limit) + "B,cap=" + exact(limit) + "B");
}

class Divisions {
 public:
  Divisions(Mixer& mixer, std::size_t most) : mixer_(mixer), pieces_(joined(mixer.workload(), most)) {}

  /// The best where each bucket takes the cheapest of `choices` and only `of` it counts; where every bucket
  /// has one exchange and no codec, the best of all.
  Ranges by_cost(const std::vector<std::size_t>& choices, Seconds Cost::*of) {
    Workload workload = mixer_.workload();
    // As many tensors as pieces, the first of which is the last in forward order.
    const auto range = [&](std::size_t begin, std::size_t end) {
      return GradientRange{pieces_[begin].first, pieces_[end - 1].second};
    };
    std::vector<Tensor> tensors(pieces_.size());
    std::transform(pieces_.rbegin(), pieces_.rend(), tensors.begin(), [&](const GradientRange& piece) {
      // The last gradient of a piece is what it is ready with.
      return workload.tensors[workload.tensors.size() - piece.second];
    });
    workload.tensors = std::move(tensors);
    Ranges found = best_ranges(
        workload,
        [&](std::size_t begin, std::size_t end) {
          Seconds least = Seconds::of(kForever);
          for (const std::size_t choice : choices) {
            const Cost cost = cost_of(mixer_.chain(range(begin, end), choice));
            exact_ = exact_ && cost.one_exchange;
            least = std::min(least, cost.*of);
          }
          return least;
        },
        mixer_.gamma());
    for (GradientRange& one : found) {
      one = range(one.first, one.second);
    }
    return found;
  }
  [[nodiscard]] bool exact() const { return exact_ && pieces_.size() == mixer_.workload().tensors.size(); }

 private:
  Mixer& mixer_;
  Ranges pieces_;
  bool exact_ = true;
};

/// Size limits from a quarter of a mebibyte to the whole gradient, in MiB, two an octave.
std::vector<double> caps(const Workload& workload) {
  constexpr double kUsual = 25;
  std::vector<double> values{kUsual};
  double cap = 0.25;
  while (cap < 2 * workload.gradient_bytes().base() / kMebibyte) {
    values.insert(values.end(), {cap, 1.5 * cap});
    cap *= 2;
  }
  return values;
}

void keep(std::vector<Mix>& mixes, Mix mix) {
  const auto same = [&](const Mix& other) { return other.ranges == mix.ranges; };
  if (std::none_of(mixes.begin(), mixes.end(), same)) {
    mixes.push_back(std::move(mix));
  }
}

Mix of_caps(Mixer& mixer, std::vector<Mix>& starts, double& best_cap) {
  constexpr double kBest = 1e-4;  // a cap that gains less is not worth an odder number
  Mix best;
  for (const double cap : caps(mixer.workload())) {
    const std::string text = exact(cap) + "MiB";
    Mix mix = chosen(mixer, scheduled(mixer.workload(),
                                      std::string("ddp:first=").append(text).append(",cap=").append(text)));
    if (mix.step < best.step * (1 - kBest)) {
      best = mix;
      best_cap = cap;
    }
    keep(starts, std::move(mix));
  }
  return best;
}

}  // namespace

SchemePlan plan_schemes(const Scenario& scenario, std::span<const Choice> choices) {
  constexpr std::size_t kPieces = 200;  // a dynamic programme over as many: some 20,000 buckets a choice
  constexpr std::size_t kStarts = 4;    // of which the best are improved
  constexpr std::size_t kRuns = 5000;   // timelines that improving one start may take
  Mixer mixer(scenario, choices);
  Divisions divisions(mixer, kPieces);
  const Ranges whole = scheduled(scenario.workload, "bsp");
  const Ranges usual = scheduled(scenario.workload, "ddp");
  SchemePlan plan;
  std::vector<Mix> starts;
  plan.ddp = mixer.step(of_caps(mixer, starts, plan.cap));
  std::vector<std::size_t> all(choices.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Ranges> tried{whole, usual, divisions.by_cost(all, &Cost::network)};
  plan.exact = divisions.exact();
  tried.push_back(divisions.by_cost(all, &Cost::all));
  for (const std::size_t choice : all) {
    tried.push_back(divisions.by_cost({choice}, &Cost::network));
  }
  for (const Ranges& ranges : tried) {
    keep(starts, chosen(mixer, ranges));
  }
  for (const std::size_t choice : all) {
    const bool serial = choices[choice].placement == Placement::serial && choice > 0;
    plan.usual.push_back(mixer.step(everywhere(mixer, serial ? whole : usual, choice)));
    Mix best;
    for (const Mix& start : starts) {
      Mix mix = everywhere(mixer, start.ranges, choice);
      best = sooner(mix, best) ? std::move(mix) : best;
    }
    plan.alone.push_back(mixer.step(best));
    keep(starts, std::move(best));
  }
  std::stable_sort(starts.begin(), starts.end(), [](const Mix& a, const Mix& b) { return a.step < b.step; });
  starts.resize(std::min(starts.size(), kStarts));
  Mix best = starts.front();
  for (Mix& start : starts) {
    if (!plan.exact) {
      improve(mixer, start, kRuns);
    }
    best = sooner(start, best) ? start : best;
  }
  const Mix same = uniform(mixer, best.ranges);
  plan.best = mixer.step(sooner(same, best) ? same : best);
  return plan;
}

}  // namespace breakeven
