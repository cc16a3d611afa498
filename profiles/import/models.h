// A network's description, whatever program wrote it -> a model profile.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/catalogue.h"

namespace breakeven {

struct ModelOptions {
  std::string name = "imported";        ///< of the profile
  std::optional<std::size_t> sequence;  ///< tokens of a sample: without it a language model has no FLOPs
};

struct ImportedModel {
  ModelProfile model;
  std::vector<std::string> notes;  ///< what was understood, left out and assumed: a line each
};

/// A config.json of Hugging Face Transformers. The tensors are those of the library's class, in registration
/// order, and FLOPs are counted as profiles/models/generate.py counts them. Throws Error (file) for an
/// architecture that is not known and for a configuration that makes no sense, (value) for a sequence that
/// the model cannot take.
ImportedModel import_huggingface(std::string_view json, const std::string& where,
                                 const ModelOptions& options);

/// "12,345,678".
std::string with_commas(std::size_t count);
/// "8,190,735,360 parameters in 399 tensors".
std::string size_note(const Workload& workload);

}  // namespace breakeven
