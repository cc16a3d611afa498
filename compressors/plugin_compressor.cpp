#include "compressors/plugin_compressor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "compressors/plugin.h"
#include "model/error.h"

namespace breakeven {
namespace {

constexpr std::size_t kMostRounds = 64;
constexpr std::uint64_t kMostPeriod = 64;
/// Far beyond anything real, and far inside what doubles can multiply and divide a few times.
constexpr double kMostAmount = 1e24;

[[noreturn]] void refuse(const PluginScheme& scheme, const std::string& wrong, const std::string& expected) {
  throw Error(Fault::file, scheme.where, wrong, expected);
}

/// Calls into the plugin. An exception that comes out (of one written in C++) must not be taken for ours.
template <class Call>
auto called(const PluginScheme& scheme, const char* function, Call call) {
  try {
    return call();
  } catch (const std::exception& error) {
    refuse(scheme, std::string(function) + " throws an exception: " + error.what(), "a status");
  } catch (...) {
    refuse(scheme, std::string(function) + " throws an exception", "a status");
  }
}

double amount(const PluginScheme& scheme, double value, const std::string& what) {
  if (!std::isfinite(value) || value < 0 || value > kMostAmount) {
    refuse(scheme, what + " is " + exact(value), "0 to " + exact(kMostAmount));
  }
  return value;
}

std::vector<breakeven_shape> c_shapes(std::span<const Shape> tensors) {
  std::vector<breakeven_shape> shapes;
  for (const Shape& shape : tensors) {
    shapes.push_back({shape.rows, shape.cols, static_cast<std::int32_t>(shape.element), 0});
  }
  return shapes;
}

template <class Struct>
bool reserved_is_zero(const Struct& from) {
  return std::all_of(std::begin(from.reserved), std::end(from.reserved), [](auto word) { return word == 0; });
}

Work checked_work(const PluginScheme& scheme, const breakeven_work& from, double most_elements,
                  const std::string& whose) {
  if (!reserved_is_zero(from)) {
    refuse(scheme, "a reserved field of " + whose + " is set", "0");
  }
  Work work;
  work.touched = Bytes::of(amount(scheme, from.touched_bytes, "touched_bytes of " + whose));
  work.flops = amount(scheme, from.flops, "flops of " + whose);
  work.launches = amount(scheme, from.launches, "launches of " + whose);
  work.elements = amount(scheme, from.elements, "elements of " + whose);
  if (work.elements > most_elements) {
    refuse(scheme, "elements of " + whose + " is " + exact(work.elements),
           "at most " + exact(most_elements) + ", twice those of the message");
  }
  work.repeats = std::max(1.0, amount(scheme, from.repeats, "repeats of " + whose));
  if (amount(scheme, from.known_seconds, "known_seconds of " + whose) > 0) {
    work.known = Seconds::of(from.known_seconds);
    work.origin = Origin::given;
  }
  return work;
}

Round checked_round(const PluginScheme& scheme, const breakeven_round& from, std::size_t index,
                    double most_elements) {
  const std::string round = "round " + std::to_string(index + 1);
  if (from.exchange < BREAKEVEN_NONE || from.exchange > BREAKEVEN_PUSH_PULL) {
    refuse(scheme, round + " has the exchange " + std::to_string(from.exchange), "0 to 5");
  }
  if (from.element < BREAKEVEN_F32 || from.element > BREAKEVEN_RAW_BYTES) {
    refuse(scheme, round + " has the element " + std::to_string(from.element), "0 to 4");
  }
  if (!reserved_is_zero(from)) {
    refuse(scheme, "a reserved field of " + round + " is set", "0");
  }
  if (from.payload_bytes == 0 && from.exchange != BREAKEVEN_NONE) {
    refuse(scheme, round + " sends nothing", "no such round");
  }
  return {.encode = checked_work(scheme, from.encode, most_elements, "encode of " + round),
          .exchange = static_cast<Exchange>(from.exchange),
          .payload = Bytes::of(amount(scheme, from.payload_bytes, "payload_bytes of " + round)),
          .decode = checked_work(scheme, from.decode, most_elements, "decode of " + round),
          .element = static_cast<Element>(from.element)};
}

/// What make() gave, and how to give it back.
class Handle {
 public:
  Handle(PluginScheme scheme, void* self) : scheme_(std::move(scheme)), self_(self) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    try {
      scheme_.row->destroy(self_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to tell
    }
  }

  [[nodiscard]] const PluginScheme& scheme() const { return scheme_; }
  [[nodiscard]] const void* self() const { return self_; }

 private:
  PluginScheme scheme_;
  void* self_;
};

class PluginKernel final : public Kernel {
 public:
  PluginKernel(std::shared_ptr<const Handle> handle, void* self, const Plan& plan, std::size_t period)
      : handle_(std::move(handle)), self_(self), period_(static_cast<double>(period)) {
    for (const Round& round : plan) {
      payloads_.push_back(round.payload.base());
    }
  }
  PluginKernel(const PluginKernel&) = delete;
  PluginKernel& operator=(const PluginKernel&) = delete;
  ~PluginKernel() override {
    try {
      row().kernel_destroy(self_);
    } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to tell
    }
  }

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    const void* data = nullptr;
    std::uint64_t bytes = 0;
    succeed("encode", round, [&] {
      return row().encode(self_, static_cast<std::uint32_t>(round), gradient.data(), gradient.size(), &data,
                          &bytes);
    });
    const double planned = payloads_.at(round);
    const auto sent = static_cast<double>(bytes);
    const std::string gives =
        "encode of round " + std::to_string(round + 1) + " gives " + std::to_string(bytes) + " bytes";
    if (period_ == 1 ? sent != planned : sent > planned * period_) {
      refuse(scheme(), gives,
             exact(planned) + ", as its plan says" +
                 (period_ == 1 ? "" : ", on average of " + exact(period_) + " steps"));
    }
    if (data == nullptr && bytes > 0) {
      refuse(scheme(), gives + " at NULL", "their address");
    }
    return {static_cast<const std::byte*>(data), bytes};
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    succeed("decode", round, [&] {
      return row().decode(self_, static_cast<std::uint32_t>(round), received.data(), received.size(),
                          mean.data(), mean.size());
    });
  }

 private:
  [[nodiscard]] const PluginScheme& scheme() const { return handle_->scheme(); }
  [[nodiscard]] const breakeven_scheme& row() const { return *scheme().row; }
  template <class Call>
  void succeed(const char* function, std::size_t round, Call call) {
    const std::int32_t status = called(scheme(), function, call);
    if (status != 0) {
      refuse(scheme(),
             std::string(function) + " of round " + std::to_string(round + 1) + " fails with status " +
                 std::to_string(status),
             "0");
    }
  }

  std::shared_ptr<const Handle> handle_;
  void* self_;
  std::vector<double> payloads_;
  double period_;
};

class PluginCompressor final : public Compressor {
 public:
  [[nodiscard]] bool claims_code() const { return row().kernel_create != nullptr; }
  explicit PluginCompressor(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {
    if (row().period != nullptr) {
      const std::uint64_t period = called(scheme(), "period", [&] { return row().period(handle_->self()); });
      if (period < 1 || period > kMostPeriod) {
        refuse(scheme(), "period is " + std::to_string(period), "1 to " + std::to_string(kMostPeriod));
      }
      period_ = period;
    }
  }

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const auto shapes = c_shapes(tensors);
    std::array<breakeven_round, kMostRounds> rounds{};
    const std::int32_t count = called(scheme(), "plan", [&] {
      return row().plan(handle_->self(), shapes.data(), shapes.size(), workers, rounds.data(), kMostRounds);
    });
    if (count < 0) {
      refuse(scheme(), "plan fails with status " + std::to_string(count), "the number of rounds");
    }
    if (count > static_cast<std::int32_t>(kMostRounds)) {
      refuse(scheme(), "plan gives " + std::to_string(count) + " rounds",
             "at most " + std::to_string(kMostRounds));
    }
    Plan plan;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      plan.push_back(checked_round(scheme(), rounds[i], i, 2 * static_cast<double>(elements(tensors))));
      const double whole = plan.back().payload.base() * static_cast<double>(period_);
      if (has_code(tensors) && whole != std::floor(whole)) {
        refuse(scheme(),
               "payload_bytes of round " + std::to_string(i + 1) + " is " + exact(plan.back().payload.base()),
               "whole bytes, since it has code");
      }
    }
    return plan;
  }

  [[nodiscard]] std::size_t period() const override { return period_; }

  [[nodiscard]] Bytes state(std::span<const Shape> tensors, std::size_t workers) const override {
    if (row().state == nullptr) {
      return {};
    }
    const auto shapes = c_shapes(tensors);
    return Bytes::of(
        amount(scheme(),
               called(scheme(), "state",
                      [&] { return row().state(handle_->self(), shapes.data(), shapes.size(), workers); }),
               "state"));
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!has_code(tensors)) {
      return nullptr;
    }
    const Plan agreed = plan(tensors, worker.workers);
    const auto shapes = c_shapes(tensors);
    const breakeven_worker who{worker.rank, worker.workers, worker.seed, worker.threads, {}};
    void* const self = called(scheme(), "kernel_create", [&] {
      return row().kernel_create(handle_->self(), shapes.data(), shapes.size(), &who);
    });
    return self == nullptr ? nullptr : std::make_unique<PluginKernel>(handle_, self, agreed, period_);
  }

 private:
  [[nodiscard]] const PluginScheme& scheme() const { return handle_->scheme(); }
  [[nodiscard]] const breakeven_scheme& row() const { return *scheme().row; }
  [[nodiscard]] bool has_code(std::span<const Shape> tensors) const {
    return row().kernel_create != nullptr &&
           std::all_of(tensors.begin(), tensors.end(),
                       [](const Shape& shape) { return shape.element == Element::f32; });
  }

  std::shared_ptr<const Handle> handle_;
  std::size_t period_ = 1;
};

}  // namespace

std::unique_ptr<Compressor> make_plugin_compressor(const PluginScheme& scheme, const Params& values) {
  const breakeven_scheme& row = *scheme.row;
  std::vector<breakeven_value> given;
  for (const breakeven_param& param : std::span(row.params, row.param_count)) {
    given.push_back({values.number(param.name), values.choice(param.name).c_str()});
  }
  std::array<char, 256> why{};
  void* const self = called(scheme, "make", [&] { return row.make(given.data(), why.data(), why.size()); });
  if (self == nullptr) {
    why.back() = '\0';
    const char* const text = one_line(why.data(), why.size());
    throw Error(Fault::value, scheme.file,
                text != nullptr && *text != '\0' ? text : "these values do not fit together", "other values");
  }
  return std::make_unique<PluginCompressor>(std::make_shared<const Handle>(scheme, self));
}

bool claims_code(const Compressor& compressor) {
  const auto* const own = dynamic_cast<const PluginCompressor*>(&compressor);
  return own != nullptr && own->claims_code();
}

const char* one_line(const char* text, std::size_t most) {
  for (std::size_t i = 0; text != nullptr && i < most; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) {
      return text;
    }
    if (byte < 0x20 || byte == 0x7f) {
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace breakeven
