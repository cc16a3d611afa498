// A scheme that is known by its sizes alone: rounds whose bytes and work are linear in what a message holds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/compressor.h"

namespace breakeven {

/// Bytes or operations of one message: `fixed` once, the others by its coded tensors.
struct Linear {
  double fixed = 0, per_tensor = 0, per_element = 0, per_row = 0, per_column = 0;

  [[nodiscard]] bool zero() const {
    return fixed == 0 && per_tensor == 0 && per_element == 0 && per_row == 0 && per_column == 0;
  }
};

struct DescribedWork {
  std::optional<Linear> touched;  ///< not stated: the gradient on one side, what is sent on the other
  Linear flops, launches{.fixed = 1};
  std::optional<bool>
      by_worker;  ///< done once for every worker's payload; not stated: as the exchange has it
};

struct DescribedRound {
  Exchange exchange = Exchange::all_reduce;
  Element element = Element::f32;
  Linear payload;
  /// Not stated: the first round codes the gradient and the last one decodes it, as after an all_to_all
  /// every worker does with its share; other rounds do nothing.
  std::optional<DescribedWork> encode, decode;
};

struct Description {
  std::string file;            ///< to name in errors
  bool dense_vectors = false;  ///< one-dimensional tensors go in a plain all-reduce of their own, in front
  std::vector<DescribedRound> rounds;
  Linear state;
};

/// Its plans throw Error (file) for messages that make a size absurd.
std::unique_ptr<Compressor> described(std::shared_ptr<const Description> description);

}  // namespace breakeven
