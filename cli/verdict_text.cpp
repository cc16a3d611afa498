// The verdict in sentences: what to do, why, and what to find out next.
#include <fmt/format.h>

#include <algorithm>

#include "cli/answer.h"
#include "cli/doors.h"

namespace breakeven::cli {
namespace {

std::string times(double speedup) {
  return fmt::format("{:.2f}x", speedup);
}
const AnswerRow* most(const Answer& answer, Call call) {
  const AnswerRow* found = nullptr;
  for (const AnswerRow& row : answer.rows) {
    if (row.verdict.call == call && !compresses_nothing(answer, row) &&
        (found == nullptr || row.verdict.speedup > found->verdict.speedup)) {
      found = &row;
    }
  }
  return found;
}

const AnswerRow* cast_of(const Answer& answer) {
  const auto found = std::find_if(answer.rows.begin(), answer.rows.end(), [](const AnswerRow& row) {
    return row.cast && row.verdict.call == Call::pays;
  });
  return found == answer.rows.end() ? nullptr : &*found;
}

bool network_matters(const Answer& answer) {
  return answer.max_speedup > 1 + answer.setup.judge.margin;
}

const Input* input_of(const Answer& answer, std::string_view name) {
  const auto& inputs = answer.setup.inputs;
  const auto found =
      std::find_if(inputs.begin(), inputs.end(), [&](const Input& input) { return input.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

/// How long the device idles in a step without network, where that is much and no wait for data or the
/// optimizer can explain it: its kernels are not launched fast enough. Else nothing.
Seconds launch_bound(const Answer& answer) {
  constexpr double kMuch = 0.2;  // of the step
  const Input* busy = input_of(answer, "busy");
  if (busy == nullptr) {
    return {};
  }
  const Seconds idle = answer.bound - Seconds::of(busy->value.value_or(0));
  return idle > answer.setup.scenario.workload.other && idle > kMuch * answer.bound ? idle : Seconds{};
}

bool exchanges_by(const Prediction& prediction, Exchange exchange) {
  return std::any_of(prediction.plans.begin(), prediction.plans.end(), [&](const Plan& plan) {
    return std::any_of(plan.begin(), plan.end(),
                       [&](const Round& round) { return round.exchange == exchange; });
  });
}

/// What a scheme that is no all-reduce pays on the network.
std::string costly_exchange(const Answer& answer, const Prediction& prediction) {
  const Group group = answer.setup.scenario.group();
  if (exchanges_by(prediction, Exchange::all_to_all)) {
    return group.per_node > 1 && group.nodes() > 1
               ? fmt::format("all-to-all: the {} workers of a node no longer share what crosses",
                             group.per_node)
               : "all-to-all and all-gather cost more than its bytes save";
  }
  if (exchanges_by(prediction, Exchange::tree_step)) {
    return "every level of its tree sends its entries anew, up and down";
  }
  return exchanges_by(prediction, Exchange::all_gather) ? "all-gather grows with the workers" : "";
}

/// " It keeps 102 MB more on each worker." where that is so.
std::string memory_text(const Answer& answer, const AnswerRow& row) {
  const Bytes state = row.prediction.state;
  if (state == Bytes{}) {
    return {};
  }
  const Bytes capacity = answer.setup.scenario.device.capacity;
  return fmt::format("It keeps {} more on each worker{}.", to_string(state),
                     capacity > Bytes{} ? fmt::format(" (of {})", to_string(capacity)) : "");
}

std::vector<std::string> when_it_pays(const Answer& answer, const AnswerRow& winner) {
  const double given = answer.setup.judge.extra_steps;
  const std::string limit = rough_percent(winner.verdict.extra_steps_below);
  std::vector<std::string> lines;
  if (winner.cast) {
    lines.push_back(fmt::format("send the gradients in 16 bit ({}): {}, with no change to the algorithm.",
                                winner.candidate.plain_spec, times(winner.verdict.speedup)));
    if (answer.rows.size() > 1) {
      lines.emplace_back("No other scheme asked about gains more.");
    }
    return lines;
  }
  if (given > 0) {
    lines.push_back(fmt::format(
        "compress with {}: {}, the {} more steps that you expect included; at {} the gain is gone.",
        winner.candidate.plain_spec, times(winner.verdict.speedup), rough_percent(given), limit));
  } else {
    lines.push_back(fmt::format("compress with {}: {}, as long as training needs fewer than {} more steps.",
                                winner.candidate.plain_spec, times(winner.verdict.speedup), limit));
  }
  if (const std::string memory = memory_text(answer, winner); !memory.empty()) {
    lines.push_back(memory);
  }
  if (const AnswerRow* cast = cast_of(answer)) {
    const bool mostly = cast->verdict.speedup - 1 >= 0.5 * (winner.verdict.speedup - 1);
    lines.push_back(fmt::format("A 16-bit cast alone gives {}{} with no change to the algorithm.",
                                times(cast->verdict.speedup), mostly ? ", most of the gain," : ""));
  }
  return lines;
}

std::vector<std::string> when_too_close(const AnswerRow& row, const Answer& answer) {
  std::vector<std::string> lines = {
      fmt::format("too close to call: {} gives {} to {} within what is known of the inputs.",
                  row.candidate.plain_spec, times(row.verdict.speedup_low), times(row.verdict.speedup_high))};
  if (row.verdict.compute_swing > row.verdict.codec_swing) {
    lines.push_back(
        fmt::format("What decides: forward and backward times ({}).", name(answer.setup.compute)));
  } else if (row.verdict.codec_swing > 0) {
    lines.push_back(fmt::format(
        "What decides: its codec time, {} now ({}){}.", to_string(row.codec()), name(row.prediction.codec),
        row.verdict.where.codec_below ? "; under " + to_string(*row.verdict.where.codec_below) + " it pays"
                                      : ""));
  } else {
    lines.push_back(
        fmt::format("The gain is within the margin of {}.", rough_percent(answer.setup.judge.margin)));
  }
  return lines;
}

std::vector<std::string> when_nothing_pays(const Answer& answer) {
  if (!network_matters(answer)) {
    constexpr double kNothing = 1e-4;
    const double gain = answer.max_speedup - 1;
    std::vector<std::string> lines = {fmt::format(
        "do not compress: the step hardly waits for the network; an infinitely fast one would gain {}.",
        gain < kNothing ? "nothing" : rough_percent(gain))};
    if (const Seconds idle = launch_bound(answer); idle > Seconds{}) {
      lines.push_back(
          fmt::format("The device idles {} of {}: launch-bound; a faster network or compression cannot help.",
                      to_string(idle), to_string(answer.bound)));
    }
    return lines;
  }
  const AnswerRow* found = most(answer, Call::does_not_pay);
  if (found == nullptr) {
    return {"nothing to compare with: no scheme asked about compresses anything of this gradient."};
  }
  const AnswerRow& closest = *found;
  std::vector<std::string> lines = {fmt::format("do not compress: {} comes closest with {}; {}.",
                                                closest.candidate.plain_spec, times(closest.verdict.speedup),
                                                reason(answer, closest))};
  if (const auto budget = closest.verdict.where.codec_below;
      budget && *budget < closest.codec() && *budget > Seconds{}) {
    lines.push_back(fmt::format("It would pay with encode and decode under {} together ({} now).",
                                to_string(*budget), to_string(closest.codec())));
  }
  return lines;
}

bool assumed(const Answer& answer, std::string_view name) {
  const Input* input = input_of(answer, name);
  return input != nullptr && (input->origin == Origin::assumed || input->origin == Origin::estimated);
}

/// A faster type that the device has, where fp32 was only assumed.
std::string faster_precision(const Answer& answer) {
  const Input* input = input_of(answer, "compute_dtype");
  if (input == nullptr || input->origin != Origin::assumed || input->text != "fp32") {
    return {};
  }
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::tf32}) {
    if (answer.setup.scenario.device.peak[static_cast<std::size_t>(precision)]) {
      return std::string(name(precision));
    }
  }
  return {};
}

/// Kernels that start at no cost are function calls.
bool codes_on_cpu(const Answer& answer, const AnswerRow& row) {
  return row.prediction.placement == Placement::host || answer.setup.scenario.device.launch == Seconds{};
}

/// How to find out: by this program on a CPU, by the script that times PyTorch's code on a GPU.
std::string measure_codec(const Answer& answer, const AnswerRow& row) {
  const std::string& spec = row.candidate.plain_spec;
  const std::string head = fmt::format(
      "{}'s codec time is {}: ", spec,
      row.prediction.codec == Origin::estimated ? "an estimate" : "published for another machine");
  if (!codes_on_cpu(answer, row)) {
    return head + "time it on your device (bench/gpu/measure.py -o costs.json), then --codec costs.json.";
  }
  if (has_code(*row.candidate.scheme)) {
    return head + fmt::format("measure it: breakeven measure {}{} -o costs.json, then --codec costs.json.",
                              spec, row.plugins);
  }
  return head + fmt::format("time it, then --scheme {}{}encode=TIME,decode=TIME.", spec,
                            spec.find(':') == std::string::npos ? ":" : ",");
}

}  // namespace

bool compresses_nothing(const Answer& answer, const AnswerRow& row) {
  return row.prediction.payload >= answer.plain.payload && row.codec() == Seconds{};
}

const AnswerRow* best(const Answer& answer) {
  return most(answer, Call::pays);
}

std::string reason(const Answer& answer, const AnswerRow& row) {
  const Breakdown& plain = answer.plain.parts;
  const Breakdown& parts = row.prediction.parts;
  const Seconds saved =
      plain.exposed_communication + plain.slowdown - parts.exposed_communication - parts.slowdown;
  if (compresses_nothing(answer, row)) {
    return answer.setup.scenario.workload.tensors.size() > 1 || input_of(answer, "model") != nullptr
               ? "it equals plain all-reduce, none of these tensors being made smaller"
               : "it needs the tensors' shapes: give --model";
  }
  if (!network_matters(answer)) {
    return "the step hardly waits for the network";
  }
  if (saved <= Seconds{}) {
    std::string costly = costly_exchange(answer, row.prediction);
    if (!costly.empty() && parts.communication > plain.communication) {
      return costly;
    }
    return row.prediction.wire >= answer.plain.wire ? "it sends no less than plain all-reduce"
                                                    : "what it sends is not hidden behind backward";
  }
  if (parts.exposed_codec >= saved) {
    return fmt::format("its codec takes {}, it saves {} on the network", to_string(parts.exposed_codec),
                       to_string(saved));
  }
  if (row.verdict.speedup * (1 + answer.setup.judge.extra_steps) > 1 && row.verdict.speedup < 1) {
    return fmt::format("{} more steps cost more than it gains",
                       rough_percent(answer.setup.judge.extra_steps));
  }
  return fmt::format("it gains {}, within the margin", rough_percent(std::max(0.0, row.verdict.speedup - 1)));
}

std::vector<std::string> verdict_lines(const Answer& answer) {
  if (answer.rows.empty()) {
    return {"nothing to compare with: name schemes with --scheme."};
  }
  if (const AnswerRow* winner = best(answer)) {
    return when_it_pays(answer, *winner);
  }
  if (const AnswerRow* close = most(answer, Call::too_close)) {
    return when_too_close(*close, answer);
  }
  return when_nothing_pays(answer);
}

std::vector<std::string> next_lines(const Answer& answer) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> lines;
  const auto uncertain = [](const AnswerRow& row) {
    return row.codec() > Seconds{} && row.prediction.codec >= Origin::published && !row.cast;
  };
  const AnswerRow* first = best(answer) != nullptr ? best(answer) : most(answer, Call::too_close);
  if (std::none_of(answer.rows.begin(), answer.rows.end(), [](const AnswerRow& row) { return row.named; })) {
    lines.emplace_back("name the schemes you think of: --scheme NAME, repeatable (breakeven list schemes).");
  }
  if (!network_matters(answer) && launch_bound(answer) > Seconds{}) {
    lines.emplace_back(
        "give the device more work a launch: a larger batch, CUDA graphs, torch.compile, fused optimizers.");
  } else if (!network_matters(answer)) {
    lines.emplace_back("look elsewhere than at the network: input pipeline, kernels, batch size.");
  } else if (first != nullptr && uncertain(*first)) {
    lines.push_back(measure_codec(answer, *first));
  }
  if (answer.setup.compute >= Origin::estimated) {
    if (const std::string faster = faster_precision(answer); !faster.empty()) {
      lines.push_back(
          fmt::format("computing in fp32 is assumed: with mixed precision say --compute-dtype {}, which "
                      "changes the answer.",
                      faster));
    }
    lines.emplace_back(
        "forward and backward times are estimates: time one worker alone, then --throughput, or --forward "
        "and --backward.");
  }
  if (network_matters(answer)) {
    for (const AnswerRow& row : answer.rows) {
      const bool open = row.verdict.speedup_high > 1 + answer.setup.judge.margin;
      if (uncertain(row) && &row != first && open && row.verdict.call != Call::pays) {
        lines.push_back(measure_codec(answer, row));
      }
    }
    if (assumed(answer, "efficiency")) {
      lines.emplace_back(
          answer.setup.scenario.group().nodes() == 2
              ? "the network's efficiency is assumed: run all_reduce_perf of nccl-tests, then --efficiency "
                "algbw/bandwidth (between two nodes NCCL's trees send a message once)."
              : "the network's efficiency is assumed: run all_reduce_perf of nccl-tests, then --efficiency "
                "busbw/bandwidth.");
    }
    if (assumed(answer, "gamma")) {
      lines.emplace_back(
          "gamma is assumed: time backward with and without all-reduce beside it, then --gamma.");
    }
  }
  lines.resize(std::min(lines.size(), kMost));
  return lines;
}

}  // namespace breakeven::cli
