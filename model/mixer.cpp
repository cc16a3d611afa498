#include "model/mixer.h"

namespace breakeven {

bool sooner(const Mix& a, const Mix& b) {
  constexpr double kSame = 1e-12;
  return a.step < b.step * (1 - kSame);
}

Cost cost_of(const Chain& chain) {
  Cost cost;
  for (const Stage& stage : chain.stages) {
    (stage.resource == Resource::network ? cost.network : cost.all) += stage.time;
  }
  cost.one_exchange = cost.all == Seconds{} && chain.stages.size() <= 1;
  cost.all += cost.network;
  return cost;
}

Mixer::Mixer(const Scenario& scenario, std::span<const Choice> choices)
    : scenario_(scenario),
      choices_(choices),
      backward_(scenario.workload.backward()),
      slowdown_{scenario.overlap.gamma, scenario.overlap.gamma_codec},
      gradients_(in_gradient_order(scenario.workload)) {
  scenario_.schedule = {};
  scenario_.schedule.messages = [this](const Workload& /*workload*/, const MessageCosts& /*costs*/) {
    return messages_;
  };
}

const Chain& Mixer::chain(const GradientRange& range, std::size_t choice) {
  const auto [found, added] = chains_.try_emplace(std::tuple(range.first, range.second, choice));
  if (added) {
    found->second = make(range, choice);
  }
  return found->second;
}

/// `serial` is, for a bucket, on compute once backward is over.
Chain Mixer::make(const GradientRange& range, std::size_t choice) {
  const bool serial = choices_[choice].placement == Placement::serial;
  messages_.clear();
  Bucket bucket;
  for (std::size_t i = range.first; i < range.second; ++i) {
    bucket.add(gradients_[i].shape, gradients_[i].ready, gradients_[i].module);
  }
  bucket.flush(messages_);
  scenario_.overlap.placement = serial ? Placement::hook : choices_[choice].placement;
  Forecast forecast(scenario_, *choices_[choice].compressor);
  forecast.run(scenario_.fabric);
  Chain chain = forecast.chains().front();
  if (serial && forecast.has_codec()) {
    chain.ready = backward_;
  }
  return chain;
}

Breakdown Mixer::parts(const Mix& mix, std::vector<Span>* spans) {
  ++runs_;
  running_.clear();
  for (std::size_t i = 0; i < mix.ranges.size(); ++i) {
    running_.push_back(chain(mix.ranges[i], mix.choices[i]));
  }
  return run_timeline(running_, backward_, slowdown_, spans);
}

void Mixer::run(Mix& mix) {
  mix.step = parts(mix, nullptr).backward_and_sync().base();
}

MixedStep Mixer::step(const Mix& mix) {
  MixedStep result;
  result.parts = parts(mix, &result.spans);
  result.parts.forward = scenario_.workload.forward();
  result.parts.other = scenario_.workload.other;
  result.messages = buckets_of(scenario_.workload, mix.ranges);
  result.choices = mix.choices;
  return result;
}

}  // namespace breakeven
