// A small scheme of which any part can be made to go wrong.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compressors/trial/conformance.h"

namespace breakeven::test {

/// All-gather of the gradient's first half, then of the rest: two rounds, exact.
struct Faults {
  double planned_too_much = 0;  ///< bytes
  double state = 0;
  std::size_t period = 1;
  bool kernel = true;
  Element only = Element::bytes;  ///< kernels for tensors of this type alone; bytes: of fp32
  /// Changes what the kernel does in this place.
  std::function<void(const Worker&, std::size_t round, std::vector<float>& sent)> encode = nullptr;
  std::function<void(const Worker&, std::size_t round, std::span<float> mean)> decode = nullptr;
  std::function<void(std::span<const float> gradient)> input = nullptr;
  std::function<void(std::span<const std::byte> received)> received = nullptr;
  std::function<void(Plan&)> plan = nullptr;
  bool skip_last_decode = false;
  bool shared_buffer = false;  ///< all kernels send from one place
};

class FaultyKernel final : public Kernel {
 public:
  FaultyKernel(const Faults& faults, const Worker& worker, std::size_t n)
      : faults_(faults), worker_(worker), half_((n + 1) / 2) {}

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    static std::vector<float> all_send_this;
    std::vector<float>& sent = faults_.shared_buffer ? all_send_this : sent_;
    const auto part = round == 0 ? gradient.first(half_) : gradient.subspan(half_);
    sent.assign(part.begin(), part.end());
    if (faults_.encode) {
      faults_.encode(worker_, round, sent);
    }
    if (faults_.input) {
      faults_.input(gradient);
    }
    return std::as_bytes(std::span(sent));
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    if (faults_.received) {
      faults_.received(received);
    }
    if (faults_.skip_last_decode && round == 1) {
      return;
    }
    const auto part = round == 0 ? mean.first(half_) : mean.subspan(half_);
    for (std::size_t i = 0; i < part.size(); ++i) {
      float sum = 0;
      for (std::size_t rank = 0; rank < worker_.workers; ++rank) {
        float value = 0;
        std::memcpy(&value, received.data() + 4 * (rank * part.size() + i), 4);
        sum += value;
      }
      part[i] = sum / static_cast<float>(worker_.workers);
    }
    if (faults_.decode) {
      faults_.decode(worker_, round, mean);
    }
  }

 private:
  const Faults& faults_;
  Worker worker_;
  std::size_t half_;
  std::vector<float> sent_;
};

class Faulty final : public Compressor {
 public:
  explicit Faulty(Faults faults) : faults_(std::move(faults)) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    const std::size_t n = elements(tensors), half = (n + 1) / 2;
    Plan plan;
    for (const std::size_t part : {half, n - half}) {
      if (part > 0) {
        Round round;
        round.exchange = Exchange::all_gather;
        round.element = Element::bytes;
        round.payload = Bytes::of(4 * static_cast<double>(part) + faults_.planned_too_much);
        plan.push_back(round);
      }
    }
    if (faults_.plan) {
      faults_.plan(plan);
    }
    return plan;
  }
  [[nodiscard]] std::size_t period() const override { return faults_.period; }
  [[nodiscard]] Bytes state(std::span<const Shape> /*tensors*/, std::size_t /*workers*/) const override {
    return Bytes::of(faults_.state);
  }
  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    const Element wanted = faults_.only == Element::bytes ? Element::f32 : faults_.only;
    const bool codes = std::all_of(tensors.begin(), tensors.end(),
                                   [&](const Shape& shape) { return shape.element == wanted; });
    return faults_.kernel && codes ? std::make_unique<FaultyKernel>(faults_, worker, elements(tensors))
                                   : nullptr;
  }

 private:
  Faults faults_;
};

/// "WHERE: WRONG" of each finding on one message of nine elements for three workers.
inline std::vector<std::string> found(const Compressor& compressor) {
  ConformanceOptions options;
  options.messages = {{{9, 1}}};
  options.workers = {3};
  std::vector<std::string> all;
  for (const Finding& finding : check_conformance(compressor, options).findings) {
    all.push_back(finding.where + ": " + finding.wrong);
  }
  return all;
}
inline std::vector<std::string> found(Faults faults) {
  return found(Faulty(std::move(faults)));
}

}  // namespace breakeven::test
