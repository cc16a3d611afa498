#include "compressors/trial/team.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "compressors/random.h"

namespace breakeven {
namespace {

/// A NaN that no arithmetic makes: what `mean` holds before a kernel has written to it.
constexpr std::uint32_t kUnwritten = 0x7fb5d1e3;

std::uint64_t digest(std::uint64_t before, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return mix(before ^ std::hash<std::string_view>{}(text));
}

std::string bytes_of(double count) {
  return exact(count) + (count == 1 ? " byte" : " bytes");
}
std::string element(std::size_t i) {
  return "element " + std::to_string(i);
}
std::string at_rank(std::size_t rank) {
  return "rank " + std::to_string(rank) + " ";
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

bool everyone_receives_the_same(Exchange exchange) {
  return exchange == Exchange::all_reduce || exchange == Exchange::push_pull ||
         exchange == Exchange::all_gather || exchange == Exchange::broadcast;
}

}  // namespace

Team::Team(const Compressor& compressor, std::span<const Shape> tensors, std::size_t workers,
           const Options& options)
    : period_(std::max<std::size_t>(compressor.period(), 1)),
      elements_(elements(tensors)),
      options_(options) {
  plan_ = watched("plan", [&] { return compressor.plan(tensors, workers); });
  sent_.resize(plan_.size());
  constexpr std::uint64_t kSeed = 20240229;
  for (std::size_t rank = 0; rank < workers; ++rank) {
    Member member;
    const Worker worker{.rank = rank, .workers = workers, .seed = kSeed, .threads = options.threads};
    member.kernel = watched("kernel", [&] { return compressor.kernel(tensors, worker); });
    if (rank > 0 && (member.kernel == nullptr) != (members_.front().kernel == nullptr)) {
      throw Breach(at_rank(rank) + (member.kernel ? "has" : "lacks") + " a kernel, unlike rank 0");
    }
    members_.push_back(std::move(member));
  }
}

std::string Team::where() const {
  return (step_ == 0 ? "" : ", step " + std::to_string(step_)) +
         (round_ == 0 ? "" : ", round " + std::to_string(round_) + " of " + std::to_string(plan_.size()));
}

void Team::step(std::span<const std::vector<float>> gradients, bool finite) {
  ++step_;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    Member& member = members_[rank];
    const std::size_t size = elements_ * sizeof(float);
    // Kernels are promised addresses that suit a float and no more; ranks have different ones.
    const std::size_t offset = (rank + (options_.tight ? 2 : 1)) % 4 * sizeof(float);
    member.gradient = options_.tight ? Guarded(size, {.offset = offset, .behind = 0, .pattern = 0xff})
                                     : Guarded(size, {.offset = offset, .pattern = 0x3d});
    member.gradient.fill(std::as_bytes(std::span(gradients[rank])));
    member.mean = Guarded(size, {.offset = offset, .pattern = 0xb6});
    std::ranges::fill(member.mean.floats(), std::bit_cast<float>(kUnwritten));
  }
  for (round_ = 1; round_ <= plan_.size(); ++round_) {
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      encode(rank, gradients[rank]);
    }
    exchange();
  }
  round_ = 0;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    check_gradient(rank, gradients[rank]);
  }
  check_means(finite);
  digests_.push_back(digest(0, members_.front().mean.bytes()));
  if (step_ % period_ == 0) {
    check_period();
    std::ranges::fill(sent_, 0);
  }
}

void Team::encode(std::size_t rank, std::span<const float> gradient) {
  Member& member = members_[rank];
  for (int call = 0; call < (options_.twice ? 2 : 1); ++call) {
    member.sent = watched("encode at rank " + std::to_string(rank), [&] {
      return member.kernel->encode(round_ - 1, std::as_const(member.gradient).floats());
    });
    check_size(rank, member.sent.size());
    if (member.sent.data() == nullptr && !member.sent.empty()) {
      throw Breach(at_rank(rank) + "sends " + bytes_of(static_cast<double>(member.sent.size())) +
                   " from a null pointer");
    }
  }
  check_gradient(rank, gradient);
  member.payload.assign(member.sent.begin(), member.sent.end());
}

void Team::check_size(std::size_t rank, std::size_t size) const {
  const Round& round = plan_[round_ - 1];
  const auto sent = static_cast<double>(size);
  if (period_ == 1 && sent != round.payload.base()) {
    throw Breach(at_rank(rank) + "sends " + bytes_of(sent) + ", its plan says " +
                 exact(round.payload.base()));
  }
  if (sent > round.payload.base() * static_cast<double>(period_)) {
    throw Breach(at_rank(rank) + "sends " + bytes_of(sent) + ", its plan says " +
                 exact(round.payload.base()) + " on average of " + std::to_string(period_) + " steps");
  }
}

void Team::exchange() {
  const Round& round = plan_[round_ - 1];
  std::vector<Payload> payloads;
  std::uint64_t sum = 0;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    Member& member = members_[rank];
    if (!same(member.sent, member.payload)) {
      throw Breach("what rank " + std::to_string(rank) +
                   " sends changes while others encode: it must stay until its next call");
    }
    sum = digest(sum, member.payload);
    payloads.push_back(std::move(member.payload));
    if (payloads[rank].size() != payloads[0].size()) {
      throw Breach(at_rank(rank) + "sends " + bytes_of(static_cast<double>(payloads[rank].size())) +
                   ", rank 0 sends " + std::to_string(payloads[0].size()));
    }
  }
  digests_.push_back(sum);
  sent_[round_ - 1] += static_cast<double>(payloads[0].size());
  Payload delivered;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    if (rank == 0 || !everyone_receives_the_same(round.exchange)) {
      try {
        delivered = exchanged(round, payloads, rank);
      } catch (const std::invalid_argument& error) {
        throw Breach(std::string("the exchange cannot be done: ") + error.what());
      }
    }
    decode(rank, delivered);
  }
}

void Team::decode(std::size_t rank, const Payload& delivered) {
  Member& member = members_[rank];
  // Elements stand at multiples of their size, bytes anywhere.
  const auto size = static_cast<std::size_t>(size_of(plan_[round_ - 1].element));
  Guarded received =
      options_.tight ? Guarded(delivered.size(), {.offset = size * (rank + 2), .behind = 0, .pattern = 0xff})
                     : Guarded(delivered.size(), {.offset = size * (rank + 1), .pattern = 0x3d});
  received.fill(delivered);
  for (int call = 0; call < (options_.twice ? 2 : 1); ++call) {
    watched("decode at rank " + std::to_string(rank), [&] {
      member.kernel->decode(round_ - 1, std::as_const(received).bytes(), member.mean.floats());
      return 0;
    });
  }
  if (!received.holds(delivered) || !received.damage().empty()) {
    throw Breach(at_rank(rank) + "changes what it received");
  }
  if (const std::string side = member.mean.damage(); !side.empty()) {
    throw Breach(at_rank(rank) + "writes " + side + " mean");
  }
}

void Team::check_gradient(std::size_t rank, std::span<const float> gradient) const {
  const Guarded& own = members_[rank].gradient;
  if (!own.holds(std::as_bytes(gradient))) {
    throw Breach(at_rank(rank) + "changes the gradient");
  }
  if (const std::string side = own.damage(); !side.empty()) {
    throw Breach(at_rank(rank) + "writes " + side + " the gradient");
  }
}

void Team::check_means(bool finite) const {
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const bool as_first = same(members_[rank].mean.bytes(), members_.front().mean.bytes());
    if (rank > 0 && as_first) {
      continue;
    }
    const float* const values = members_[rank].mean.floats().data();
    for (std::size_t i = 0; i < elements_; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i]);
      constexpr std::uint32_t kExponent = 0x7f800000;
      if (!as_first || (bits & kExponent) == kExponent) {  // the rest is as it should be
        check_mean(rank, i, finite);
      }
    }
  }
}

void Team::check_mean(std::size_t rank, std::size_t i, bool finite) const {
  const float value = members_[rank].mean.floats()[i], first = members_.front().mean.floats()[i];
  if (std::bit_cast<std::uint32_t>(value) == kUnwritten) {
    throw Breach(at_rank(rank) + "leaves " + element(i) + " of mean unwritten");
  }
  if (finite && !std::isfinite(value)) {
    throw Breach(element(i) + " of the mean is " + (std::isnan(value) ? "NaN" : "infinite") +
                 " though every gradient is finite");
  }
  const bool agrees = std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(first) ||
                      (std::isnan(value) && std::isnan(first));
  if (!agrees) {
    throw Breach("the means differ: " + element(i) + " is " + exact(static_cast<double>(first)) +
                 " at rank 0 and " + exact(static_cast<double>(value)) + " at rank " + std::to_string(rank));
  }
}

void Team::check_period() const {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const double planned = plan_[i].payload.base() * static_cast<double>(period_);
    if (sent_[i] != planned) {
      throw Breach("round " + std::to_string(i + 1) + " sends " + bytes_of(sent_[i]) + " in " +
                   std::to_string(period_) + " steps, its plan says " + exact(planned));
    }
  }
}

void Team::expect_as(const Team& other, const std::string& why) {
  const std::size_t a_step = plan_.size() + 1;
  for (std::size_t i = 0; i < std::min(digests_.size(), other.digests_.size()); ++i) {
    if (digests_[i] != other.digests_[i]) {
      const bool mean = i % a_step == plan_.size();
      step_ = i / a_step + 1;
      round_ = mean ? 0 : i % a_step + 1;
      throw Breach(why + (mean ? " comes to another mean" : " sends other bytes"));
    }
  }
}

}  // namespace breakeven
