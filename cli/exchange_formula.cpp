#include "cli/exchange_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace breakeven::cli {

Seconds ExchangeTerms::time(const Fabric& fabric, Bytes payload) const {
  const auto pass = [payload](const Level& level, double passes) {
    return passes > 0 ? passes * (payload / level.effective()) : Seconds{};
  };
  const Seconds inside = pass(fabric.inside, passes_inside);
  const Seconds across = pass(fabric.across, passes_across);
  return latencies_inside * fabric.inside.latency + latencies_across * fabric.across.latency +
         (overlap ? std::max(inside, across) : inside + across);
}

ExchangeTerms terms_of(const Fabric& fabric, Exchange exchange, const Group& group, Algorithm algorithm,
                       std::size_t distance) {
  struct Costs {
    double latency_inside = 0, latency_across = 0, pass_inside = 0, pass_across = 0;
  };
  const auto ask = [&](const Costs& costs) {
    Fabric probe = fabric;
    probe.tables.clear();
    const auto level = [](double latency, double pass) {
      const double bandwidth = pass > 0 ? 1 / pass : std::numeric_limits<double>::infinity();
      return Level{{}, BytesPerSecond::of(bandwidth), Seconds::of(latency), 1};
    };
    probe.inside = level(costs.latency_inside, costs.pass_inside);
    probe.across = level(costs.latency_across, costs.pass_across);
    return transfer(probe, exchange, Bytes::of(1), group, algorithm, {}, distance).time.base();
  };
  ExchangeTerms terms;
  terms.latencies_inside = ask({.latency_inside = 1});
  terms.latencies_across = ask({.latency_across = 1});
  terms.passes_inside = ask({.pass_inside = 1});
  terms.passes_across = ask({.pass_across = 1});
  const double both = ask({.pass_inside = 1, .pass_across = 1});
  terms.overlap = both < terms.passes_inside + terms.passes_across;
  return terms;
}

std::string exchange_formula(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                             const Transfer& transfer, std::size_t distance) {
  if (transfer.from_table) {
    return fmt::format("{} by the fabric's table for {} workers{} = {}", to_string(payload), group.workers,
                       transfer.extrapolated ? ", outside it" : "", to_string(transfer.time));
  }
  if (transfer.nccl) {
    const NcclCost& cost = *transfer.nccl;
    return fmt::format("{}/{}: {} + {} / {} = {}", name(cost.algorithm), name(cost.protocol),
                       to_string(cost.latency), to_string(cost.bytes), to_string(cost.bandwidth),
                       to_string(cost.time));
  }
  const ExchangeTerms terms = terms_of(fabric, exchange, group, transfer.algorithm, distance);
  std::string text;
  const auto add = [&](const std::string& term) { text += (text.empty() ? "" : " + ") + term; };
  const auto latency = [&](double count, const Level& level) {
    if (count > 0) {
      add(significant(count, 4) + " x " + to_string(level.latency));
    }
  };
  const auto pass = [&](double passes, const Level& level) {
    return fmt::format("{} x {} / {}", significant(passes, 4), to_string(payload),
                       to_string(level.effective()));
  };
  latency(terms.latencies_inside, fabric.inside);
  latency(terms.latencies_across, fabric.across);
  if (terms.overlap) {
    add("max(" + pass(terms.passes_inside, fabric.inside) + ", " + pass(terms.passes_across, fabric.across) +
        ")");
  } else {
    if (terms.passes_inside > 0) {
      add(pass(terms.passes_inside, fabric.inside));
    }
    if (terms.passes_across > 0) {
      add(pass(terms.passes_across, fabric.across));
    }
  }
  return (text.empty() ? "nothing" : text) + " = " + to_string(transfer.time);
}

}  // namespace breakeven::cli
