#include "compressors/block.h"

#include <utility>

#include "compressors/block_code.h"
#include "compressors/params.h"
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

/// torch_cgx rounds by chance; here to nearest, which errs half as much and needs no random numbers.
class BlockKernel final : public Kernel {
 public:
  BlockKernel(const BlockFormat& format, std::vector<Run> coded, std::vector<Run> dense, bool gather,
              const Worker& worker)
      : threads_(worker.threads), dense_(std::move(dense)), coded_(std::move(coded)), gather_(gather) {
    const std::size_t n = coded_.elements(), workers = std::max<std::size_t>(worker.workers, 1);
    workers_ = workers;
    const std::size_t chunk = gather ? n : (n + workers - 1) / workers;
    code_ = BlockCode(format, chunk);
    payload_ = code_.payloads(gather ? 1 : workers);
    if (!gather) {
      const std::size_t first = std::min(n, worker.rank * chunk), mine = std::min(n - first, chunk);
      mine_ = mine > 0 ? Joined({{0, mine}}) : Joined();
      sum_ = Buffer<float>(chunk);
      result_ = code_.payloads(1);
    }
  }

  std::span<const std::byte> encode(std::size_t round, std::span<const float> gradient) override {
    switch (step(round)) {
      case Step::dense:
        return dense_.encode(gradient, threads_);
      case Step::chunks:
        code_.encode(coded_, gradient.data(), 0, payload_.span(), threads_);
        return payload_.bytes(payload_.size());
      default:
        code_.encode(mine_, sum_.data(), 0, result_.span(), threads_);
        return result_.bytes(result_.size());
    }
  }

  void decode(std::size_t round, std::span<const std::byte> received, std::span<float> mean) override {
    switch (step(round)) {
      case Step::dense:
        return dense_.decode(received, workers_, mean, threads_);
      case Step::chunks:
        return gather_ ? code_.decode_mean(received, coded_, mean.data(), threads_)
                       : code_.decode_mean(received, mine_, sum_.data(), threads_);
      default:
        return code_.decode_parts(received, coded_, mean.data(), threads_);
    }
  }

 private:
  enum class Step { dense, chunks, results };
  [[nodiscard]] Step step(std::size_t round) const {
    const std::size_t coded = round + (dense_.elements() > 0 ? 0 : 1);
    return coded == 0 ? Step::dense : coded == 1 ? Step::chunks : Step::results;
  }

  Threads threads_;
  DensePart dense_;
  Joined coded_, mine_;  // of the gradient; of this worker's chunk
  bool gather_;
  std::size_t workers_ = 1;
  BlockCode code_;  // of a chunk, or of everything
  Buffer<std::byte> payload_, result_;
  Buffer<float> sum_;  // the mean of this worker's chunk
};

class BlockScaled final : public Compressor {
 public:
  BlockScaled(double bits, const Params& params)
      : bits_(bits),
        block_(params.number("block")),
        constants_(params.is("zero_point", "on") ? 2 : 1),
        scale_(params.is("scale", "f32")   ? 4
               : params.is("scale", "f16") ? 2
                                           : 0),
        min_size_(params.count("min_size")),
        vectors_(params.is("vectors", "code")),
        gather_(params.is("exchange", "all_gather")) {}

  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Split parts = split(tensors, [this](const Shape& shape) { return eligible(shape); });
    Plan plan;
    add_dense(plan, parts.dense);
    const Flat coded = flat(parts.coded);
    const double reads = passes(block_, coded.elements);
    const Quantiser code{.bits = bits_,
                         .word = 8,  // torch_cgx aligns packed elements to two floats
                         .block = block_,
                         .constants = constants_ * (scale_ > 0 ? scale_ : coded.width),
                         .traffic = reads,
                         .flops = 4,
                         .launches = reads};
    const Plan rounds = gather_ ? gathered(code, coded, workers) : scattered(code, code, coded, workers);
    plan.insert(plan.end(), rounds.begin(), rounds.end());
    return plan;
  }

  [[nodiscard]] std::unique_ptr<Kernel> kernel(std::span<const Shape> tensors,
                                               const Worker& worker) const override {
    if (!all_f32(tensors)) {
      return nullptr;
    }
    const auto bits = static_cast<unsigned>(bits_);
    BlockFormat format;
    format.bits = bits;
    format.block = static_cast<std::size_t>(block_);
    format.half = scale_ == 2;
    format.word = 8;
    if (constants_ == 1) {
      format.constants = BlockFormat::Constants::magnitude;
      format.zero = (1U << (bits - 1)) - 1;
    }
    return std::make_unique<BlockKernel>(
        format, runs_of(tensors, [this](const Shape& shape) { return eligible(shape); }),
        runs_of(tensors, [this](const Shape& shape) { return !eligible(shape); }), gather_, worker);
  }

 private:
  [[nodiscard]] bool eligible(const Shape& shape) const {
    return shape.elements() >= min_size_ && (vectors_ || !shape.is_vector());
  }

  double bits_, block_, constants_;
  double scale_;  // bytes of one constant; 0: as the gradient
  std::size_t min_size_;
  bool vectors_, gather_;
};

}  // namespace

std::vector<Param> block_params() {
  return {count_param("block", "512", 8, 1e9, "elements that share their constants"),
          choice_param("scale", {"gradient", "f32", "f16"}, "type of the constants"),
          choice_param("zero_point", {"on", "off"}, "a minimum and a step for every block, or a step alone"),
          choice_param("exchange", {"all_to_all", "all_gather"},
                       "chunks to their owners, sums coded again and gathered; or everything gathered"),
          count_param("min_size", "1024", 0, 1e12, "tensors with fewer elements are sent as they are"),
          choice_param("vectors", {"skip", "code"}, "one-dimensional tensors: as they are, or coded too")};
}

std::unique_ptr<Compressor> block_scaled(double bits, const Params& params) {
  return std::make_unique<BlockScaled>(bits, params);
}

}  // namespace breakeven
