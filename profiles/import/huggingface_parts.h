// What the architectures of Hugging Face Transformers are made of.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/workload.h"
#include "profiles/json_reader.h"

namespace breakeven {

/// The keys of a config.json. A key that is null counts as absent, as it does in the library.
class HfConfig {
 public:
  explicit HfConfig(const Json& json) : json_(json) {}

  [[nodiscard]] const Json& json() const { return json_; }
  [[nodiscard]] std::optional<Json> find(std::string_view key) const;
  /// A whole number above 0, under whichever of these names it has; the first is the usual one.
  [[nodiscard]] std::size_t count(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] std::size_t count_or(std::string_view key, std::size_t otherwise) const;
  [[nodiscard]] bool flag_or(std::string_view key, bool otherwise) const;
  /// The class that the file names first, such as "Qwen3ForCausalLM"; empty: none.
  [[nodiscard]] std::string architecture() const;
  /// `whole` shared by `parts`, which must divide it.
  [[nodiscard]] std::size_t share(std::size_t whole, std::size_t parts, std::string_view of) const;

 private:
  Json json_;
};

/// Collects tensors as the library registers them. FLOPs are forward, for one sample of `positions` tokens:
/// 1 multiply-add = 2, a bias or a norm parameter 1 an output element, embeddings 0 (as in
/// profiles/models/generate.py). Without a sequence `positions` is 0, and so are they.
class HfTensors {
 public:
  HfTensors(Workload& workload, const Json& config) : workload_(workload), config_(config) {}

  void add(const std::string& name, std::vector<std::size_t> dims, double flops = 0);
  /// nn.Linear: the weight is outputs x inputs.
  void linear(const std::string& name, std::size_t inputs, std::size_t outputs, double positions, bool bias,
              double extra = 0);
  /// Conv1D of GPT-2: the weight is inputs x outputs.
  void transposed_linear(const std::string& name, std::size_t inputs, std::size_t outputs, double positions,
                         double extra = 0);
  void norm(const std::string& name, std::size_t width, double elements, bool bias, double extra = 0);

 private:
  Workload& workload_;
  const Json& config_;
  double elements_ = 0;
};

/// One architecture's work on a config: what it is given and what it says.
struct HfModel {
  const HfConfig& config;
  HfTensors& tensors;
  double positions;  ///< tokens of a sample; 0: unknown
  bool tied;         ///< the head shares the word embedding
  std::vector<std::string>& notes;
};

/// One `model_type` that is known.
struct HfFamily {
  std::string_view model_type;
  bool tied;                        ///< the library's default for tie_word_embeddings
  std::string_view position_limit;  ///< the key of a learned table's length; empty: any sequence will do
  std::size_t reserved_positions;   ///< of that table
  void (*build)(const HfModel& model);
};

std::vector<HfFamily> huggingface_decoders();        ///< Llama and what descends from it
std::vector<HfFamily> huggingface_older_families();  ///< GPT-2, BERT, T5

}  // namespace breakeven
