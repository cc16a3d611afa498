// Measured times of collectives, or of one link -> a fabric.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "model/collectives.h"
#include "model/error.h"
#include "profiles/import/fit.h"
#include "profiles/import/network.h"
#include "profiles/read_fields.h"
#include "profiles/resolve.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

std::string words(Exchange exchange) {
  std::string text(name(exchange));
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string percent(double share) {
  constexpr double kLeast = 1e-4;  // below are the digits that were printed
  return share < kLeast ? "less than 0.01 %" : significant(share * 100, 2) + " %";
}

/// In one unit, so that lines can be compared.
std::string rate_text(BytesPerSecond rate) {
  return significant(rate.base() / 1e9, 3) + " GB/s";
}

/// Benchmarks say an all-gather's and an all-to-all's sizes in several ways; here a size is one worker's.
std::string_view size_words(Exchange exchange) {
  switch (exchange) {
    case Exchange::all_gather:
      return "what one rank contributes";
    case Exchange::all_to_all:
      return "what one rank sends";
    default:
      return "size";
  }
}

std::string line_text(const AlphaBeta& line, Exchange exchange) {
  return line.beta.base() > 0 ? to_string(line.alpha) + " + " + std::string(size_words(exchange)) + " / " +
                                    rate_text(BytesPerSecond::of(1 / line.beta.base()))
                              : to_string(line.alpha);
}

/// What one exchange among one group was measured at: the median where a size was measured several times.
struct Series {
  Exchange exchange = Exchange::all_reduce;
  std::size_t workers = 0;
  Points points;
};

class Measured {
 public:
  Measured(const NetworkLog& log, const NetworkOptions& options, std::string where,
           std::vector<std::string>& notes)
      : log_(log), options_(options), where_(std::move(where)), notes_(notes) {}

  FabricProfile fabric() {
    FabricProfile profile;
    profile.origin = Origin::measured;
    profile.fabric.name = options_.name;
    profile.fabric.offered = {Algorithm::ring};  // what the levels are fitted by
    profile.source = options_.source.empty() ? log_.program : options_.source;
    if (log_.link) {
      add_link(profile, *log_.link);
      return profile;
    }
    const std::size_t per_node = spread();
    profile.workers_per_node = per_node;
    std::vector<Series> all = series();
    for (const Series& one : all) {
      add_table(profile.fabric, one, per_node);
      judge(one);
    }
    const Series& first = *std::max_element(all.begin(), all.end(), [](const Series& a, const Series& b) {
      const auto rank = [](const Series& s) {
        return std::tuple(s.exchange == Exchange::all_reduce, s.points.size(), s.workers);
      };
      return rank(a) < rank(b);
    });
    add_levels(profile, first, per_node);
    profile.summary =
        words(first.exchange) + " among " + std::to_string(first.workers) + " workers, measured";
    return profile;
  }

 private:
  void note(std::string text) { notes_.push_back(std::move(text)); }
  [[noreturn]] void fail(std::string wrong, std::string expected) const {
    throw Error(Fault::file, where_, std::move(wrong), std::move(expected));
  }

  [[nodiscard]] std::size_t workers_of(const CollectiveTime& row) const {
    const std::size_t workers = options_.workers.value_or(row.workers);
    if (workers == 0) {
      fail("does not say among how many ranks" +
               (log_.choice.empty() ? std::string() : "; its bandwidths and rank lines fit " + log_.choice),
           "--ranks N");
    }
    if (workers < 2) {
      fail("1 rank exchanges nothing", "2 ranks or more");
    }
    return workers;
  }

  /// What rank lines say was measured; a group inside one node goes with any larger node.
  void refuse_other_spread(const CollectiveTime& row, std::size_t workers) const {
    const std::string given = std::to_string(*options_.per_node);
    if (row.uneven) {
      throw Error(Fault::value, "--ranks-per-node",
                  given + ", but the ranks of the file are spread unevenly over its hosts", "no such option");
    }
    const bool fits = row.per_node == workers && *options_.per_node > workers;
    if (row.per_node > 0 && row.per_node != *options_.per_node && !fits) {
      throw Error(Fault::value, "--ranks-per-node",
                  given + ", but the file says " + std::to_string(row.per_node) + " on a host",
                  std::to_string(row.per_node) + ", or no such option");
    }
  }

  /// The workers of a node; 0: not known. A group that fits into one node goes with any larger node.
  [[nodiscard]] std::size_t spread() const {
    if (options_.per_node) {
      for (const CollectiveTime& row : log_.rows) {
        const std::size_t workers = workers_of(row);
        refuse_other_spread(row, workers);
        if (workers > *options_.per_node && workers % *options_.per_node != 0) {
          throw Error(
              Fault::value, "--ranks-per-node",
              std::to_string(workers) + " ranks do not fill nodes of " + std::to_string(*options_.per_node),
              "a divisor of " + std::to_string(workers));
        }
      }
      return *options_.per_node;
    }
    std::size_t most = 0;
    for (const CollectiveTime& row : log_.rows) {
      most = std::max(most, row.per_node);
    }
    for (const CollectiveTime& row : log_.rows) {
      if (most > 0 && row.per_node != most && row.per_node != workers_of(row)) {
        fail("ranks are spread in several ways: " + std::to_string(row.per_node) + " and " +
                 std::to_string(most) + " on a host",
             "one way a file, or --ranks-per-node G");
      }
    }
    return most;
  }

  [[nodiscard]] std::vector<Series> series() const {
    std::map<std::pair<Exchange, std::size_t>, std::map<double, std::vector<Seconds>>> sorted;
    for (const CollectiveTime& row : log_.rows) {
      sorted[{row.exchange, workers_of(row)}][row.payload.base()].push_back(row.time);
    }
    std::vector<Series> all;
    for (auto& [group, sizes] : sorted) {
      Series one{group.first, group.second, {}};
      for (auto& [size, times] : sizes) {
        const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
        std::nth_element(times.begin(), middle, times.end());
        one.points.push_back({Bytes::of(size), *middle});
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  void add_table(Fabric& fabric, const Series& one, std::size_t per_node) {
    Table table{one.exchange, one.workers, std::min(per_node, one.workers), {}};
    const Points rising = monotone(one.points);
    constexpr int kDigits = 6;  // as many as any program prints
    std::size_t changed = 0;
    std::size_t steep = 0;
    for (std::size_t i = 0; i < rising.size(); ++i) {
      changed += rising[i].time == one.points[i].time ? 0 : 1;
      if (!table.points.empty() && steepness(table.points.back(), rising[i]) > kSteepest) {
        ++steep;
      } else {
        table.points.push_back({rising[i].payload, rounded(rising[i].time, kDigits)});
      }
    }
    const std::string of = words(one.exchange) + " among " + std::to_string(one.workers) + ": ";
    if (changed > 0) {
      note(of + std::to_string(changed) + " of " + std::to_string(rising.size()) +
           " times fall as the size grows: the medians of those that contradict each other stand for them");
    }
    if (steep > 0) {
      note(of + std::to_string(steep) + " sizes dropped that differ too little for their times");
    }
    if (table.points.size() < 2) {
      note(of + "no table: only one size was measured");
      return;
    }
    fabric.tables.push_back(std::move(table));
  }

  /// How well each description predicts a size that it was not made from.
  void judge(const Series& one) {
    constexpr std::size_t kLeast = 4;
    constexpr std::size_t kMost = 40;  // the fits try every pair
    if (one.points.size() < kLeast) {
      return;
    }
    const Points points = thinned(one.points, kMost);
    const std::string of = words(one.exchange) + " among " + std::to_string(one.workers) + ": ";
    const auto tell = [&](const std::string& what, const HeldOut& errors) {
      note(of + what + ": misses a size left out by " + percent(errors.median) + " (median), " +
           percent(errors.largest) + " at most");
    };
    tell("alpha-beta fit " + line_text(fit_alpha_beta(points), one.exchange),
         held_out(points, [](const Points& others) -> Prophet {
           const AlphaBeta line = fit_alpha_beta(others);
           return [line](Bytes payload) { return line.at(payload); };
         }));
    std::vector<Segment> best;
    HeldOut least{std::numeric_limits<double>::infinity(), 0};
    for (const std::size_t count : {2U, 3U}) {
      if (fit_segments(Points(points.begin() + 1, points.end()), count).empty()) {
        break;
      }
      const HeldOut errors = held_out(points, [&](const Points& others) -> Prophet {
        return [segments = fit_segments(others, count)](Bytes payload) { return at(segments, payload); };
      });
      if (errors.median < least.median) {
        least = errors;
        best = fit_segments(points, count);
      }
    }
    if (!best.empty()) {
      std::string text = std::to_string(best.size()) + " lines";
      for (const Segment& segment : best) {
        text += (&segment == &best.front() ? " " : ", from " + to_string(segment.from) + " ") +
                line_text(segment.line, one.exchange);
      }
      tell(text, least);
    }
    tell("the table", held_out(points, [](const Points& others) -> Prophet {
           return [table = Table{Exchange::all_reduce, 0, 0, monotone(others)}](Bytes payload) {
             return table.at(payload);
           };
         }));
  }

  /// The links that a ring over them would need for the fitted line: the model's own formula, inverted.
  void add_levels(FabricProfile& profile, const Series& one, std::size_t per_node) {
    const bool inside = per_node >= one.workers;
    const Group group{one.workers, per_node == 0 ? 1 : std::min(per_node, one.workers)};
    const AlphaBeta line = one.points.size() == 1
                               ? AlphaBeta{{}, one.points.front().time / one.points.front().payload}
                               : fit_alpha_beta(one.points);
    if (!tells_beta(line, one.points)) {
      fail("the largest size, " + to_string(one.points.back().payload) +
               ", takes hardly longer than the smallest",
           "sizes that the bandwidth limits, of some MiB");
    }
    constexpr double kNothing = std::numeric_limits<double>::infinity();
    const auto ask = [&](double latency, double in, double out) {
      Fabric probe;
      probe.inside = {{}, BytesPerSecond::of(in), Seconds::of(latency), 1};
      probe.across = {{}, BytesPerSecond::of(out), Seconds::of(latency), 1};
      return transfer(probe, one.exchange, 1_B, group, Algorithm::ring).time.base();
    };
    const double steps = ask(1, kNothing, kNothing);
    const double passes = inside ? ask(0, 1, kNothing) : ask(0, kNothing, 1);
    Level& level = inside ? profile.fabric.inside : profile.fabric.across;
    const std::string key = inside ? "inside/" : "across/";
    const std::string fit =
        "fitted to " + words(one.exchange) + " among " + std::to_string(one.workers) + ": ";
    level.name = "measured";
    level.bandwidth = four_digits(BytesPerSecond::of(passes / line.beta.base()));
    profile.has_inside = inside;
    profile.sources[key + "bandwidth"] =
        fit + significant(passes, 4) + " passes of a ring take " + to_string(1_MiB * line.beta) + " a MiB";
    std::string told = (inside ? "inside a node " : "across the network ") + rate_text(level.bandwidth);
    if (tells_alpha(line, one.points)) {
      level.latency = rounded(line.alpha / steps, 4);
      profile.sources[key + "latency"] =
          fit + significant(steps, 4) + " steps of a ring take " + to_string(line.alpha);
      told += ", a step " + to_string(level.latency);
    } else {
      told +=
          "; latency not known: the smallest size, " + to_string(one.points.front().payload) + ", hides it";
    }
    note("other groups and exchanges by a ring's rule: " + told);
    if (!inside && per_node == 0) {
      const bool uneven = std::any_of(log_.rows.begin(), log_.rows.end(),
                                      [](const CollectiveTime& row) { return row.uneven; });
      note(uneven ? "the ranks were spread unevenly over hosts: taken for one on each"
                  : "how the ranks were spread over nodes is not known: expected --ranks-per-node G");
    }
  }

  void add_link(FabricProfile& profile, const LinkRate& link) {
    if (options_.workers || options_.per_node) {
      throw Error(Fault::value, options_.workers ? "--ranks" : "--ranks-per-node",
                  "a test of one link has no ranks", "no such option");
    }
    profile.fabric.across = {"measured", four_digits(link.bandwidth),
                             rounded(link.latency.value_or(Seconds{}), 4), 1};
    note("what a node sends: " + rate_text(profile.fabric.across.bandwidth) +
         ", all of which collectives are assumed to reach: they reach less, --efficiency says how much");
    if (!link.latency) {
      note("latency not known: a query assumes that of 10 Gbit/s Ethernet where --latency does not say");
    }
    profile.sources["across/bandwidth"] = profile.source;
    if (link.latency) {
      profile.sources["across/latency"] = profile.source;
    }
    profile.summary = "one link between two machines, measured";
  }

  static BytesPerSecond four_digits(BytesPerSecond bandwidth) {
    return parse<BytesPerSecond>(significant(bandwidth.base() / 1e9, 4) + " GB/s");
  }

  const NetworkLog& log_;
  const NetworkOptions& options_;
  std::string where_;
  std::vector<std::string>& notes_;
};

}  // namespace

FabricProfile fabric_from(const NetworkLog& log, const NetworkOptions& options, const std::string& where,
                          std::vector<std::string>& notes) {
  return Measured(log, options, where, notes).fabric();
}

}  // namespace breakeven
