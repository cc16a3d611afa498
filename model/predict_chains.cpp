// What each message does on the timeline, stage by stage: the chains of a Forecast.
#include <algorithm>
#include <utility>

#include "model/error.h"
#include "model/predict.h"

namespace breakeven {
namespace {

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

}  // namespace breakeven
