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

/// Where the rounds that belong to the next forward pass begin.
bool is_late(const Plan& plan, std::size_t round) {
  return round == 1 && plan[0].exchange == Exchange::reduce_scatter &&
         plan[1].exchange == Exchange::all_gather;
}

Resource codec_resource(Placement placement) {
  switch (placement) {
    case Placement::stream:
      return Resource::codec;
    case Placement::host:
      return Resource::host;
    default:
      return Resource::compute;
  }
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

void Forecast::build_chains(const Scenario& scenario) {
  const Device& device = placement_ == Placement::host ? scenario.overlap.host : scenario.device;
  const Resource codec = codec_resource(placement_);
  bool any_codec = false;
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const Message& message = messages_[m];
    Chain chain{message.ready,  {},     message.module, bytes(message.tensors),
                message.module, kNever, message.delay};
    const auto work = [&](Work& item, Activity activity, std::size_t round) {
      if (item.none()) {
        return;
      }
      item.known = time(device, item);
      codec_ = any_codec ? weaker(codec_, item.origin) : item.origin;
      any_codec = true;
      (activity == Activity::encode ? encode_ : decode_) += *item.known;
      chain.stages.push_back({codec, activity, *item.known, round});
    };
    for (std::size_t r = 0; r < plans_[m].size(); ++r) {
      Round& round = plans_[m][r];
      work(round.encode, Activity::encode, r);
      if (overlapped_ && sending_.splits && is_late(plans_[m], r)) {
        chain.late = chain.stages.size();
      }
      if (round.exchange != Exchange::none) {
        add_exchange(round, m, r, chain);
      }
      work(round.decode, Activity::decode, r);
    }
    if (placement_ == Placement::host &&
        std::any_of(chain.stages.begin(), chain.stages.end(),
                    [](const Stage& stage) { return stage.resource == Resource::host; })) {
      add_host_copies(scenario, m, chain);
    }
    if (bucket_copy_ > BytesPerSecond{} && !chain.stages.empty()) {
      const Stage copy{Resource::compute, Activity::copy, chain.size / bucket_copy_, 0};
      surround(m, chain, copy, has_codec_);
    }
    chains_.push_back(std::move(chain));
  }
  scaled_ = chains_;
  exchange_.resize(hops_.size());
  transfers_.resize(hops_.size());
}

/// One stage on the network, or on compute where that waits for it; two where the schedule lets pushes and
/// pulls pass each other.
void Forecast::add_exchange(const Round& round, std::size_t message, std::size_t index, Chain& chain) {
  const bool waits = placement_ == Placement::blocking && has_codec_;
  const Stage stage{waits ? Resource::compute : Resource::network, Activity::exchange, {}, index};
  Hop hop{message,       index,        chain.stages.size(), round.exchange,
          round.payload, round.summed, round.distance,      round.element};
  chain.stages.push_back(stage);
  if (!waits && overlapped_ && sending_.duplex && full_duplex_ && group_.nodes() > 1 &&
      (algorithm_ == Algorithm::parameter_server || algorithm_ == Algorithm::byteps) &&
      (round.exchange == Exchange::all_reduce || round.exchange == Exchange::push_pull)) {
    hop.pulls = true;
    chain.stages.push_back({Resource::network_in, Activity::exchange, {}, index});
  }
  hops_.push_back(hop);
}

/// `copy` before the first stage, and after the last where the result comes `back`.
void Forecast::surround(std::size_t message, Chain& chain, const Stage& copy, bool back) {
  chain.stages.insert(chain.stages.begin(), copy);
  if (back) {
    chain.stages.push_back(copy);
  }
  chain.late += chain.late == kNever ? 0 : 1;
  for (Hop& hop : hops_) {
    hop.stage += hop.message == message ? 1 : 0;
  }
}

/// The gradient goes to the host before the first stage and comes back after the last; payloads leave from
/// the host.
void Forecast::add_host_copies(const Scenario& scenario, std::size_t message, Chain& chain) {
  if (scenario.device.host_link <= BytesPerSecond{}) {
    throw Error(Fault::value, "--placement", scenario.device.name + " states no host_link",
                "a device with one");
  }
  surround(message, chain, {Resource::copy, Activity::copy, chain.size / scenario.device.host_link, 0}, true);
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
