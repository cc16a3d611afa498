// Measured times of collectives, or of one link -> a fabric.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "model/collectives.h"
#include "model/error.h"
#include "profiles/import/fabric_quality.h"
#include "profiles/import/fit.h"
#include "profiles/import/median.h"
#include "profiles/import/network.h"
#include "profiles/read_fields.h"
#include "profiles/resolve.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

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
      for (std::string& line : quality_of(one.points, one.exchange)) {
        note(of(one) + line);
      }
    }
    const Series& first = *std::max_element(all.begin(), all.end(), [](const Series& a, const Series& b) {
      const auto rank = [](const Series& s) {
        return std::tuple(s.exchange == Exchange::all_reduce, s.points.size(), s.workers);
      };
      return rank(a) < rank(b);
    });
    add_levels(profile, first, per_node);
    profile.summary =
        words_of(first.exchange) + " among " + std::to_string(first.workers) + " workers, measured";
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
      fail("does not say among how many ranks",
           "--ranks N" + (log_.choice.empty() ? "" : ", which may be " + log_.choice));
    }
    if (options_.workers && workers < 2) {
      throw Error(Fault::value, "--ranks", "1 rank exchanges nothing", "2 or more");
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

  std::vector<Series> series() {
    std::map<std::pair<Exchange, std::size_t>, Samples> sorted;
    for (const CollectiveTime& row : log_.rows) {
      sorted[{row.exchange, workers_of(row)}][row.payload.base()].push_back(row.time);
    }
    std::vector<Series> all;
    for (auto& [group, sizes] : sorted) {
      Series one{group.first, group.second, {}};
      for (auto& [size, times] : sizes) {
        one.points.push_back({Bytes::of(size), median_of(times)});
      }
      if (std::string merged = merged_text(sizes, of(one)); !merged.empty()) {
        note(std::move(merged));
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  /// "all-reduce among 16: "
  static std::string of(const Series& one) {
    return words_of(one.exchange) + " among " + std::to_string(one.workers) + ": ";
  }

  void add_table(Fabric& fabric, const Series& one, std::size_t per_node) {
    Table table{one.exchange, one.workers, std::min(per_node, one.workers), {}};
    const Points rising = monotone(one.points);
    constexpr int kDigits = 6;  // as many as any program prints
    std::size_t steep = 0;
    for (const auto& point : rising) {
      if (!table.points.empty() && steepness(table.points.back(), point) > kSteepest) {
        ++steep;
      } else {
        table.points.push_back({point.payload, rounded(point.time, kDigits)});
      }
    }
    if (const std::string moved = moved_text(one.points, rising); !moved.empty()) {
      note(of(one) + moved);
    }
    if (steep > 0) {
      note(of(one) + std::to_string(steep) + " sizes dropped that differ too little for their times");
    }
    if (table.points.size() < 2) {
      note(of(one) + "no table: only one size was measured");
      return;
    }
    fabric.tables.push_back(std::move(table));
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
        "fitted to " + words_of(one.exchange) + " among " + std::to_string(one.workers) + ": ";
    level.name = "measured";
    level.bandwidth = four_digits(BytesPerSecond::of(passes / line.beta.base()));
    profile.has_inside = inside;
    profile.sources[key + "bandwidth"] =
        fit + significant(passes, 4) + (passes == 1 ? " pass of a ring takes " : " passes of a ring take ") +
        to_string(1_MiB * line.beta) + " a MiB";
    std::string told = (inside ? "inside a node " : "across the network ") + rate_text(level.bandwidth);
    // A fitted bandwidth holds whatever latency the fit does not: one from elsewhere would count it twice.
    level.latency = rounded(line.alpha / steps, 4);
    const std::string smallest = to_string(one.points.front().payload);
    std::string& source = profile.sources[key + "latency"];
    if (line.alpha > Seconds{}) {
      source = fit + significant(steps, 4) + " steps of a ring take " + to_string(line.alpha);
      told += ", a step " + to_string(level.latency) +
              (tells_alpha(line, one.points) ? ""
                                             : ", of which the smallest size, " + smallest + ", says little");
    } else {
      source = "not told apart from the bandwidth";
      told += ", a step 0 s: the latency is not told apart from the bandwidth by " +
              (one.points.size() == 1 ? "one size" : "sizes from " + smallest + " on");
    }
    note("other groups and exchanges by a ring's rule: " + told);
    if (!inside && per_node == 0) {
      const bool uneven = std::any_of(log_.rows.begin(), log_.rows.end(),
                                      [](const CollectiveTime& row) { return row.uneven; });
      note(uneven ? "the ranks were spread unevenly over hosts: taken for one on each"
                  : "the file does not say how the ranks were spread over nodes: the links are fitted as for "
                    "one rank on each (--ranks-per-node G says otherwise)");
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

std::string words_of(Exchange exchange) {
  std::string text(name(exchange));
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string rate_text(BytesPerSecond rate) {
  return significant(rate.base() / 1e9, 3) + " GB/s";
}

FabricProfile fabric_from(const NetworkLog& log, const NetworkOptions& options, const std::string& where,
                          std::vector<std::string>& notes) {
  return Measured(log, options, where, notes).fabric();
}

}  // namespace breakeven
