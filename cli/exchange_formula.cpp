#include "cli/exchange_formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "model/nccl_exchange.h"

namespace breakeven::cli {
namespace {

/// As NCCL counts.
std::string gigabytes(double a_second) {
  return significant(a_second, 4) + " GB/s";
}

std::string pair_name(const NcclCost& cost) {
  return fmt::format("{}/{}", name(cost.algorithm), name(cost.protocol));
}

/// "8.4 us (base) + 28 x 3.4 us (inside), x 1.4 (plateau of rings)", from left to right.
std::string steps_text(const std::vector<NcclStep>& steps,
                       const std::function<std::string(double)>& with_unit) {
  std::string text;
  for (const NcclStep& step : steps) {
    const std::string count = step.count == 1 ? "" : significant(step.count, 4) + " x ";
    switch (step.kind) {
      case NcclStep::Kind::plus:
        text += (text.empty() ? "" : " + ") + count + with_unit(step.value);
        break;
      case NcclStep::Kind::times:
        text += ", x " + significant(step.value, 4);
        break;
      case NcclStep::Kind::at_most:
        text += ", at most " + count + with_unit(step.value);
    }
    text += fmt::format(" ({})", step.what);
  }
  return text;
}

}  // namespace

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
    return fmt::format("{}: {} + {} / {} = {}", pair_name(cost), to_string(cost.latency),
                       to_string(cost.bytes), gigabytes(cost.bandwidth.base() * 1e-9), to_string(cost.time));
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

std::string nccl_derivation(const Fabric& fabric, const Round& round, const Group& group,
                            const std::string& indent) {
  const NcclAnswer answer = nccl_answer(fabric, round.exchange, round.payload, group, round.element);
  const NcclCost& chosen = answer.costs.front();
  const auto microseconds = [](double value) { return to_string(Seconds::of(value * 1e-6)); };
  std::string others;
  for (const NcclCost& cost : answer.costs) {
    if (&cost != &chosen) {
      others += (others.empty() ? "" : ", ") + pair_name(cost) + " " + to_string(cost.time);
    }
  }
  return fmt::format("{0}latency     {1} = {2}\n{0}bandwidth   {3} = {4}\n{0}slower      {5}\n", indent,
                     steps_text(answer.how.latency, microseconds), to_string(chosen.latency),
                     steps_text(answer.how.bandwidth, gigabytes), gigabytes(chosen.bandwidth.base() * 1e-9),
                     others.empty() ? "nothing else runs here" : others);
}

}  // namespace breakeven::cli
