// What one worker computes in one step: tensors in forward order, grouped in modules with their times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/compressor.h"
#include "model/origin.h"
#include "model/units.h"

namespace breakeven {

struct Tensor {
  std::string name;
  std::vector<std::size_t> dims;
  std::size_t module = 0;  ///< index into Workload::modules

  [[nodiscard]] std::size_t elements() const;
};

/// Tensors whose gradients appear together, when the module's backward ends.
struct Module {
  std::string name;
  double forward_flops = 0;  ///< for one sample
  double backward_flops = 0;
  Seconds forward, backward;  ///< for the whole batch
};

struct Workload {
  std::string name;
  std::vector<Tensor> tensors;  ///< forward (registration) order
  std::vector<Module> modules;  ///< forward order
  Seconds other;                ///< optimizer, data loading: per step, never overlapped
  Element gradient = Element::f32;

  [[nodiscard]] std::size_t elements() const;
  [[nodiscard]] Bytes gradient_bytes() const;
  [[nodiscard]] Shape shape(const Tensor& tensor) const;
  [[nodiscard]] Seconds forward() const;
  [[nodiscard]] Seconds backward() const;
  [[nodiscard]] double forward_flops() const;
  [[nodiscard]] double backward_flops() const;
};

/// Adds a tensor; tensors that share the name before the last dot are one module, opened by its first tensor.
/// The first module's backward costs as much as its forward (no input gradient), every other's twice that.
void add_tensor(Workload& workload, std::string name, std::vector<std::size_t> dims, double forward_flops,
                const std::string& module = {});

/// Spreads the two totals over the modules by their FLOPs (by their elements where the model states no
/// FLOPs).
void set_times(Workload& workload, Seconds forward, Seconds backward);

/// A gradient that is known by its size only: one module, `pieces` tensors of equal size.
Workload plain_workload(std::string name, std::size_t elements, std::size_t pieces = 1);

}  // namespace breakeven
