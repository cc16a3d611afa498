#include "model/predict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/closed_form.h"
#include "model/error.h"
#include "model/message_prices.h"

namespace breakeven {
namespace {

/// Share of a step below which a difference of times is rounding, not time.
constexpr double kRoundOff = 1e-13;

bool has_work(const std::vector<Plan>& plans) {
  return std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return std::any_of(plan.begin(), plan.end(),
                       [](const Round& round) { return !round.encode.none() || !round.decode.none(); });
  });
}

std::vector<Plan> plans_of(const std::vector<Message>& messages, const Compressor& compressor,
                           std::size_t workers) {
  std::vector<Plan> plans;
  plans.reserve(messages.size());
  for (const Message& message : messages) {
    plans.push_back(compressor.plan(message.tensors, workers));
  }
  return plans;
}

/// A lone all-reduce as the reduce-scatter and the all-gather that it is made of.
Plan halves(Plan plan, std::size_t workers) {
  if (plan.size() != 1 || plan[0].exchange != Exchange::all_reduce) {
    return plan;
  }
  Round gather;
  gather.exchange = Exchange::all_gather;
  gather.payload = plan[0].payload / static_cast<double>(workers);
  gather.decode = std::exchange(plan[0].decode, {});
  gather.element = plan[0].element;
  plan[0].exchange = Exchange::reduce_scatter;
  plan.push_back(gather);
  return plan;
}

}  // namespace

Forecast::Forecast(const Scenario& scenario, const Compressor& compressor, Placement natural)
    : group_(scenario.group()),
      algorithm_(scenario.algorithm),
      method_(scenario.method),
      inside_(scenario.last_bucket_inside),
      gamma_(scenario.overlap.gamma),
      gamma_codec_(scenario.overlap.gamma_codec),
      placement_(scenario.overlap.placement.value_or(natural)),
      forward_(scenario.workload.forward()),
      backward_(scenario.workload.backward()),
      other_(scenario.workload.other),
      sending_(scenario.schedule.sending),
      full_duplex_(scenario.fabric.full_duplex),
      message_time_(group_.workers > 1 ? scenario.overlap.message : Seconds{}),
      bucket_copy_(group_.workers > 1 ? scenario.overlap.bucket_copy : BytesPerSecond{}) {
  if (scenario.schedule.weighs_costs) {
    scenario_ = scenario;
    compressor_ = &compressor;
    prices_ = std::make_unique<MessagePrices>(compressor, scenario.workload.gradient, group_, algorithm_,
                                              message_time_);
  }
  prepare(scenario, compressor);
}

Forecast::~Forecast() = default;

void Forecast::prepare(const Scenario& scenario, const Compressor& compressor) {
  messages_.clear();
  chains_.clear();
  hops_.clear();
  parts_.clear();
  order_ = {};
  encode_ = decode_ = {};
  payload_ = state_ = {};
  codec_ = Origin::given;
  overlapped_ = false;
  arrange(scenario, compressor);
  if (method_ == Method::closed_form && has_codec_ &&
      (placement_ == Placement::stream || placement_ == Placement::host ||
       placement_ == Placement::blocking)) {
    throw Error(Fault::value, "--placement",
                "the closed form has no term for \"" + std::string(name(placement_)) + "\"",
                "serial or hook, or --method timeline");
  }
  if (overlapped_) {
    order_ = {sending_.priority, sending_.credit};
    if (sending_.overlaps_forward) {
      for (const Module& module : scenario.workload.modules) {
        parts_.push_back(module.forward);
      }
    }
    if (method_ == Method::closed_form && (sending_.priority || sending_.overlaps_forward)) {
      throw Error(Fault::value, "--schedule",
                  "the closed form has no term for \"" + scenario.schedule.spec + "\"",
                  "a schedule that ends with backward, or --method timeline");
    }
  }
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    state_ += compressor.state(messages_[m].tensors, group_.workers);
    for (const Round& round : plans_[m]) {
      payload_ += contributed(round, group_.workers);
    }
    if (overlapped_ && sending_.splits) {
      plans_[m] = halves(std::move(plans_[m]), group_.workers);
    }
  }
  build_chains(scenario);
}

MessageCosts Forecast::costs(const Scenario& scenario) {
  prices_->use(scenario.fabric);
  return {[this](Bytes size) { return prices_->exchange(size); },
          [this, &scenario](Bytes size) {
            Seconds coding;
            for (const Round& round : prices_->plan(size)) {
              coding += time(scenario.device, round.encode);
            }
            return coding;
          },
          scenario.overlap.gamma};
}

/// What is exchanged as one, and its plans.
void Forecast::arrange(const Scenario& scenario, const Compressor& compressor) {
  const auto use = [&](std::vector<Message> messages) {
    messages_ = std::move(messages);
    for (Message& message : messages_) {
      message.delay = group_.workers > 1 ? message.delay : Seconds{};
    }
    plans_ = plans_of(messages_, compressor, group_.workers);
    has_codec_ = has_work(plans_);
  };
  if (placement_ == Placement::serial) {
    // A codec after backward gets the whole gradient as one message, tensors whole whatever the schedule
    // cuts.
    use({whole_gradient(scenario.workload)});
    if (has_codec_) {
      return;
    }
  }
  overlapped_ = true;
  const MessageCosts weights = prices_ ? costs(scenario) : MessageCosts{};
  use(scenario.schedule.messages(scenario.workload, weights));
  if (scenario.dense_bytes && sends_everything()) {
    // Papers round a model's size: the closed form's S, cut into buckets as the schedule says.
    const double size = size_of(scenario.workload.gradient);
    Workload sized =
        plain_workload({}, static_cast<std::size_t>(std::llround(scenario.dense_bytes->base() / size)));
    sized.gradient = scenario.workload.gradient;
    use(scenario.schedule.messages(sized, weights));
  }
}

/// Plain all-reduce, cast or not: one round that adds up every element.
bool Forecast::sends_everything() const {
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const Plan& plan = plans_[m];
    if (plan.size() != 1 || plan[0].exchange != Exchange::all_reduce ||
        plan[0].payload !=
            Bytes::of(static_cast<double>(elements(messages_[m].tensors)) * size_of(plan[0].element))) {
      return false;
    }
  }
  return true;
}

void Forecast::price(const Fabric& fabric) {
  for (std::size_t i = 0; i < hops_.size(); ++i) {
    // Buckets come in runs of one size.
    if (i > 0 && hops_[i].exchange == hops_[i - 1].exchange && hops_[i].payload == hops_[i - 1].payload &&
        hops_[i].summed == hops_[i - 1].summed && hops_[i].distance == hops_[i - 1].distance &&
        hops_[i].element == hops_[i - 1].element) {
      transfers_[i] = transfers_[i - 1];
      exchange_[i] = exchange_[i - 1];
      continue;
    }
    transfers_[i] = transfer(fabric, hops_[i].exchange, hops_[i].payload, group_, algorithm_, hops_[i].summed,
                             hops_[i].distance, hops_[i].element);
    exchange_[i] = transfers_[i].time + message_time_;
  }
}

bool Forecast::used_table() const {
  return std::any_of(transfers_.begin(), transfers_.end(),
                     [](const Transfer& transfer) { return transfer.from_table; });
}

Breakdown Forecast::run(const Fabric& fabric, const Variation& variation) {
  return run(fabric, variation, gamma_);
}

Breakdown Forecast::run(const Fabric& fabric, const Variation& variation, double gamma) {
  if (scenario_ && (scenario_->fabric != fabric || scenario_->overlap.gamma != gamma)) {
    scenario_->fabric = fabric;
    scenario_->overlap.gamma = gamma;
    prepare(*scenario_, *compressor_);
  }
  price(fabric);
  return rerun(variation, gamma, nullptr);
}

Breakdown Forecast::rerun(const Variation& variation, double gamma, std::vector<Span>* spans) {
  Breakdown parts;
  if (method_ == Method::closed_form) {
    parts = closed_form(variation, gamma);
  } else {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
      scaled_[c].ready = chains_[c].ready * variation.compute;
      for (std::size_t s = 0; s < chains_[c].stages.size(); ++s) {
        const Stage& stage = chains_[c].stages[s];
        const bool coding = stage.activity == Activity::encode || stage.activity == Activity::decode;
        scaled_[c].stages[s].time = stage.time * (coding ? variation.codec : 1);
      }
    }
    for (std::size_t i = 0; i < hops_.size(); ++i) {
      std::vector<Stage>& stages = scaled_[hops_[i].message].stages;
      stages[hops_[i].stage].time = exchange_[i];
      if (hops_[i].pulls) {
        stages[hops_[i].stage].time = transfers_[i].one_way + message_time_;
        stages[hops_[i].stage + 1].time = transfers_[i].one_way;
      }
    }
    scaled_parts_ = parts_;
    for (Seconds& part : scaled_parts_) {
      part = part * variation.compute;
    }
    parts = run_timeline(
        {scaled_, backward_ * variation.compute, {gamma, gamma_codec_}, order_, scaled_parts_}, spans);
  }
  parts.forward = forward_ * variation.compute;
  parts.other = other_;
  for (Seconds* part : {&parts.slowdown, &parts.exposed_codec, &parts.exposed_communication}) {
    *part = *part < parts.step() * kRoundOff ? Seconds{} : *part;
  }
  return parts;
}

Breakdown Forecast::closed_form(const Variation& variation, double gamma) const {
  Breakdown parts;
  parts.backward = backward_ * variation.compute;
  parts.encode = encode_ * variation.codec;
  parts.decode = decode_ * variation.codec;
  for (const Seconds time : exchange_) {
    parts.communication += time;
  }
  parts.exposed_codec = parts.encode + parts.decode;
  if (!overlapped_) {
    parts.exposed_communication =
        serial(parts.backward, parts.encode, exchange_, parts.decode) - parts.backward - parts.exposed_codec;
    return parts;
  }
  // The last message's rounds together are the last bucket.
  const std::size_t last = messages_.empty() ? 0 : messages_.size() - 1;
  Seconds hidden;
  Seconds tail;
  for (std::size_t i = 0; i < hops_.size(); ++i) {
    (hops_[i].message == last ? tail : hidden) += exchange_[i];
  }
  const Seconds exchanges[] = {hidden, tail};
  const Seconds total = overlapped(parts.backward, parts.exposed_codec, gamma, exchanges, inside_);
  parts.slowdown = parts.communication == Seconds{} ? Seconds{} : parts.backward * (gamma - 1);
  parts.exposed_communication = total - parts.backward - parts.exposed_codec - parts.slowdown;
  return parts;
}

Prediction predict(const Scenario& scenario, const Compressor& compressor, Placement natural) {
  Forecast forecast(scenario, compressor, natural);
  Prediction prediction;
  forecast.price(scenario.fabric);
  prediction.parts = forecast.rerun({}, forecast.gamma_, &prediction.spans);
  prediction.step = prediction.parts.step();
  prediction.placement = forecast.placement_;
  prediction.payload = forecast.payload_;
  prediction.state = forecast.state_;
  prediction.codec = forecast.codec_;
  prediction.transfers.resize(forecast.messages_.size());
  for (std::size_t i = 0; i < forecast.hops_.size(); ++i) {
    const Transfer& transfer = forecast.transfers_[i];
    auto& of_message = prediction.transfers[forecast.hops_[i].message];
    of_message.resize(forecast.plans_[forecast.hops_[i].message].size());
    of_message[forecast.hops_[i].round] = transfer;
    prediction.wire += transfer.wire;
    prediction.extrapolated = prediction.extrapolated || transfer.extrapolated;
  }
  prediction.messages = std::move(forecast.messages_);
  prediction.plans = std::move(forecast.plans_);
  return prediction;
}

}  // namespace breakeven
