#include "model/workload.h"

#include <functional>
#include <numeric>

namespace breakeven {
namespace {

/// Shares `total` among the modules by `weight`, which must not sum to zero.
void spread(Workload& workload, Seconds total, const std::function<double(std::size_t)>& weight,
            Seconds Module::*time) {
  double sum = 0;
  for (std::size_t i = 0; i < workload.modules.size(); ++i) {
    sum += weight(i);
  }
  for (std::size_t i = 0; i < workload.modules.size(); ++i) {
    workload.modules[i].*time = total * (weight(i) / sum);
  }
}

template <class Value>
Value sum_of(const Workload& workload, Value Module::*member) {
  return std::accumulate(workload.modules.begin(), workload.modules.end(), Value{},
                         [member](Value sum, const Module& module) { return sum + module.*member; });
}

}  // namespace

std::size_t Tensor::elements() const {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

std::size_t Workload::elements() const {
  return std::accumulate(tensors.begin(), tensors.end(), std::size_t{0},
                         [](std::size_t sum, const Tensor& tensor) { return sum + tensor.elements(); });
}

Bytes Workload::gradient_bytes() const {
  return Bytes::of(static_cast<double>(elements()) * size_of(gradient));
}

Shape Workload::shape(const Tensor& tensor) const {
  const std::size_t all = tensor.elements();
  const std::size_t rows = tensor.dims.empty() ? 1 : tensor.dims.front();
  return {rows, rows == 0 ? 1 : all / rows, gradient};
}

Seconds Workload::forward() const {
  return sum_of(*this, &Module::forward);
}
Seconds Workload::backward() const {
  return sum_of(*this, &Module::backward);
}
double Workload::forward_flops() const {
  return sum_of(*this, &Module::forward_flops);
}
double Workload::backward_flops() const {
  return sum_of(*this, &Module::backward_flops);
}

void add_tensor(Workload& workload, std::string name, std::vector<std::size_t> dims, double forward_flops,
                const std::string& module) {
  const std::string owner = module.empty() ? name.substr(0, name.rfind('.')) : module;
  // A module's tensors stand together, so only the last one can be continued.
  if (workload.modules.empty() || workload.modules.back().name != owner) {
    workload.modules.push_back({owner, 0, 0, {}, {}});
  }
  const std::size_t index = workload.modules.size() - 1;
  workload.modules[index].forward_flops += forward_flops;
  // The first module needs no gradient of its input (reference: backward = 2x forward, 1x for the first
  // layer).
  workload.modules[index].backward_flops += forward_flops * (index == 0 ? 1 : 2);
  workload.tensors.push_back({std::move(name), std::move(dims), index});
}

void set_times(Workload& workload, Seconds forward, Seconds backward) {
  std::vector<double> sizes(workload.modules.size());
  for (const Tensor& tensor : workload.tensors) {
    sizes[tensor.module] += static_cast<double>(tensor.elements());
  }
  const bool by_flops = workload.forward_flops() > 0;
  spread(
      workload, forward,
      [&](std::size_t i) { return by_flops ? workload.modules[i].forward_flops : sizes[i]; },
      &Module::forward);
  spread(
      workload, backward,
      [&](std::size_t i) { return by_flops ? workload.modules[i].backward_flops : sizes[i]; },
      &Module::backward);
}

Workload plain_workload(std::string name, std::size_t elements, std::size_t pieces) {
  Workload workload;
  workload.name = std::move(name);
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = elements / pieces * i;
    const std::size_t size = i + 1 == pieces ? elements - begin : elements / pieces;
    workload.modules.push_back({"gradient" + std::to_string(i), 0, 0, {}, {}});
    workload.tensors.push_back({workload.modules.back().name, {size}, i});
  }
  return workload;
}

}  // namespace breakeven
