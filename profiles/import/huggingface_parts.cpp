#include "profiles/import/huggingface_parts.h"

#include <utility>

namespace breakeven {
namespace {

constexpr double kMostElements = 1e15;  // what read_model() takes
constexpr std::size_t kMostTensors = 200'000;
constexpr std::size_t kMostCount = 1'000'000'000;  // of any one number in a config

}  // namespace

std::optional<Json> HfConfig::find(std::string_view key) const {
  auto found = json_.find(key);
  return found && found->is(JsonValue::Kind::null) ? std::nullopt : found;
}

std::size_t HfConfig::count(std::initializer_list<std::string_view> names) const {
  std::string others;
  for (const std::string_view name : names) {
    if (find(name)) {
      return count_or(name, 0);
    }
    others += (others.empty() ? "a whole number" : ", or its other name ");
    others += others == "a whole number" ? "" : std::string(name);
  }
  json_.fail("the key \"" + std::string(*names.begin()) + "\" is missing", others);
}

std::size_t HfConfig::count_or(std::string_view key, std::size_t otherwise) const {
  const auto found = find(key);
  if (!found) {
    return otherwise;
  }
  const std::size_t count = found->count();
  if (count == 0 || count > kMostCount) {
    found->fail(found->scalar() + " is out of range", "1 to " + std::to_string(kMostCount));
  }
  return count;
}

bool HfConfig::flag_or(std::string_view key, bool otherwise) const {
  const auto found = find(key);
  return found ? found->flag() : otherwise;
}

std::string HfConfig::architecture() const {
  const auto found = find("architectures");
  if (!found) {
    return {};
  }
  const std::vector<Json> names = found->list();
  return names.empty() ? std::string() : names.front().text();
}

std::size_t HfConfig::share(std::size_t whole, std::size_t parts, std::string_view of) const {
  if (whole % parts != 0) {
    json_.fail(std::string(of) + " " + std::to_string(whole) + " is no multiple of " + std::to_string(parts) +
                   " heads",
               "a multiple, or head_dim");
  }
  return whole / parts;
}

void HfTensors::add(const std::string& name, std::vector<std::size_t> dims, double flops) {
  double elements = 1;
  for (const std::size_t dim : dims) {
    elements *= static_cast<double>(dim);
  }
  elements_ += elements;
  if (elements_ > kMostElements || workload_.tensors.size() == kMostTensors) {
    config_.fail("describes more than 1e15 parameters or 200,000 tensors", "a model");
  }
  add_tensor(workload_, name, std::move(dims), flops);
}

void HfTensors::linear(const std::string& name, std::size_t inputs, std::size_t outputs, double positions,
                       bool bias, double extra) {
  const double products = 2 * static_cast<double>(inputs) * static_cast<double>(outputs) * positions;
  add(name + ".weight", {outputs, inputs}, products + extra);
  if (bias) {
    add(name + ".bias", {outputs}, static_cast<double>(outputs) * positions);
  }
}

void HfTensors::transposed_linear(const std::string& name, std::size_t inputs, std::size_t outputs,
                                  double positions, double extra) {
  const double products = 2 * static_cast<double>(inputs) * static_cast<double>(outputs) * positions;
  add(name + ".weight", {inputs, outputs}, products + extra);
  add(name + ".bias", {outputs}, static_cast<double>(outputs) * positions);
}

void HfTensors::norm(const std::string& name, std::size_t width, double elements, bool bias, double extra) {
  add(name + ".weight", {width}, elements + extra);
  if (bias) {
    add(name + ".bias", {width}, elements);
  }
}

}  // namespace breakeven
