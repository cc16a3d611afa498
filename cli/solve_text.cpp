// The answers of `solve` for people: in a sentence, as a table.
#include <fmt/format.h>

#include <cmath>

#include "cli/solved.h"

namespace breakeven::cli {
namespace {

/// Three digits, and more where fewer would say that scaling is linear when it is not.
std::string percent(double share) {
  constexpr int kMost = 7;
  std::string text = significant(share * 100);
  for (int digits = 4; share < 1 && text == "100" && digits <= kMost; ++digits) {
    text = significant(share * 100, digits);
  }
  return text + " %";
}

/// In the order of Unknown.
constexpr UnknownText kUnknowns[] = {
    {"bandwidth", "bandwidth", "B/s"},      {"ratio", "compression ratio", ""},
    {"codec-time", "encode + decode", "s"}, {"workers", "workers", ""},
    {"batch", "batch of one worker", ""},   {"extra-steps", "more steps", ""}};

/// A value of the unknown as people read it.
std::string shown(Unknown unknown, double value) {
  switch (unknown) {
    case Unknown::bandwidth:
      return to_string(BytesPerSecond::of(value));
    case Unknown::codec_time:
      return to_string(Seconds::of(value));
    case Unknown::extra_steps:
      return percent(value);
    case Unknown::ratio:
      return significant(value);
    default:
      return fmt::format("{:.0f}", value);
  }
}

std::string measured(const Goal& goal, double value) {
  return goal.of == Goal::Of::scaling ? percent(value) : fmt::format("{:.2f}x", value);
}

bool counts(Unknown unknown) {
  return unknown == Unknown::workers || unknown == Unknown::batch;
}

/// "above 27 Gbit/s", "2 to 12", "any", "none".
std::string ranges_text(Unknown unknown, const Solution& solution) {
  std::string text;
  for (const Range& range : solution.ranges) {
    const std::string low = shown(unknown, range.low);
    const std::string high = shown(unknown, range.high);
    text += text.empty() ? "" : ", ";
    text += range.begins && range.ends ? (low == high ? low : fmt::format("{} to {}", low, high))
            : range.begins             ? low + " or more"
            : range.ends               ? (counts(unknown) ? "up to " : "below ") + high
                                       : "any";
  }
  return text.empty() ? "none" : text;
}

/// What is wanted, in a cell.
std::string asked(const SolvedRow& row) {
  switch (row.question) {
    case Question::explain:
      return "measured scaling " + percent(row.goal.least);
    case Question::reach:
      return percent(row.goal.least) + " of linear scaling";
    case Question::pay:
      break;
  }
  const double margin = row.goal.least - 1;
  return margin > 0 ? "a gain above " + percent(margin) : "a gain";
}

/// "54.1 % at 10 Gbit/s": where the setup is.
std::string now_text(Unknown unknown, const SolvedRow& row) {
  if (!row.measured_now) {
    return {};
  }
  const std::string reached = measured(row.goal, *row.measured_now);
  switch (unknown) {
    case Unknown::ratio:
      return reached + " without compression";
    case Unknown::bandwidth:
      return reached + " at " + shown(unknown, row.now.value_or(0));
    case Unknown::codec_time:
      return row.now.value_or(0) > 0
                 ? reached + " with " + shown(unknown, row.now.value_or(0)) + " " + row.origin
                 : reached + " without a codec";
    case Unknown::workers:
      return reached + " with " + shown(unknown, row.now.value_or(0));
    case Unknown::batch:
      return reached + " at batch " + shown(unknown, row.now.value_or(0));
    case Unknown::extra_steps:
      break;
  }
  return reached + " without more steps";
}

std::string explained(const Solved& solved, const SolvedRow& row) {
  const std::string scaling = percent(row.goal.least);
  if (row.solution.ranges.empty()) {
    return fmt::format(
        "no bandwidth explains a scaling of {}: over an infinitely fast network it would still be {}, for "
        "what latency, software and additions take.",
        scaling, percent(row.solution.best));
  }
  const auto found = value_of(solved.unknown, row);
  if (!found) {
    return fmt::format("a scaling of {} is below what the slowest network gives: something else is slow.",
                       scaling);
  }
  std::string text = fmt::format("a scaling of {} is that of an effective {}{}", scaling,
                                 shown(solved.unknown, *found), solved.place);
  if (!row.share) {
    return text + ".";
  }
  const std::string given = shown(solved.unknown, *row.now);
  return *row.share <= 1
             ? fmt::format("{}: {} of the {} given (--efficiency {}%).", text, percent(*row.share), given,
                           significant(*row.share * 100))
             : fmt::format("{}, more than the {} given: what ran was not this setup.", text, given);
}

std::string by_ratio(const SolvedRow& row) {
  const std::string target = percent(row.goal.least);
  const std::string without = row.measured_now ? percent(*row.measured_now) : "";
  if (row.solution.ranges.empty()) {
    return fmt::format(
        "{} of linear scaling is out of reach of compression: {} without, {} even with an infinite ratio.",
        target, without, percent(row.solution.best));
  }
  if (!row.solution.ranges.front().begins) {
    return fmt::format("{} of linear scaling needs no compression: it is {} without.", target, without);
  }
  return fmt::format("{} of linear scaling needs a compression ratio of {} that costs nothing ({} without).",
                     target, significant(row.solution.ranges.front().low), without);
}

std::string by_codec_time(const SolvedRow& row) {
  const double now = row.now.value_or(0);
  const double gain = row.measured_now.value_or(1);
  if (now <= 0) {
    return fmt::format("{} has no codec time to save: its gain is {:.2f}x.", row.label, gain);
  }
  if (row.solution.ranges.empty()) {
    return fmt::format("{} does not pay however fast its codec: {:.2f}x with one that takes no time.",
                       row.label, row.solution.best);
  }
  const std::string limit = ranges_text(Unknown::codec_time, row.solution);
  return fmt::format("{} pays where encode and decode together take {}{} ({:.2f}x with {} {}).", row.label,
                     limit == "any" ? "" : limit, limit == "any" ? "any time" : "", gain,
                     shown(Unknown::codec_time, now), row.origin);
}

std::string by_extra_steps(const SolvedRow& row) {
  const double gain = row.measured_now.value_or(1);
  return row.solution.ranges.empty()
             ? fmt::format("{} gains nothing that more steps could use up: {:.2f}x.", row.label, gain)
             : fmt::format("{} gains as long as training needs fewer than {} more steps ({:.2f}x a step).",
                           row.label, percent(row.solution.ranges.front().high), gain);
}

/// " at 27 Gbit/s or more", " with up to 12 workers", " at no batch".
std::string where(const Solved& solved, const SolvedRow& row) {
  const std::string ranges = ranges_text(solved.unknown, row.solution);
  const bool none = ranges == "none";
  const std::string most =
      none ? fmt::format(" ({} at most)", measured(row.goal, row.solution.best)) : std::string();
  switch (solved.unknown) {
    case Unknown::workers:
      return none || ranges == "any"
                 ? " with " + std::string(none ? "no" : "any") + " number of workers" + most
                 : " with " + ranges + " workers";
    case Unknown::batch:
      return none ? " at no batch" + most
                  : " at " + (ranges == "any"
                                  ? "any batch"
                                  : "batches " + (ranges.starts_with("up") ? ranges : "of " + ranges));
    default:
      return (none                          ? " at no bandwidth"
              : ranges == "any"             ? " at any bandwidth"
              : ranges.starts_with("below") ? " " + ranges
                                            : " at " + ranges) +
             solved.place + most;
  }
}

}  // namespace

const UnknownText& text_of(Unknown unknown) {
  return kUnknowns[static_cast<std::size_t>(unknown)];
}

std::optional<double> value_of(Unknown unknown, const SolvedRow& row) {
  const auto& ranges = row.solution.ranges;
  if (ranges.empty()) {
    return std::nullopt;
  }
  const Range& first = ranges.front();
  if (unknown == Unknown::ratio && !first.begins) {
    return 1;
  }
  if (row.question != Question::pay && first.begins) {
    return first.low;
  }
  const bool one_end = ranges.size() == 1 && first.begins != first.ends;
  return !one_end ? std::nullopt : std::optional(first.begins ? first.low : first.high);
}

std::string words(const Solved& solved, const SolvedRow& row) {
  if (row.question == Question::explain) {
    return explained(solved, row);
  }
  switch (solved.unknown) {
    case Unknown::ratio:
      return by_ratio(row);
    case Unknown::codec_time:
      return by_codec_time(row);
    case Unknown::extra_steps:
      return by_extra_steps(row);
    default:
      break;
  }
  const std::string does =
      row.question == Question::pay ? " pays" : " reaches " + percent(row.goal.least) + " of linear scaling";
  const std::string now = now_text(solved.unknown, row);
  return row.label + does + where(solved, row) + (now.empty() ? "" : "; " + now) + ".";
}

Screen solved_table(const Solved& solved) {
  Screen screen;
  screen.columns = {{"scheme"}, {"wanted"}, {std::string(text_of(solved.unknown).title)}, {"now"}};
  for (const SolvedRow& row : solved.rows) {
    const auto value = value_of(solved.unknown, row);
    const bool number = value && (row.question == Question::explain || solved.unknown == Unknown::ratio);
    const std::string now = now_text(solved.unknown, row);
    screen.rows.push_back(
        {{row.label},
         {asked(row)},
         {number ? shown(solved.unknown, *value) : ranges_text(solved.unknown, row.solution),
          row.solution.ranges.empty() ? Tone::bad : Tone::good},
         {now.empty() ? "-" : now}});
  }
  return screen;
}

}  // namespace breakeven::cli
