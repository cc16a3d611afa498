#include "bench/kernels.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <utility>

#include "bench/yardsticks.h"
#include "compressors/trial/rehearsal.h"

namespace breakeven::bench {
namespace {

/// One scheme on one message, by threads and workers.
class Stage {
 public:
  Stage(std::shared_ptr<const Compressor> compressor, std::shared_ptr<Message> message)
      : compressor_(std::move(compressor)), message_(std::move(message)) {}

  Rehearsal& at(std::size_t threads, std::size_t workers) {
    const auto key = std::make_pair(threads, workers);
    auto found = rehearsals_.find(key);
    if (found == rehearsals_.end()) {
      const Worker worker{.rank = 0, .workers = workers, .seed = 1, .threads = threads};
      found = rehearsals_
                  .try_emplace(key, *compressor_, std::span<const Shape>(message_->tensors()), worker,
                               message_->gradient())
                  .first;
    }
    return found->second;
  }

 private:
  std::shared_ptr<const Compressor> compressor_;
  std::shared_ptr<Message> message_;
  std::map<std::pair<std::size_t, std::size_t>, Rehearsal> rehearsals_;
};

/// One call of a kernel.
struct Part {
  std::size_t round = 0;
  bool decode = false;
};

/// Encoding is the first round that codes, and whatever else a worker does that the plan does not count as
/// another coding: a server's part of a sum is priced by the same curves once more.
std::vector<Part> encoding(const Plan& plan) {
  std::vector<Part> parts;
  bool coded = false;
  for (std::size_t round = 0; round < plan.size(); ++round) {
    const bool codes = plan[round].encode.elements > 0;
    if (!codes || !coded) {
      parts.push_back({round, false});
    }
    coded = coded || codes;
    if (plan[round].decode.elements == 0) {
      parts.push_back({round, true});
    }
  }
  return coded ? parts : std::vector<Part>{};
}

/// The last round that codes.
std::vector<Part> decoding(const Plan& plan) {
  for (std::size_t round = plan.size(); round > 0; --round) {
    if (plan[round - 1].decode.elements > 0) {
      return {{round - 1, true}};
    }
  }
  return {};
}

/// Whether a decoding takes every worker's payload at once.
bool gathers(const Plan& plan) {
  const std::vector<Part> parts = decoding(plan);
  if (parts.empty()) {
    return false;
  }
  const Round& round = plan[parts.front().round];
  return round.exchange == Exchange::all_gather && round.decode.repeats == static_cast<double>(kGathered);
}

double touched(const Plan& plan, const std::vector<Part>& parts) {
  double bytes = 0;
  for (const Part& part : parts) {
    bytes += (part.decode ? plan[part.round].decode : plan[part.round].encode).touched.base();
  }
  return bytes;
}

/// A call's bytes: no more than the plan says, so that there is no rate for what is not done.
struct Traffic {
  double gradient = 0;  ///< read or written once
  double moved = 0;     ///< at least: the gradient and what is sent or received
};
Traffic traffic(const Plan& plan, const std::vector<Part>& parts, const Subject& subject) {
  const double most = touched(plan, parts);
  const double gradient = static_cast<double>(subject.elements * sizeof(float));
  double bytes = gradient;
  for (const Round& round : plan) {
    const bool gathered = round.exchange == Exchange::all_gather && subject.what == "decode";
    bytes += round.payload.base() * (gathered ? static_cast<double>(subject.workers) : 1.0);
  }
  return {std::min(gradient, most), std::min(bytes, most)};
}

void run(benchmark::State& state, Stage& stage, const Subject& subject, const std::vector<Part>& parts,
         Traffic bytes) {
  Rehearsal* rehearsal = nullptr;
  try {
    rehearsal = &stage.at(subject.threads, subject.workers);
  } catch (const std::exception& error) {
    state.SkipWithError(error.what());
    return;
  }
  for (auto _ : state) {
    for (const Part& part : parts) {
      if (part.decode) {
        rehearsal->decode(part.round);
      } else {
        const std::byte* sent = rehearsal->encode(part.round).data();
        benchmark::DoNotOptimize(sent);
      }
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.gradient));
  state.counters["moved"] = benchmark::Counter(bytes.moved, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

bool has_kernel(const Candidate& candidate) {
  return candidate.compressor->kernel(matrix(1024), Worker{}) != nullptr;
}

Group kernel_group(const Candidate& candidate, const std::shared_ptr<Message>& message,
                   const std::vector<std::size_t>& threads) {
  const Compressor& compressor = *candidate.compressor;
  const Plan alone = compressor.plan(message->tensors(), 1);
  const Plan gathered = compressor.plan(message->tensors(), kGathered);
  const auto stage = std::make_shared<Stage>(candidate.compressor, message);
  Group group;
  const auto add = [&](const char* what, const Plan& plan, std::size_t count, std::size_t workers) {
    const Subject subject{.what = what,
                          .spec = candidate.plain_spec,
                          .elements = message->elements(),
                          .threads = count,
                          .kind = message->kind_name(),
                          .workers = workers};
    const std::vector<Part> parts = subject.what == "decode" ? decoding(plan) : encoding(plan);
    if (parts.empty()) {
      return;
    }
    const Traffic bytes = traffic(plan, parts, subject);
    group.rows.push_back(
        {subject, [=](benchmark::State& state) { run(state, *stage, subject, parts, bytes); }});
  };
  for (const std::size_t count : threads) {
    add("encode", alone, count, 1);
    add("decode", alone, count, 1);
    if (gathers(gathered)) {
      add("decode", gathered, count, kGathered);
    }
  }
  group.yardsticks = yardsticks(message, candidate.plain_spec, threads);
  return group;
}

}  // namespace breakeven::bench
