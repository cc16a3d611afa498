// Predicts published cases and says how far off it is.
#include <algorithm>
#include <cmath>
#include <map>

#include "model/error.h"
#include "model/predict.h"
#include "model/verdict.h"
#include "profiles/published.h"
#include "profiles/setup.h"

namespace breakeven {
namespace {

/// One case's setup with everything that a figure may be read from.
struct Asked {
  ScenarioSetup setup;
  Candidate candidate, plain;

  [[nodiscard]] Prediction predicted() const {
    return predict(setup.scenario, *candidate.compressor, candidate.scheme->placement);
  }
  [[nodiscard]] double speedup(const Prediction& prediction) const {
    return predict(setup.scenario, *plain.compressor).step / prediction.step;
  }
  [[nodiscard]] double workers() const { return static_cast<double>(setup.scenario.workers); }
  /// Samples of all workers in a step.
  [[nodiscard]] double samples() const {
    const auto batch = std::find_if(setup.inputs.begin(), setup.inputs.end(),
                                    [](const Input& input) { return input.name == "batch"; });
    if (batch == setup.inputs.end() || !batch->value) {
      throw Error(Fault::value, "--batch", "missing", "the samples of one worker, for a throughput");
    }
    return workers() * *batch->value;
  }
};

/// Up to where the scheme pays; nothing when that is no single interval from 0.
double pays_below(const Asked& asked) {
  const Verdict verdict = judge(asked.setup.scenario, *asked.plain.compressor, *asked.candidate.compressor,
                                asked.candidate.scheme->placement, asked.setup.judge);
  const BandwidthIntervals intervals = verdict.where.bandwidth.value_or(BandwidthIntervals{});
  return intervals.size() == 1 ? intervals.front().second.base() : 0;
}

double bus_bandwidth_of(const Asked& asked, const Prediction& prediction) {
  if (prediction.transfers.size() != 1 || prediction.transfers.front().size() != 1) {
    throw Error(Fault::value, "--scheme", "exchanges more than once in a step",
                "one exchange, for a bus bandwidth: a scheme of one round, and --schedule bsp");
  }
  const Round& round = prediction.plans.front().front();
  const double parts = round.exchange == Exchange::all_gather ? asked.workers() : 1;
  return bus_bandwidth(round.exchange, round.payload * parts, asked.setup.scenario.workers,
                       prediction.transfers.front().front().time)
      .base();
}

double value_of(const Asked& asked, Figure figure) {
  const Prediction prediction = asked.predicted();
  const double step = prediction.step.base();
  switch (figure) {
    case Figure::step:
      return step;
    case Figure::backward_and_sync:
      return prediction.parts.backward_and_sync().base();
    case Figure::communication:
      return prediction.parts.communication.base();
    case Figure::payload:
      return prediction.payload.base();
    case Figure::wire:
      return prediction.wire.base();
    case Figure::throughput:
      return asked.samples() / step;
    case Figure::scaling:
      return step_without_network(asked.setup.scenario).base() / step;
    case Figure::workers_worth:
      return asked.workers() * step_without_network(asked.setup.scenario).base() / step;
    case Figure::bus_bandwidth:
      return bus_bandwidth_of(asked, prediction);
    case Figure::pays_below:
      return pays_below(asked);
    default:  // of two steps
      return asked.speedup(prediction);
  }
}

std::string text_of(double value, Figure figure) {
  switch (figure) {
    case Figure::step:
    case Figure::backward_and_sync:
    case Figure::communication:
      return significant(value * 1e3, 6) + " ms";
    case Figure::payload:
    case Figure::wire:
      return significant(value, 12) + " B";
    case Figure::throughput:
      return significant(value, 5) + " /s";
    case Figure::bus_bandwidth:
      return significant(value * 1e-9, 4) + " GB/s";
    case Figure::pays_below:
      return significant(value * 8e-9, 4) + " Gbit/s";
    case Figure::scaling:
      return significant(value * 100, 4) + " %";
    case Figure::sign:
      return (value > 1 ? "wins, " : "loses, ") + significant(value, 4);
    default:
      return significant(value, 4);
  }
}

double error_of(double predicted, const PublishedCase& one) {
  if (one.figure == Figure::sign) {
    const bool right = one.expected > 1 ? predicted > 1 : predicted < 1;
    return right ? 0 : predicted - 1;
  }
  return one.tolerance.points ? predicted - one.expected : predicted / one.expected - 1;
}

CheckedCase ask(const PublishedCase& one, const Catalogue& catalogue, const Registry& registry) {
  Asked asked{resolve(one.options, catalogue), registry.make(one.scheme), registry.make("none")};
  asked.candidate = priced(asked.candidate, asked.setup);
  CheckedCase result;
  result.id = one.id;
  result.predicted = value_of(asked, one.figure);
  result.text = text_of(result.predicted, one.figure);
  result.error = error_of(result.predicted, one);
  result.warnings = std::move(asked.setup.warnings);
  return result;
}

using Values = std::map<std::string, double, std::less<>>;

/// An order is as wrong as its worst pair of neighbours.
CheckedCase in_order(const PublishedCase& one, const Values& predicted) {
  CheckedCase result;
  result.id = one.id;
  for (std::size_t i = 1; i < one.order.size(); ++i) {
    const double larger = predicted.at(one.order[i - 1]);
    const double smaller = predicted.at(one.order[i]);
    if (smaller / larger - 1 > result.error) {
      result.error = smaller / larger - 1;
      result.text += (result.text.empty() ? "" : ", ") + one.order[i] + " > " + one.order[i - 1];
    }
  }
  if (result.text.empty()) {
    result.text = "the same";
  }
  return result;
}

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

CheckedSource check(const Published& source, const Catalogue& catalogue, const Registry& registry) {
  CheckedSource result;
  Values predicted;
  for (const PublishedCase& one : source.cases) {
    CheckedCase& checked = result.cases.emplace_back();
    if (one.figure == Figure::ordering) {
      continue;  // when all numbers are there
    }
    try {
      checked = ask(one, catalogue, registry);
    } catch (const Error& error) {
      throw error.inside(source.name + ": case " + one.id, Fault::file);
    }
    predicted[one.id] = checked.predicted;
  }
  std::vector<double> sizes;
  std::vector<double> numbers;  // without signs and orderings, which are right or not
  for (std::size_t i = 0; i < source.cases.size(); ++i) {
    const PublishedCase& one = source.cases[i];
    CheckedCase& checked = result.cases[i];
    if (one.figure == Figure::ordering) {
      checked = in_order(one, predicted);
    }
    sizes.push_back(std::abs(checked.error));
    if (one.figure != Figure::sign && one.figure != Figure::ordering) {
      numbers.push_back(sizes.back());
    }
    checked.within = sizes.back() <= one.tolerance.value;
    result.within += checked.within ? 1 : 0;
  }
  result.median = median(numbers.empty() ? sizes : numbers);
  result.largest = *std::max_element(sizes.begin(), sizes.end());
  const double share = static_cast<double>(result.within) / static_cast<double>(sizes.size());
  result.holds =
      share >= source.least_within.value_or(0) && result.largest <= source.largest_error.value_or(INFINITY);
  return result;
}

}  // namespace breakeven
