// --explain: every formula with its numbers put in, and the origin of each input.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "cli/answer.h"
#include "cli/exchange_formula.h"
#include "model/intensity.h"

namespace breakeven::cli {
namespace {

std::string inputs_text(const ScenarioSetup& setup) {
  Screen screen;
  screen.columns = {{"input"}, {"value"}, {"origin"}, {"source"}};
  for (const Input& input : setup.inputs) {
    screen.rows.push_back({{input.name}, {input.text}, {std::string(name(input.origin))}, {input.source}});
  }
  return to_text(screen, Style(false));
}

/// Memory speeds are read in bytes, operations in millions.
std::string memory_text(BytesPerSecond speed) {
  return significant(speed.base() / 1e9, 4) + " GB/s";
}
std::string operations_text(double flops) {
  return significant(flops / 1e6) + " MFLOP";
}

/// The codec's time, by the formula or the word of whoever measured it.
std::string work_formula(const Work& work, const Device& device) {
  const std::string total = to_string(work.known.value_or(Seconds{}));
  if (work.origin != Origin::estimated) {
    return work.repeats > 1 && work.elements > 0
               ? fmt::format("{} codings of {} elements = {} ({})", significant(work.repeats),
                             significant(work.elements, 9), total, name(work.origin))
               : fmt::format("{} ({})", total, name(work.origin));
  }
  const auto peak = device.peak[static_cast<std::size_t>(Precision::fp32)];
  std::string data = fmt::format("{} / {}", to_string(work.touched), memory_text(device.memory));
  if (peak && work.flops > 0) {
    data = fmt::format("max({}, {} / {})", data, operations_text(work.flops), to_string(*peak));
  }
  return fmt::format("{} launches x {} + {} = {} (estimated)", significant(work.launches, 4),
                     to_string(device.launch), data, total);
}

/// The lines of one message, but for when it is ready: equal messages are told once.
std::string message_body(const Prediction& prediction, std::size_t message, const Scenario& scenario) {
  const Device& device = prediction.placement == Placement::host ? scenario.overlap.host : scenario.device;
  std::string text;
  const Plan& plan = prediction.plans[message];
  for (std::size_t r = 0; r < plan.size(); ++r) {
    const Round& round = plan[r];
    if (round.encode.known.value_or(Seconds{}) > Seconds{}) {
      text += "      encode      " + work_formula(round.encode, device) + "\n";
    }
    if (round.exchange != Exchange::none && r < prediction.transfers[message].size()) {
      const Transfer& transfer = prediction.transfers[message][r];
      text += fmt::format("      {}{} ({}) {}\n", name(round.exchange),
                          round.distance > 0 ? fmt::format(" {} apart", round.distance) : "",
                          name(transfer.algorithm),
                          exchange_formula(scenario.fabric, round.exchange, round.payload, scenario.group(),
                                           transfer, round.distance));
      if (transfer.nccl) {
        text += nccl_derivation(scenario.fabric, round, scenario.group(), "        ");
      }
    }
    if (round.decode.known.value_or(Seconds{}) > Seconds{}) {
      text += "      decode      " + work_formula(round.decode, device) + "\n";
    }
  }
  return text;
}

std::string messages_text(const Prediction& prediction, const Scenario& scenario) {
  std::string text;
  const auto& messages = prediction.messages;
  for (std::size_t first = 0; first < messages.size();) {
    const std::string body = message_body(prediction, first, scenario);
    std::size_t last = first;
    while (last + 1 < messages.size() &&
           messages[last + 1].tensors.size() == messages[first].tensors.size() &&
           message_body(prediction, last + 1, scenario) == body) {
      ++last;
    }
    const std::string numbers = first == last ? fmt::format("message {}", first + 1)
                                              : fmt::format("messages {} to {}, each", first + 1, last + 1);
    const std::string ready =
        first == last ? to_string(messages[first].ready)
                      : to_string(messages[first].ready) + " to " + to_string(messages[last].ready);
    text += fmt::format("    {}: {} tensors, {} elements, ready after {} of backward\n", numbers,
                        messages[first].tensors.size(), elements(messages[first].tensors), ready);
    text += body;
    first = last + 1;
  }
  return text;
}

/// What the framework copies in front of every message, and back behind it where a codec made the result.
std::string copies_text(const Prediction& prediction, const Scenario& scenario, bool codec) {
  const BytesPerSecond rate = scenario.overlap.bucket_copy;
  if (!(rate > BytesPerSecond{}) || scenario.workers == 1) {
    return {};
  }
  Bytes gradient;
  for (const Message& message : prediction.messages) {
    gradient += bytes(message.tensors);
  }
  return fmt::format("      bucket copies: {} into buckets{} at {} = {}\n", to_string(gradient),
                     codec ? " and back" : "", to_string(rate), to_string(gradient / rate * (codec ? 2 : 1)));
}

std::string method_text(const Prediction& prediction, const Scenario& scenario, bool serial_codec) {
  const Breakdown& parts = prediction.parts;
  if (scenario.method == Method::timeline) {
    return fmt::format(
        "    timeline: backward {} takes {} times as long while the network is busy; a message starts when "
        "its gradients exist\n"
        "      busy: encode {}, communication {}, decode {}\n{}",
        to_string(parts.backward), significant(scenario.overlap.gamma, 4), to_string(parts.encode),
        to_string(parts.communication), to_string(parts.decode),
        copies_text(prediction, scenario, parts.encode + parts.decode > Seconds{}));
  }
  if (serial_codec) {
    return fmt::format(
        "    closed form: backward + encode + all exchanges + decode = {} + {} + {} + {} = {}\n",
        to_string(parts.backward), to_string(parts.encode), to_string(parts.communication),
        to_string(parts.decode), to_string(parts.backward_and_sync()));
  }
  Seconds last;
  for (const Transfer& transfer :
       prediction.transfers.empty() ? std::vector<Transfer>{} : prediction.transfers.back()) {
    last += transfer.time;
  }
  const std::string compute =
      parts.exposed_codec > Seconds{}
          ? fmt::format("{} x {} + {}", significant(scenario.overlap.gamma, 4), to_string(parts.backward),
                        to_string(parts.exposed_codec))
          : fmt::format("{} x {}", significant(scenario.overlap.gamma, 4), to_string(parts.backward));
  const std::string hidden = to_string(parts.communication - last);
  const std::string formula = scenario.last_bucket_inside
                                  ? fmt::format("max({}, {} + {})", compute, hidden, to_string(last))
                                  : fmt::format("max({}, {}) + {}", compute, hidden, to_string(last));
  return fmt::format(
      "    closed form: max(gamma x backward + codec, all exchanges but the last){} the last = {} = {}\n",
      scenario.last_bucket_inside ? ", inside the max also" : " +", formula,
      to_string(parts.backward_and_sync()));
}

std::string prediction_text(const std::string& label, const Prediction& prediction,
                            const Scenario& scenario) {
  const Breakdown& parts = prediction.parts;
  const bool codec = parts.encode + parts.decode > Seconds{};
  const bool serial_codec = codec && prediction.placement == Placement::serial;
  std::string text = label + "\n";
  text += fmt::format(
      "  step = forward + backward + other + slowdown + exposed codec{} + exposed communication\n"
      "       = {} + {} + {} + {} + {} + {} = {}\n",
      scenario.overlap.bucket_copy > BytesPerSecond{} ? " and copies" : "", to_string(parts.forward),
      to_string(parts.backward), to_string(parts.other), to_string(parts.slowdown),
      to_string(parts.exposed_codec), to_string(parts.exposed_communication), to_string(prediction.step));
  text += fmt::format("  a worker contributes {}, sends {}, keeps {} more\n", to_string(prediction.payload),
                      to_string(prediction.wire), to_string(prediction.state));
  if (codec) {
    text += fmt::format("  codec placement {}\n", name(prediction.placement));
  }
  return text + method_text(prediction, scenario, serial_codec) + messages_text(prediction, scenario);
}

std::string gain_text(const AnswerRow& row, const ScenarioSetup& setup) {
  const JudgeOptions judge = judge_options(setup, row.candidate);
  const Verdict& verdict = row.verdict;
  std::string text = fmt::format("  gain = plain step / step{} = {} / {}{} = {:.3f}",
                                 judge.extra_steps > 0 ? " / (1 + extra steps)" : "",
                                 to_string(verdict.plain), to_string(verdict.candidate),
                                 judge.extra_steps > 0 ? " / " + significant(1 + judge.extra_steps, 4) : "",
                                 verdict.speedup);
  text += fmt::format("; {:.3f} to {:.3f} within what is known of codec ({}) and compute (+-{} %)\n",
                      verdict.speedup_low, verdict.speedup_high,
                      row.codec() > Seconds{} ? name(row.prediction.codec) : "none",
                      significant(judge.compute_uncertainty * 100));
  if (verdict.extra_steps_below > 0) {
    text += fmt::format("  extra steps it may need = plain step / step - 1 = {} %\n",
                        significant(verdict.extra_steps_below * 100));
  }
  text +=
      fmt::format("  verdict by a margin of {} %: {}\n", significant(judge.margin * 100), name(verdict.call));
  if (verdict.where.codec_below) {
    text += fmt::format("  it pays with encode and decode under {} together ({} now)\n",
                        to_string(*verdict.where.codec_below), to_string(row.codec()));
  }
  return text;
}

/// The survey's two measures (arXiv 2005.13247) of how hard it is to scale.
std::string intensity_text(const Answer& answer) {
  const Workload& workload = answer.setup.scenario.workload;
  const Breakdown& plain = answer.plain.parts;
  std::string text;
  if (const double flop = flop_per_sample(workload); flop > 0) {
    text += fmt::format(
        "intensity: 3 x forward FLOPs of a sample / parameters = {} GFLOP / {} = {} FLOP a parameter (a "
        "multiply-add is 2; counted as one instruction, as the survey has it, {})\n",
        significant(flop / 1e9, 4), workload.elements(), significant(intensity(workload), 4),
        significant(intensity(workload) / 2, 4));
  }
  const auto [forward, backward, sending] = std::tuple(plain.forward, plain.backward, plain.communication);
  if (backward > Seconds{}) {
    text += fmt::format("communication to computation: r = plain all-reduce / backward = {} / {} = {}\n",
                        to_string(sending), to_string(backward), significant(sending / backward, 4));
  }
  return text +
         fmt::format(
             "overlap: hiding all of it behind backward gains at most (forward + backward + all-reduce) "
             "/ (forward + max(backward, all-reduce)) = {:.3f} over hiding none\n",
             most_overlap_gains(forward, backward, sending));
}

}  // namespace

std::string explain(const Answer& answer) {
  const Scenario& scenario = answer.setup.scenario;
  std::string text = inputs_text(answer.setup) + "\n";
  text += fmt::format(
      "bound: forward + backward + other = {} + {} + {} = {}; no scheme gains more than {} / {} = {:.3f}\n",
      to_string(scenario.workload.forward()), to_string(scenario.workload.backward()),
      to_string(scenario.workload.other), to_string(answer.bound), to_string(answer.plain.step),
      to_string(answer.bound), answer.max_speedup);
  if (scenario.method == Method::closed_form && std::isfinite(answer.near_linear_ratio)) {
    text +=
        fmt::format("near linear: all exchanges but the last hide behind backward from a ratio of {} on\n",
                    significant(answer.near_linear_ratio, 4));
  }
  text += intensity_text(answer) + "\n";
  text += prediction_text(answer.plain_label + " (none)", answer.plain, scenario);
  for (const AnswerRow& row : answer.rows) {
    text += "\n" + prediction_text(row.label + " (" + row.candidate.spec + ")", row.prediction, scenario);
    text += row.codec_source.empty() ? "" : "  codec times: " + row.codec_source + "\n";
    text += gain_text(row, answer.setup);
  }
  return text;
}

}  // namespace breakeven::cli
