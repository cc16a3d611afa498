// What a collective costs as a function of its size, from measured points: one line, several, or the points.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "model/fabric.h"

namespace breakeven {

using Points = std::vector<Table::Point>;  ///< rising payloads

/// alpha + size x beta.
struct AlphaBeta {
  Seconds alpha;
  Quantity<-1, 1> beta;  ///< seconds a byte
  [[nodiscard]] Seconds at(Bytes payload) const { return alpha + payload * beta; }
};
/// The line that misses these points least, by the sum of relative errors: large and small sizes count alike,
/// and a point far off does not pull. Neither of its numbers is negative. At least 2 points.
AlphaBeta fit_alpha_beta(std::span<const Table::Point> points);
/// Whether the points tell alpha at all: the smallest must not take ten times as long for its bytes.
bool tells_alpha(const AlphaBeta& line, std::span<const Table::Point> points);
/// Whether they tell beta: the largest must take a tenth of alpha for its bytes.
bool tells_beta(const AlphaBeta& line, std::span<const Table::Point> points);

/// One line from a size on: protocols of a library, a floor, a plateau.
struct Segment {
  Bytes from;
  AlphaBeta line;
};
/// The best `count` lines, each over at least 3 neighbouring points; empty where there are too few.
std::vector<Segment> fit_segments(std::span<const Table::Point> points, std::size_t count);
Seconds at(std::span<const Segment> segments, Bytes payload);

/// Times that never fall as the size grows: where measured ones do, the lower median of those that contradict
/// each other, since what a machine does besides makes a time longer.
Points monotone(std::span<const Table::Point> points);
/// At most `most` of the points, evenly spread over the logarithm of the size, both ends among them.
Points thinned(std::span<const Table::Point> points, std::size_t most);

/// Relative errors at points that the prediction was not made from, each left out in turn.
struct HeldOut {
  double median = 0, largest = 0;
};
/// `model` makes a prediction from all points but one.
using Prophet = std::function<Seconds(Bytes payload)>;
HeldOut held_out(std::span<const Table::Point> points, const std::function<Prophet(const Points&)>& model);

}  // namespace breakeven
