// The answer of `query` for people: the first screen.
#include <fmt/format.h>

#include <cmath>

#include "cli/answer.h"
#include "cli/manual.h"

namespace breakeven::cli {
namespace {

constexpr std::size_t kWidth = 118;
constexpr double kVisible = 1.01;  // a bound that is larger by less is not worth a second number

std::string times(double speedup) {
  return fmt::format("{:.2f}x", speedup);
}

std::string bandwidth_text(const std::optional<BandwidthIntervals>& intervals) {
  std::string text;
  for (const auto& [low, high] : intervals.value_or(BandwidthIntervals{})) {
    const bool from = low > BytesPerSecond{};
    const bool to = std::isfinite(high.base());
    text += text.empty() ? "" : " and ";
    text += from && to ? to_string(low) + " to " + to_string(high)
            : to       ? "below " + to_string(high)
            : from     ? "above " + to_string(low)
                       : "any bandwidth";
  }
  return text;
}

std::string workers_text(const std::optional<WorkerIntervals>& intervals) {
  std::string text;
  for (const auto& [low, high] : intervals.value_or(WorkerIntervals{})) {
    text += text.empty() ? "" : " and ";
    text += high == 0     ? (low <= 2 ? "any number of" : fmt::format("{} or more", low))
            : low == high ? std::to_string(low)
                          : fmt::format("{} to {}", low, high);
  }
  return text.empty() ? text : text + " workers";
}

/// Where a scheme pays, or why it does not.
std::string pays_text(const Answer& answer, const AnswerRow& row) {
  const Verdict& verdict = row.verdict;
  if (compresses_nothing(answer, row)) {
    return "never here: " + reason(answer, row);
  }
  std::string where = bandwidth_text(verdict.where.bandwidth);
  if (!where.empty() && answer.setup.scenario.group().nodes() == 1) {
    where += " inside the node";
  }
  const std::string workers = workers_text(verdict.where.workers);
  const std::string both = where + (where.empty() || workers.empty() ? "" : ", ") + workers;
  switch (verdict.call) {
    case Call::pays:
      return both.empty() ? "here" : both;
    case Call::too_close:
      return "too close: " + times(verdict.speedup_low) + " to " + times(verdict.speedup_high) +
             (both.empty() ? "" : "; " + both);
    case Call::does_not_pay:
      break;
  }
  // Where the ranges were not looked for, "never" would say too much.
  const bool never = both.empty() && verdict.where.bandwidth.has_value();
  return both.empty() ? (never ? "never here: " : "not here: ") + reason(answer, row) : "not here; " + both;
}

Tone tone_of(Call call) {
  return call == Call::pays ? Tone::good : call == Call::does_not_pay ? Tone::bad : Tone::unsure;
}

std::string network_line(const Answer& answer) {
  const double share = answer.plain.parts.exposed_communication / answer.plain.step;
  const double gain = answer.max_speedup - 1;
  const std::string_view word = gain <= answer.setup.judge.margin ? "no" : gain <= 0.1 ? "a little" : "yes";
  // What is not known of the compute times moves the bound as it moves the gains.
  const std::string high = answer.max_speedup_high > answer.max_speedup * kVisible
                               ? fmt::format(" ({} if compute is faster)", times(answer.max_speedup_high))
                               : "";
  return fmt::format(
      "{}: {} % of the step waits for it. With an infinitely fast network no scheme gains more than {}{}.",
      word, significant(share * 100, 2), times(answer.max_speedup), high);
}

/// "verdict  first line" and the others under it.
std::string block(std::string_view head, const std::vector<std::string>& lines, const Style& style,
                  std::size_t indent = 9) {
  std::string text;
  for (const std::string& line : lines) {
    text += wrapped(line, indent, kWidth);
  }
  if (!text.empty()) {
    text.replace(0, indent, style(Tone::strong, head) + std::string(indent - head.size(), ' '));
  }
  return text;
}

}  // namespace

Screen query_table(const Answer& answer) {
  Screen screen;
  screen.columns = {{"scheme"}, {"step", true}, {"gain", true}, {"exposed net", true}, {"codec"}, {"pays"}};
  screen.rows.push_back({{answer.plain_label},
                         {to_string(answer.plain.step)},
                         {times(1)},
                         {to_string(answer.plain.parts.exposed_communication)},
                         {"-"},
                         {"-"}});
  for (const AnswerRow& row : answer.rows) {
    const Tone tone = tone_of(row.verdict.call);
    const std::string codec = row.codec() > Seconds{}
                                  ? to_string(row.codec()) + " " + std::string(name(row.prediction.codec))
                                  : "-";
    screen.rows.push_back({{row.label},
                           {to_string(row.prediction.step)},
                           {times(row.verdict.speedup), tone},
                           {to_string(row.prediction.parts.exposed_communication)},
                           {codec, row.prediction.codec >= Origin::estimated ? Tone::unsure : Tone::plain},
                           {pays_text(answer, row)}});
  }
  return screen;
}

std::string query_screen(const Answer& answer, const Style& style) {
  std::string text = style(Tone::strong, answer.setup.title) + "\n\n";
  constexpr std::string_view kQuestion = "is it the network?";
  text += block(kQuestion, {network_line(answer)}, style, kQuestion.size() + 2) + "\n";
  text += to_text(query_table(answer), style) + "\n";
  text += block("verdict", verdict_lines(answer), style);
  return text + block("next", next_lines(answer), style);
}

}  // namespace breakeven::cli
