#include "cli/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.h"
#include "cli/machine.h"
#include "compressors/simd/target.h"
#include "profiles/write.h"

namespace breakeven::cli {
namespace {

/// One line of the tables.
struct Line {
  std::string scheme;
  double elements = 0;
  std::string side;
  Seconds time, read;
  std::optional<Seconds> least, cold;
  std::optional<double> spread;

  [[nodiscard]] double rate() const { return time > Seconds{} ? elements * sizeof(float) / time.base() : 0; }
  [[nodiscard]] double nanoseconds() const { return time.base() * 1e9 / elements; }
};

std::vector<Line> lines_of(const std::vector<Measured>& rows) {
  std::vector<Line> lines;
  for (const Measured& row : rows) {
    const CodecTime& warm = row.warm;
    const CodecTime& cold = row.cold;
    const auto add = [&](const char* side, Seconds time, std::optional<Seconds> least,
                         std::optional<Seconds> cold_time, std::optional<double> spread) {
      lines.push_back({row.scheme, warm.elements, side, time, warm.read, least, cold_time, spread});
    };
    add("encode", warm.encode, warm.least_encode, cold.encode, warm.encode_spread);
    add("decode", warm.decode, warm.least_decode, cold.decode, warm.decode_spread);
    if (warm.decode_next) {
      add("each further payload", *warm.decode_next, {}, cold.decode_next, {});
    }
  }
  return lines;
}

std::string threads_text(std::size_t threads) {
  return threads == 1 ? "1 thread" : std::to_string(threads) + " threads";
}

std::string repeats_text(std::size_t repeats) {
  return repeats == 1 ? "1 repeat" : std::to_string(repeats) + " repeats";
}

}  // namespace

CodecProfile measured_profile(const std::vector<Measured>& rows, const MeasureOptions& options) {
  CodecProfile profile;
  profile.name = options.name;
  profile.summary = "encode and decode on " + cpu_model() + ", " + threads_text(options.threads);
  profile.source = fmt::format("breakeven measure: medians of {} by the wall clock, {} gradients",
                               repeats_text(options.cold ? options.cold_repeats() : options.repeats) +
                                   (options.cold ? " with emptied caches" : ""),
                               name(options.kind));
  profile.conditions = {{"machine", cpu_model()},
                        {"date", today()},
                        {"compiler", compiler() + (optimised() ? "" : ", not optimised")},
                        {"simd", simd_target()},
                        {"threads", std::to_string(options.threads)},
                        {"caches", options.cold ? "cold" : "warm"}};
  for (const Measured& row : rows) {
    const CodecTime& time = options.cold ? row.cold : row.warm;
    if (profile.costs.empty() || profile.costs.back().scheme != row.scheme) {
      CodecCosts costs;
      costs.scheme = row.scheme;
      costs.device = options.device;
      costs.source = profile.source;
      profile.costs.push_back(std::move(costs));
    }
    CodecCosts& costs = profile.costs.back();
    costs.encode.points.push_back({time.elements, rounded(time.encode)});
    costs.decode.points.push_back({time.elements, rounded(time.decode)});
    if (time.decode_next) {
      costs.decode_next.points.push_back({time.elements, rounded(*time.decode_next)});
    }
    constexpr double kFine = 1e4;  // hundredths of a percent
    costs.spread = std::min(1.0, std::max(costs.spread, std::ceil(time.spread * kFine) / kFine));
  }
  return profile;
}

std::string measured_words(const MeasureOptions& options) {
  return fmt::format(
      "{}, {}, {}: medians of {} by the wall clock, caches warm (least: the fastest repeat; cold: of {} "
      "with emptied caches).\nGB/s is of the fp32 gradient, x read the time over that of a pass that only "
      "reads "
      "it.\n",
      cpu_model(), simd_target(), threads_text(options.threads), repeats_text(options.repeats),
      options.cold_repeats());
}

Screen measured_table(const std::vector<Measured>& rows) {
  Screen screen;
  screen.columns = {{"scheme"},       {"elements", true},   {"side"},       {"time", true},   {"least", true},
                    {"spread", true}, {"ns/element", true}, {"GB/s", true}, {"x read", true}, {"cold", true}};
  const auto time_text = [](const std::optional<Seconds>& time) {
    return time ? to_string(*time) : std::string("-");
  };
  for (const Line& line : lines_of(rows)) {
    screen.rows.push_back({{line.scheme},
                           {grouped(static_cast<std::size_t>(line.elements))},
                           {line.side},
                           {to_string(line.time)},
                           {time_text(line.least)},
                           {line.spread ? significant(*line.spread * 100, 2) + " %" : "-"},
                           {significant(line.nanoseconds())},
                           {line.rate() > 0 ? significant(line.rate() / 1e9) : "-"},
                           {fmt::format("{:.2f}", line.time / line.read)},
                           {time_text(line.cold)}});
  }
  return screen;
}

Rows measured_rows(const std::vector<Measured>& rows) {
  Rows result;
  result.columns = {"scheme", "elements",    "side",       "time_s", "least_s",
                    "spread", "bytes_per_s", "read_ratio", "cold_s"};
  const auto or_nothing = [](const auto& value, auto number) -> Value {
    return value ? Value(number(*value)) : Value();
  };
  const auto base = [](Seconds time) { return time.base(); };
  for (const Line& line : lines_of(rows)) {
    result.rows.push_back(
        {line.scheme, line.elements, line.side, line.time.base(), or_nothing(line.least, base),
         or_nothing(line.spread, [](double spread) { return spread; }),
         line.rate() > 0 ? Value(line.rate()) : Value(), line.time / line.read, or_nothing(line.cold, base)});
  }
  return result;
}

}  // namespace breakeven::cli
