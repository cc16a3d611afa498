#include "profiles/import/stored_tensors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "model/error.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

constexpr double kMostElements = 1e15;  // what read_model() takes

/// "a.b.c" -> its parts.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = name.find('.');
    parts.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) {
      return parts;
    }
    name.remove_prefix(dot + 1);
  }
}

std::optional<std::size_t> number_of(std::string_view part) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  const bool whole = error == std::errc() && end == part.data() + part.size();
  return whole ? std::optional(number) : std::nullopt;
}

template <std::size_t Size>
bool is_one_of(std::string_view part, const char* const (&names)[Size]) {
  return std::any_of(std::begin(names), std::end(names), [&](std::string_view name) { return part == name; });
}

// Names of parts in front of and behind the numbered layers.
constexpr const char* kFirst[] = {"embed_tokens",
                                  "wte",
                                  "wpe",
                                  "embeddings",
                                  "word_embeddings",
                                  "position_embeddings",
                                  "embed",
                                  "embedding",
                                  "shared",
                                  "patch_embed",
                                  "stem",
                                  "conv1",
                                  "bn1"};
constexpr const char* kNearlyLast[] = {"norm", "ln_f", "final_norm", "pooler"};
constexpr const char* kLast[] = {"lm_head", "head", "classifier", "fc", "score", "cls", "embed_out"};

/// 0: embeddings; 1: layers; 2: what follows them; 3: heads.
int stage_of(const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (number_of(part)) {
      break;
    }
    if (is_one_of(part, kFirst)) {
      return 0;
    }
    if (is_one_of(part, kNearlyLast)) {
      return 2;
    }
    if (is_one_of(part, kLast)) {
      return 3;
    }
  }
  return 1;
}

/// Where a tensor comes: its stage, then at each level of its name the number, else the place of the first
/// tensor that has this part there.
class Keys {
 public:
  std::vector<std::size_t> of(const std::string& name) {
    const std::vector<std::string_view> parts = parts_of(name);
    std::vector<std::size_t> key = {static_cast<std::size_t>(stage_of(parts))};
    std::string prefix;
    for (const std::string_view part : parts) {
      prefix.append(part).append(".");
      const auto number = number_of(part);
      key.push_back(number ? *number : first_.emplace(prefix, first_.size()).first->second);
    }
    return key;
  }

 private:
  std::map<std::string, std::size_t> first_;
};

/// What no optimizer touches: running statistics, rotary tables, masks, quantisers' scales.
bool is_buffer(const StoredTensor& tensor) {
  constexpr const char* kBuffers[] = {"inv_freq",     "running_mean",     "running_var",
                                      "position_ids", "token_type_ids",   "num_batches_tracked",
                                      "masked_bias",  "weight_scale_inv", "e_score_correction_bias"};
  const std::string_view last = std::string_view(tensor.name).substr(tensor.name.rfind('.') + 1);
  // GPT-2 stores its causal mask, 1 x 1 x n x n, as attn.bias.
  const bool mask = tensor.name.ends_with("attn.bias") && tensor.dims.size() == 4;
  return mask || is_one_of(last, kBuffers);
}

/// Names by the reason why they are left out.
class LeftOut {
 public:
  void add(const std::string& why, const std::string& name) {
    auto& [count, first] = why_[why];
    first = count++ == 0 ? name : first;
  }
  void note(std::vector<std::string>& notes) const {
    for (const auto& [why, names] : why_) {
      notes.push_back("left out: " + with_commas(names.first) +
                      (names.first == 1 ? " tensor " : " tensors ") + why + ", such as " +
                      quote(names.second));
    }
  }

 private:
  std::map<std::string, std::pair<std::size_t, std::string>> why_;
};

}  // namespace

double product_of(const std::vector<std::size_t>& dims, double size) {
  double product = size;
  for (const std::size_t dim : dims) {
    product *= static_cast<double>(dim);
  }
  return product > kMostElements * size ? std::numeric_limits<double>::infinity() : product;
}

void sort_as_computed(std::vector<StoredTensor>& tensors) {
  Keys keys;
  std::vector<std::pair<std::vector<std::size_t>, StoredTensor>> keyed;
  keyed.reserve(tensors.size());
  for (StoredTensor& tensor : tensors) {
    auto key = keys.of(tensor.name);
    keyed.emplace_back(std::move(key), std::move(tensor));
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::transform(keyed.begin(), keyed.end(), tensors.begin(),
                 [](auto& pair) { return std::move(pair.second); });
}

ImportedModel model_of(const std::vector<StoredTensor>& tensors, const ModelOptions& options,
                       const std::string& where) {
  ImportedModel result;
  Workload& workload = result.model.workload;
  LeftOut left_out;
  double elements = 0;
  for (const StoredTensor& tensor : tensors) {
    const double size = product_of(tensor.dims);
    if (is_buffer(tensor)) {
      left_out.add("that by their names are buffers", tensor.name);
    } else if (!tensor.floating) {
      left_out.add(
          "of integers, which are not trained (or are quantised weights: then the counts are not the "
          "model's)",
          tensor.name);
    } else if (size == 0) {
      left_out.add("without elements", tensor.name);
    } else {
      elements += size;
      if (elements > kMostElements) {
        throw Error(Fault::file, where, "the tensors have more than 1e15 elements", "a model");
      }
      add_tensor(workload, tensor.name, tensor.dims, 0);
    }
  }
  if (workload.tensors.empty()) {
    throw Error(Fault::file, where, "holds no tensor that is trained", "a model's weights");
  }
  result.model.name = workload.name = options.name;
  result.model.summary = size_note(workload);
  result.notes.push_back(size_note(workload) +
                         " are trained, as far as names tell: compare with what the publisher states");
  left_out.note(result.notes);
  result.notes.emplace_back(
      "no FLOPs: a query needs --backward, or --throughput and --batch, and spreads backward over the "
      "modules by "
      "their parameters (estimated)");
  return result;
}

}  // namespace breakeven
