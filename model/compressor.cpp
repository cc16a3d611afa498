#include "model/compressor.h"

#include <array>
#include <numeric>

namespace breakeven {

std::size_t elements(std::span<const Shape> tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::size_t{0},
                         [](std::size_t sum, const Shape& shape) { return sum + shape.elements(); });
}

Bytes bytes(std::span<const Shape> tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), Bytes{},
                         [](Bytes sum, const Shape& shape) { return sum + shape.bytes(); });
}

std::string_view name(Exchange exchange) {
  constexpr std::array<std::string_view, 8> names = {"none",       "all_reduce", "reduce_scatter",
                                                     "all_gather", "all_to_all", "push_pull",
                                                     "tree_step",  "broadcast"};
  return names[static_cast<std::size_t>(exchange)];
}

std::string_view name(Placement placement) {
  constexpr std::array<std::string_view, 5> names = {"serial", "hook", "stream", "host", "blocking"};
  return names[static_cast<std::size_t>(placement)];
}

std::unique_ptr<Kernel> Compressor::kernel(std::span<const Shape> /*tensors*/,
                                           const Worker& /*worker*/) const {
  return nullptr;
}

Bytes Compressor::state(std::span<const Shape> /*tensors*/, std::size_t /*workers*/) const {
  return {};
}

}  // namespace breakeven
