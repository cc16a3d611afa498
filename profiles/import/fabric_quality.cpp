#include "profiles/import/fabric_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace breakeven {
namespace {

std::string percent(double share) {
  constexpr double kLeast = 1e-4;  // below are the digits that were printed
  return share < kLeast ? "less than 0.01 %" : significant(share * 100, 2) + " %";
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

}  // namespace

std::vector<std::string> quality_of(const Points& measured, Exchange exchange) {
  constexpr std::size_t kLeast = 4;
  constexpr std::size_t kMost = 40;  // the fits try every pair
  if (measured.size() < kLeast) {
    return {};
  }
  const Points points = thinned(measured, kMost);
  std::vector<std::string> lines;
  const auto tell = [&](const std::string& what, const HeldOut& errors) {
    lines.push_back(what + ": misses a size left out by " + percent(errors.median) + " (median), " +
                    percent(errors.largest) + " at most");
  };
  tell("alpha-beta fit " + line_text(fit_alpha_beta(points), exchange),
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
              line_text(segment.line, exchange);
    }
    tell(text, least);
  }
  tell("the table", held_out(points, [](const Points& others) -> Prophet {
         return [table = Table{Exchange::all_reduce, 0, 0, monotone(others)}](Bytes payload) {
           return table.at(payload);
         };
       }));
  return lines;
}

std::string merged_text(const Samples& samples, const std::string& whose) {
  constexpr double kFar = 2;
  std::size_t repeated = 0;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  double apart = 0;
  std::string farthest;
  for (const auto& [size, times] : samples) {
    if (times.size() < 2) {
      continue;
    }
    ++repeated;
    least = std::min(least, times.size());
    most = std::max(most, times.size());
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    if (*high / *low > apart) {
      apart = *high / *low;
      farthest = to_string(Bytes::of(size)) + ", " + to_string(*low) + " to " + to_string(*high);
    }
  }
  if (repeated == 0) {
    return {};
  }
  return (apart > kFar ? "warning: " : "") + whose + std::to_string(repeated) +
         (repeated == 1 ? " size was measured " : " sizes were measured ") + std::to_string(least) +
         (least == most ? "" : " to " + std::to_string(most)) + " times and merged by the median: at most " +
         significant(apart, 3) + "x apart (" + farthest + ")" +
         (apart > kFar ? ", too far for the same network measured again: import such runs one by one" : "");
}

std::string moved_text(const Points& measured, const Points& rising) {
  std::size_t changed = 0;
  std::size_t farthest = 0;
  const auto distance = [&](std::size_t i) { return std::abs(std::log(rising[i].time / measured[i].time)); };
  for (std::size_t i = 0; i < rising.size(); ++i) {
    changed += rising[i].time == measured[i].time ? 0 : 1;
    farthest = distance(i) > distance(farthest) ? i : farthest;
  }
  if (changed == 0) {
    return {};
  }
  return "times fall as the size grows: the lower median of those that contradict each other stands for " +
         std::to_string(changed) + " of " + std::to_string(rising.size()) + "; the farthest, of " +
         to_string(measured[farthest].payload) + ", moves from " + to_string(measured[farthest].time) +
         " to " + to_string(rising[farthest].time);
}

}  // namespace breakeven
