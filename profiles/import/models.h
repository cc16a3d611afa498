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
  std::string device = "cpu";           ///< of times, and what they are for
  Precision precision = Precision::fp32;
  double batch = 1;
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

/// A safetensors file, of which only the head is read, or the model.safetensors.index.json of several. The
/// file has no FLOPs. `path` is "-" for standard input. Throws Error (file).
ImportedModel import_safetensors(const std::string& path, const ModelOptions& options);

/// What torchinfo or torchsummary printed. `text` is the whole output. Throws Error (file) with the line for
/// what is no such table, and where the layers do not add up to the totals.
ImportedModel import_torchinfo(std::string_view text, const std::string& where, const ModelOptions& options);

/// An ONNX model, whose weights are never read. `path` is "-" for standard input. Throws Error (file).
ImportedModel import_onnx(const std::string& path, const ModelOptions& options);

/// Rows `tensor,rows,cols,dtype,grad_ready_us` in forward order, by whatever means they were measured; the
/// last two columns may be missing, and others may not be there. With grad_ready_us the model has a timing of
/// the options' device, precision and batch. Throws Error (file) with the line.
ImportedModel import_tensor_csv(std::string_view text, const std::string& where, const ModelOptions& options);

/// "12,345,678".
std::string with_commas(std::size_t count);
/// "8,190,735,360 parameters in 399 tensors".
std::string size_note(const Workload& workload);

}  // namespace breakeven
