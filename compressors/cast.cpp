#include "compressors/cast.h"

#include "compressors/buffer.h"
#include "compressors/dense.h"
#include "compressors/plan.h"
#include "compressors/simd/cast.h"
#include "compressors/threads.h"

namespace breakeven {
namespace {

/// Workers divide before they send, as PyTorch's hooks do, so that sums of fp16 do not overflow; but they
/// divide in fp32, before the one rounding, where the hooks divide what is rounded already and round again.
/// Small gradients pay for it: what is below 2^-25 after the division is zero in fp16. NaN stays NaN, what
/// fp16 cannot hold becomes infinite.
class CastKernel final : public Kernel {
 public:
  CastKernel(Element to, std::size_t elements, const Worker& worker)
      : threads_(worker.threads),
        half_(to == Element::f16),
        share_(1.0F / static_cast<float>(worker.workers)),
        payload_(elements) {}

  std::span<const std::byte> encode(std::size_t /*round*/, std::span<const float> gradient) override {
    threads_.ranges(payload_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      const auto part = gradient.subspan(begin, end - begin);
      if (half_) {
        cast_to_f16(part, share_, payload_.data() + begin);
      } else {
        cast_to_bf16(part, share_, payload_.data() + begin);
      }
    });
    return payload_.bytes(payload_.size());
  }

  void decode(std::size_t /*round*/, std::span<const std::byte> received, std::span<float> mean) override {
    const auto* const sums = reinterpret_cast<const std::uint16_t*>(received.data());
    threads_.ranges(payload_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      const auto part = mean.subspan(begin, end - begin);
      if (half_) {
        cast_from_f16(sums + begin, part);
      } else {
        cast_from_bf16(sums + begin, part);
      }
    });
  }

 private:
  static constexpr std::size_t kGrain = 16384;

  Threads threads_;
  bool half_;
  float share_;
  Buffer<std::uint16_t> payload_;
};

class Cast final : public Compressor {
 public:
  explicit Cast(Element to) : to_(to) {}

  /// A gradient that has the type already is sent as it is. Otherwise each element is read and written once
  /// on either side: 6 bytes from and to fp32.
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    double cast = 0, touched = 0;
    for (const Shape& shape : tensors) {
      if (shape.element != to_) {
        const auto n = static_cast<double>(shape.elements());
        cast += n;
        touched += n * (size_of(shape.element) + size_of(to_));
      }
    }
    const double all = flat(tensors).elements;
    if (all == 0) {
      return {};
    }
    const Work work = cast > 0 ? coding(touched, cast, 1, cast) : Work{};
    return {{work, Exchange::all_reduce, Bytes::of(all * size_of(to_)), work, to_}};
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    return all_f32(tensors) ? std::make_unique<CastKernel>(to_, elements(tensors), worker) : nullptr;
  }

 private:
  Element to_;
};

}  // namespace

std::unique_ptr<Compressor> cast_to(Element element) {
  return std::make_unique<Cast>(element);
}

}  // namespace breakeven
