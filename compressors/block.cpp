#include "compressors/block.h"

#include "compressors/params.h"
#include "compressors/quantiser.h"

namespace breakeven {
namespace {

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
    const Split parts = split(tensors, [this](const Shape& shape) {
      return shape.elements() >= min_size_ && (vectors_ || !shape.is_vector());
    });
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

 private:
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
