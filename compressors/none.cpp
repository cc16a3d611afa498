// Plain all-reduce: the scheme with zero work.
#include "compressors/dense.h"
#include "compressors/plan.h"

namespace breakeven {
namespace {

class NoneKernel final : public Kernel {
 public:
  NoneKernel(std::span<const Shape> tensors, const Worker& worker)
      : threads_(worker.threads),
        workers_(worker.workers),
        all_(runs_of(tensors, [](const Shape&) { return true; })) {}

  std::span<const std::byte> encode(std::size_t /*round*/, std::span<const float> gradient) override {
    return all_.encode(gradient, threads_);
  }
  void decode(std::size_t /*round*/, std::span<const std::byte> received, std::span<float> mean) override {
    all_.decode(received, workers_, mean, threads_);
  }

 private:
  Threads threads_;
  std::size_t workers_;
  DensePart all_;
};

class None final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t /*workers*/) const override {
    Plan plan;
    add_dense(plan, tensors);
    return plan;
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    return all_f32(tensors) ? std::make_unique<NoneKernel>(tensors, worker) : nullptr;
  }
};

}  // namespace

Scheme none_scheme() {
  return {.name = "none",
          .summary = "plain all-reduce of the gradients as they are",
          .params = {},
          .placement = Placement::serial,
          .source = "PyTorch DistributedDataParallel's default",
          .make = [](const Params&) { return std::make_unique<None>(); }};
}

}  // namespace breakeven
