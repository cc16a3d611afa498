#include "compressors/trial/timing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>

namespace breakeven {
namespace {

constexpr std::size_t kGathered = 4;  // payloads from which the cost of one more is taken
constexpr std::uint64_t kSeed = 1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// What one reads to time a read: 32-bit sums, since sums of floats could meet slow denormals.
std::uint32_t sum_of(std::span<const float> values) {
  constexpr std::size_t kLanes = 32;
  std::array<std::uint32_t, kLanes> sums{};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += std::bit_cast<std::uint32_t>(values[i + lane]);
    }
  }
  for (; i < values.size(); ++i) {
    sums[0] += std::bit_cast<std::uint32_t>(values[i]);
  }
  std::uint32_t sum = 0;
  for (const std::uint32_t lane : sums) {
    sum += lane;
  }
  return sum;
}

/// More than the caches of a socket hold: reading it leaves nothing else in them.
class CacheSweep {
 public:
  void operator()() {
    for (std::size_t i = 0; i < pages_.size(); i += kLine) {
      seen_ = seen_ + std::to_integer<unsigned>(pages_[i]);
    }
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{256} << 20, kLine = 64;
  Buffer<std::byte> pages_{kBytes};
  volatile unsigned seen_ = 0;
};

/// One thing that is timed, in runs that are long enough for the clock.
struct Part {
  std::function<void()> call;
  std::size_t batch = 1;
  std::vector<double> seconds;  // of one call each

  void calibrate() {
    constexpr double kLongEnough = 20e-6;
    constexpr std::size_t kMost = std::size_t{1} << 16;
    call();  // what only a first call does
    for (double took = run(); took * static_cast<double>(batch) < kLongEnough && batch < kMost;) {
      batch *= 2;
      took = run();
    }
  }
  double run() const {
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) {
      call();
    }
    return seconds_since(begin) / static_cast<double>(batch);
  }
};

/// Parts in turn, so that what disturbs the machine for a while disturbs them alike.
void run_all(std::span<Part> parts, std::size_t repeats, bool cold) {
  std::optional<CacheSweep> sweep;
  if (cold) {
    sweep.emplace();
  }
  for (Part& part : parts) {
    cold ? part.call() : part.calibrate();
  }
  for (std::size_t i = 0; i < repeats; ++i) {
    for (Part& part : parts) {
      if (sweep) {
        (*sweep)();
      }
      part.seconds.push_back(part.run());
    }
  }
  for (Part& part : parts) {
    std::sort(part.seconds.begin(), part.seconds.end());
  }
}

/// Of sorted values, linear between them.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}
double median(const Part& part) {
  return quantile(part.seconds, 0.5);
}
double spread(const Part& part) {
  const double middle = median(part);
  return middle > 0 ? (quantile(part.seconds, 0.75) - quantile(part.seconds, 0.25)) / 2 / middle : 0;
}

/// What each further payload adds to the decoding of one; see CodecTime.
std::optional<Seconds> each_further(const Part& one, const Part& several) {
  const double noise = spread(one) * median(one) + spread(several) * median(several);
  const double difference = median(several) - median(one);
  if (difference > noise) {
    return Seconds::of(difference / (kGathered - 1));
  }
  const double at_most = (std::max(0.0, difference) + noise) / (kGathered - 1);
  return at_most > 0 ? std::optional(Seconds::of(std::min(at_most, median(one)))) : std::nullopt;
}

Worker worker_among(std::size_t workers, std::size_t threads) {
  Worker worker;
  worker.workers = workers;
  worker.seed = kSeed;
  worker.threads = threads;
  return worker;
}

Buffer<float> filled(std::size_t elements, GradientKind kind) {
  Buffer<float> gradient(elements);
  fill_gradient(gradient.span(), timed_message(elements), kind, kSeed);
  return gradient;
}

/// The round, or how many there are where none codes.
std::size_t first_encoding(const Plan& plan) {
  const auto found =
      std::find_if(plan.begin(), plan.end(), [](const Round& round) { return round.encode.elements > 0; });
  return static_cast<std::size_t>(found - plan.begin());
}
std::size_t last_decoding(const Plan& plan) {
  for (std::size_t i = plan.size(); i > 0; --i) {
    if (plan[i - 1].decode.elements > 0) {
      return i - 1;
    }
  }
  return plan.size();
}

/// Whether a decoding takes every worker's payload of the whole message at once.
bool gathers(const Compressor& compressor, const std::vector<Shape>& message) {
  const Plan one = compressor.plan(message, 1);
  const Plan many = compressor.plan(message, kGathered);
  const std::size_t alone = last_decoding(one);
  const std::size_t last = last_decoding(many);
  return alone < one.size() && last < many.size() && many[last].exchange == Exchange::all_gather &&
         many[last].decode.repeats == static_cast<double>(kGathered) &&
         many[last].decode.elements == one[alone].decode.elements;
}

}  // namespace

std::vector<Shape> timed_message(std::size_t elements) {
  const auto rows = static_cast<std::size_t>(std::sqrt(static_cast<double>(elements)));
  std::vector<Shape> message;
  if (rows > 1) {
    message.push_back({rows, elements / rows, Element::f32});
  }
  if (const std::size_t left = rows > 1 ? elements % rows : elements; left > 0) {
    message.push_back({left, 1, Element::f32});
  }
  return message;
}

Bytes timing_memory(const Compressor& compressor, std::size_t elements) {
  const std::vector<Shape> message = timed_message(elements);
  const auto of = [&](std::size_t workers) {
    Bytes payloads;
    for (const Round& round : compressor.plan(message, workers)) {
      // A kernel's own, everybody's for the exchange, and what the exchange delivers.
      payloads += round.payload * (2.0 * static_cast<double>(workers) + 1);
    }
    const Bytes gradient_and_mean = 2.0 * bytes(message), scratch = bytes(message);
    return gradient_and_mean + scratch + payloads + compressor.state(message, workers);
  };
  return of(1) + (gathers(compressor, message) ? of(kGathered) : Bytes{});
}

CodecTimer::CodecTimer(const Compressor& compressor, std::size_t elements, std::size_t threads,
                       GradientKind kind)
    : threads_(threads),
      gradient_(filled(elements, kind)),
      alone_(compressor, timed_message(elements), worker_among(1, threads), gradient_) {
  const Plan& plan = alone_.plan();
  encoded_ = first_encoding(plan);
  decoded_ = last_decoding(plan);
  elements_ = encoded_ < plan.size()   ? plan[encoded_].encode.elements
              : decoded_ < plan.size() ? plan[decoded_].decode.elements
                                       : 0;
  if (gathers(compressor, timed_message(elements))) {
    gathered_.emplace(compressor, timed_message(elements), worker_among(kGathered, threads), gradient_);
  }
}

void CodecTimer::encode() {
  const Plan& plan = alone_.plan();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (i == encoded_ || plan[i].encode.elements == 0) {
      alone_.encode(i);
    }
    if (plan[i].decode.elements == 0) {
      alone_.decode(i);
    }
  }
}

void CodecTimer::read() {
  const std::span<const float> gradient = alone_.gradient();
  constexpr std::size_t kGrain = 16384;
  threads_.ranges(gradient.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    seen_ += sum_of(gradient.subspan(begin, end - begin));
  });
}

CodecTime CodecTimer::time(std::size_t repeats, bool cold) {
  if (elements_ == 0) {
    return {};
  }
  std::vector<Part> parts(gathered_ ? 4 : 3);
  parts[0].call = [&] { read(); };
  parts[1].call = [&] { encode(); };
  parts[2].call = [&] {
    if (decoded_ < alone_.plan().size()) {
      alone_.decode(decoded_);
    }
  };
  if (gathered_) {
    const std::size_t decoded = last_decoding(gathered_->plan());
    parts[3].call = [this, decoded] { gathered_->decode(decoded); };
  }
  run_all(parts, repeats, cold);
  CodecTime result;
  result.elements = elements_;
  result.read = Seconds::of(median(parts[0]));
  result.encode = Seconds::of(median(parts[1]));
  result.decode = Seconds::of(median(parts[2]));
  if (gathered_) {
    result.decode_next = each_further(parts[2], parts[3]);
  }
  result.encode_spread = spread(parts[1]);
  result.decode_spread = spread(parts[2]);
  result.spread = std::max(result.encode_spread, result.decode_spread);
  result.least_encode = Seconds::of(parts[1].seconds.front());
  result.least_decode = Seconds::of(parts[2].seconds.front());
  return result;
}

CodecTime time_codec(const Compressor& compressor, std::size_t elements, const TimingOptions& options) {
  return CodecTimer(compressor, elements, options.threads, options.kind).time(options.repeats, options.cold);
}

}  // namespace breakeven
