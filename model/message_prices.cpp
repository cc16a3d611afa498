#include "model/message_prices.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace breakeven {

MessagePrices::MessagePrices(const Compressor& compressor, Element gradient, const Group& group,
                             Algorithm algorithm, Seconds software)
    : compressor_(compressor),
      gradient_(gradient),
      group_(group),
      algorithm_(algorithm),
      software_(software),
      table_(256) {}

void MessagePrices::use(const Fabric& fabric) {
  fabric_ = &fabric;
  for (std::size_t i = 1; i < kLined; ++i) {
    lines_[i] = lines(static_cast<Exchange>(i));
  }
}

Seconds MessagePrices::exchange(Bytes size) {
  const auto elements = static_cast<std::size_t>(std::llround(size.base() / size_of(gradient_)));
  if (elements == 0) {
    return by_plan(size);
  }
  const Known& sent = known(elements);
  double time = 0;
  for (std::size_t i = sent.first; i < sent.first + sent.count; ++i) {
    const auto kind = static_cast<std::size_t>(rounds_[i].exchange);
    if (kind >= kLined || lines_[kind].empty()) {
      return by_plan(size);
    }
    double least = lines_[kind].front().startup + lines_[kind].front().per_byte * rounds_[i].payload;
    for (std::size_t k = 1; k < lines_[kind].size(); ++k) {
      least = std::min(least, lines_[kind][k].startup + lines_[kind][k].per_byte * rounds_[i].payload);
    }
    time += least + software_.base();
  }
  return Seconds::of(time);
}

Plan MessagePrices::plan(Bytes size) const {
  const Shape vector{static_cast<std::size_t>(std::max(1.0, std::round(size.base() / size_of(gradient_)))), 1,
                     gradient_};
  return compressor_.plan(std::span(&vector, 1), group_.workers);
}

Seconds MessagePrices::by_plan(Bytes size) const {
  const bool startup = size == Bytes{};
  Seconds time;
  for (const Round& round : plan(size)) {
    if (round.exchange != Exchange::none) {
      time += transfer(*fabric_, round.exchange, startup ? Bytes{} : round.payload, group_, algorithm_,
                       startup ? Bytes{} : round.summed, round.distance, round.element)
                  .time +
              software_;
    }
  }
  return time;
}

/// One line an algorithm that has a form of the exchange, two points each. None where a table prices it,
/// additions do, or NCCL's model, which are no lines.
MessagePrices::Lines MessagePrices::lines(Exchange exchange) const {
  const Bytes far = Bytes::of(std::pow(2, 40));
  const auto time = [&](Bytes payload, Algorithm algorithm) {
    return transfer(*fabric_, exchange, payload, group_, algorithm);
  };
  const std::vector<Algorithm> candidates =
      algorithm_ == Algorithm::automatic ? fabric_->offered : std::vector<Algorithm>{algorithm_};
  if (std::find(candidates.begin(), candidates.end(), Algorithm::nccl) != candidates.end()) {
    return {};
  }
  const Transfer chosen = time(far, algorithm_);
  if (chosen.from_table || !fabric_->additions.points.empty()) {
    return {};
  }
  Lines lines;
  const auto add = [&](Algorithm algorithm) {
    const Seconds startup = time({}, algorithm).time;
    lines.push_back({startup.base(), ((time(far, algorithm).time - startup) / far).base()});
  };
  for (const Algorithm algorithm : candidates) {
    if (time(far, algorithm).algorithm == algorithm) {
      add(algorithm);
    }
  }
  if (lines.empty()) {
    add(chosen.algorithm);
  }
  return lines;
}

const MessagePrices::Known& MessagePrices::known(std::size_t elements) {
  Known* entry = &slot(elements);
  if (entry->elements == elements) {
    return *entry;
  }
  if (++used_ * 2 > table_.size()) {
    grow();
    entry = &slot(elements);
  }
  const auto first = static_cast<std::uint32_t>(rounds_.size());
  for (const Round& round : plan(Bytes::of(static_cast<double>(elements) * size_of(gradient_)))) {
    if (round.exchange != Exchange::none) {
      rounds_.push_back({round.exchange, round.payload.base()});
    }
  }
  *entry = {elements, first, static_cast<std::uint32_t>(rounds_.size()) - first};
  return *entry;
}

/// Where it stands, or would.
MessagePrices::Known& MessagePrices::slot(std::size_t elements) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / the golden ratio: spreads what is alike
  const std::size_t mask = table_.size() - 1;
  std::size_t at = static_cast<std::size_t>((elements * kGolden) >> 32U) & mask;
  while (table_[at].elements != elements && table_[at].elements != 0) {
    at = (at + 1) & mask;
  }
  return table_[at];
}

void MessagePrices::grow() {
  const std::vector<Known> old = std::exchange(table_, std::vector<Known>(2 * table_.size()));
  for (const Known& entry : old) {
    if (entry.elements != 0) {
      slot(entry.elements) = entry;
    }
  }
}

}  // namespace breakeven
