#include "profiles/import/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "profiles/import/median.h"

namespace breakeven {
namespace {

constexpr std::size_t kLeastInSegment = 3;

double error_of(const AlphaBeta& line, std::span<const Table::Point> points, double enough) {
  double sum = 0;
  for (const Table::Point& point : points) {
    sum += std::abs(line.at(point.payload) / point.time - 1);
    if (sum >= enough) {
      break;
    }
  }
  return sum;
}

struct Fit {
  AlphaBeta line;
  double error = std::numeric_limits<double>::infinity();
};

/// Of all lines with the least sum of absolute errors one passes through two points, or through one point and
/// a bound: so those are all that need be tried.
Fit fit(std::span<const Table::Point> points) {
  Fit best;
  const auto consider = [&](const AlphaBeta& line) {
    const double error = error_of(line, points, best.error);
    if (error < best.error) {
      best = {line, error};
    }
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Table::Point& point = points[i];
    consider({point.time, {}});
    consider({{}, point.time / point.payload});
    for (const Table::Point& other : points.subspan(i + 1)) {
      const auto beta = (other.time - point.time) / (other.payload - point.payload);
      const Seconds alpha = point.time - point.payload * beta;
      if (beta.base() > 0 && alpha > Seconds{}) {
        consider({alpha, beta});
      }
    }
  }
  return best;
}

}  // namespace

AlphaBeta fit_alpha_beta(std::span<const Table::Point> points) {
  return fit(points).line;
}

bool tells_alpha(const AlphaBeta& line, std::span<const Table::Point> points) {
  return points.front().payload * line.beta <= 10 * line.alpha;
}

bool tells_beta(const AlphaBeta& line, std::span<const Table::Point> points) {
  return 10 * (points.back().payload * line.beta) >= line.alpha && line.beta.base() > 0;
}

std::vector<Segment> fit_segments(std::span<const Table::Point> points, std::size_t count) {
  const std::size_t n = points.size();
  if (count == 0 || n < count * kLeastInSegment) {
    return {};
  }
  struct Best {
    double error = std::numeric_limits<double>::infinity();
    std::size_t begin = 0;
    AlphaBeta line;
  };
  // best[k][end]: points up to `end` in k+1 segments, the last of which starts at `begin`.
  std::vector<std::vector<Best>> best(count, std::vector<Best>(n + 1));
  for (std::size_t begin = 0; begin < n; ++begin) {
    for (std::size_t end = begin + kLeastInSegment; end <= n; ++end) {
      const Fit last = fit(points.subspan(begin, end - begin));
      for (std::size_t k = 0; k < count; ++k) {
        const double before =
            k == 0 ? (begin == 0 ? 0 : std::numeric_limits<double>::infinity()) : best[k - 1][begin].error;
        if (before + last.error < best[k][end].error) {
          best[k][end] = {before + last.error, begin, last.line};
        }
      }
    }
  }
  std::vector<Segment> segments;
  for (std::size_t k = count, end = n; k-- > 0;) {
    const Best& last = best[k][end];
    // Between two segments the middle of the sizes, on a logarithmic scale, parts them.
    const Bytes from = last.begin == 0
                           ? points.front().payload
                           : points[last.begin - 1].payload *
                                 std::sqrt(points[last.begin].payload / points[last.begin - 1].payload);
    segments.insert(segments.begin(), {from, last.line});
    end = last.begin;
  }
  return segments;
}

Seconds at(std::span<const Segment> segments, Bytes payload) {
  const auto above = std::find_if(segments.begin() + 1, segments.end(),
                                  [&](const Segment& segment) { return segment.from > payload; });
  return (above - 1)->line.at(payload);
}

Points monotone(std::span<const Table::Point> points) {
  struct Block {
    std::vector<Seconds> times;
    Seconds median;
  };
  std::vector<Block> blocks;  // pool adjacent violators, by medians
  for (const Table::Point& point : points) {
    blocks.push_back({{point.time}, point.time});
    while (blocks.size() > 1 && blocks.end()[-2].median > blocks.back().median) {
      Block& into = blocks.end()[-2];
      into.times.insert(into.times.end(), blocks.back().times.begin(), blocks.back().times.end());
      into.median = lower_median_of(into.times);
      blocks.pop_back();
    }
  }
  Points result;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.times.size(); ++i) {
      result.push_back({points[result.size()].payload, block.median});
    }
  }
  return result;
}

Points thinned(std::span<const Table::Point> points, std::size_t most) {
  if (points.size() <= most) {
    return {points.begin(), points.end()};
  }
  const double range = std::log(points.back().payload / points.front().payload);
  Points result;
  for (const Table::Point& point : points) {
    const double place = std::log(point.payload / points.front().payload) / range;
    if (place * static_cast<double>(most - 1) >= static_cast<double>(result.size())) {
      result.push_back(point);
    }
  }
  return result;
}

HeldOut held_out(std::span<const Table::Point> points, const std::function<Prophet(const Points&)>& model) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Points others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    errors.push_back(std::abs(model(others)(points[i].payload) / points[i].time - 1));
  }
  return {median_of(errors), *std::max_element(errors.begin(), errors.end())};
}

}  // namespace breakeven
