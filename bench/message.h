// A made-up gradient of some size and kind, made when it is first needed and shared by all that is timed on
// it.
#pragma once

#include <string>
#include <vector>

#include "compressors/buffer.h"
#include "compressors/trial/gradients.h"

namespace breakeven::bench {

class Message {
 public:
  Message(std::vector<Shape> tensors, GradientKind kind);

  [[nodiscard]] const std::vector<Shape>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t elements() const { return elements_; }
  /// "normal", "heavy-tailed"
  [[nodiscard]] std::string kind_name() const { return std::string(name(kind_)); }
  const Buffer<float>& gradient();
  /// As large, for whoever needs to write something.
  Buffer<float>& scratch();
  /// Gives the memory back, until it is needed again.
  void forget();

 private:
  std::vector<Shape> tensors_;
  std::size_t elements_;
  GradientKind kind_;
  Buffer<float> gradient_, scratch_;
};

/// The tensors of ResNet-50, 25,557,032 elements: more than the caches hold.
std::vector<Shape> resnet50();
/// One matrix, as square as powers of two allow.
std::vector<Shape> matrix(std::size_t elements);

}  // namespace breakeven::bench
