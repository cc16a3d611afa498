#include "profiles/import/nccl_bandwidths.h"

#include <cmath>
#include <limits>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr double kTolerance = 0.02;  // of times that were averaged differently than bandwidths

/// What busbw / algbw comes near with many ranks: it is 2(n-1)/n of an all-reduce, (n-1)/n of the others
/// (nccl-tests, doc/PERFORMANCE.md).
double whole(Exchange exchange) {
  return exchange == Exchange::all_reduce ? 2 : 1;
}

}  // namespace

double microseconds(const NcclRow& row, const NcclTimes& times) {
  const Printed& printed = times.algorithm_bandwidth;
  constexpr double kShortest = 1e-6, kLongest = 1e12;
  const double time = times.time.value;
  if (time < kShortest || time > kLongest) {
    throw Error(Fault::file, row.place, "a time of " + exact(time) + " us", "1e-6 to 1e12 us");
  }
  const double expected = static_cast<double>(row.size) / time / 1e3;
  const double slack = printed.rounding + kTolerance * printed.value + expected * times.time.rounding / time;
  if (std::abs(expected - printed.value) <= slack) {
    return time;
  }
  if (std::abs(expected / 1e3 - printed.value) <= slack && printed.value > 0) {  // those of 2017
    return time * 1e3;
  }
  throw Error(
      Fault::file, row.place,
      std::to_string(row.size) + " bytes in " + exact(time) + " us are not " + exact(printed.value) + " GB/s",
      "columns as nccl-tests prints them");
}

bool less_than_all(const NcclTimes& times) {
  return times.bus_bandwidth.value + times.bus_bandwidth.rounding <
         times.algorithm_bandwidth.value - times.algorithm_bandwidth.rounding;
}

void refuse_impossible(const NcclRow& row, const NcclTimes& times, Exchange exchange) {
  const std::string bus = "busbw " + exact(times.bus_bandwidth.value);
  const std::string algorithm = "algbw " + exact(times.algorithm_bandwidth.value);
  const bool one_rank = times.bus_bandwidth.value == 0;
  if (exchange == Exchange::all_reduce && !one_rank && less_than_all(times)) {
    throw Error(Fault::file, row.place, bus + " is below " + algorithm + ", which no all-reduce's is",
                "rows of an all-reduce, or the name of their program above them");
  }
  const double most =
      whole(exchange) * (times.algorithm_bandwidth.value + times.algorithm_bandwidth.rounding);
  if (times.bus_bandwidth.value - times.bus_bandwidth.rounding > most * (1 + kTolerance)) {
    throw Error(Fault::file, row.place,
                bus + " is more than " + (whole(exchange) > 1 ? "twice " : "") + algorithm +
                    ", which no number of ranks makes it",
                "columns as nccl-tests prints them, and the name of their program above them");
  }
}

/// The algorithm bandwidth is size / time, which has more digits than what is printed.
void narrow(RankRange& range, const NcclRow& row, const NcclTimes& times, Exchange exchange) {
  constexpr double kSlack = 1e-9;
  const double to_microseconds = microseconds(row, times) / times.time.value;
  const double least_time = (times.time.value - times.time.rounding) * to_microseconds;
  const double most_time = (times.time.value + times.time.rounding) * to_microseconds;
  const auto size = static_cast<double>(row.size);
  const auto ranks_of = [&](double bus, double time) {
    const double factor = bus * 1e3 * time / size / whole(exchange);  // (n-1)/n
    return factor >= 1 ? std::numeric_limits<double>::infinity() : 1 / (1 - factor);
  };
  const Printed& bus = times.bus_bandwidth;
  range.narrow(ranks_of(bus.value - bus.rounding, least_time) - kSlack,
               ranks_of(bus.value + bus.rounding, most_time) + kSlack);
}

}  // namespace breakeven
