// A config.json of Hugging Face Transformers -> the tensors of the model that it configures.
#include <algorithm>
#include <array>
#include <cctype>

#include "model/error.h"
#include "profiles/import/huggingface_parts.h"
#include "profiles/import/models.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

std::vector<HfFamily> families() {
  std::vector<HfFamily> all = huggingface_decoders();
  const std::vector<HfFamily> older = huggingface_older_families();
  all.insert(all.end(), older.begin(), older.end());
  return all;
}

const HfFamily* find_family(const std::vector<HfFamily>& known, const std::string& model_type) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const HfFamily& family) { return family.model_type == model_type; });
  return found == known.end() ? nullptr : &*found;
}

std::string supported(const std::vector<HfFamily>& known, const std::string& model_type) {
  std::vector<std::string> names;
  names.reserve(known.size());
  for (const HfFamily& family : known) {
    names.emplace_back(family.model_type);
  }
  return one_of(names, model_type) + "; of another model, its weights: import safetensors";
}

/// The family that the file names, by itself or in its text_config.
struct Found {
  HfConfig config;
  const HfFamily* family;
  std::string model_type;
};

Found find(const Json& root, const std::vector<HfFamily>& known, std::vector<std::string>& notes) {
  const HfConfig whole(root);
  const auto stated = whole.find("model_type");
  const auto nested = whole.find("text_config");
  if (stated) {
    if (const HfFamily* family = find_family(known, stated->text())) {
      return {whole, family, stated->text()};
    }
  }
  const HfConfig config = nested ? HfConfig(*nested) : whole;
  const auto inner = config.find("model_type");
  if (!inner) {
    config.json().fail("the key \"model_type\" is missing",
                       (config.find("type_vocab_size")
                            ? std::string("\"model_type\": \"bert\" added to it, if it is BERT's own; else ")
                            : std::string()) +
                           supported(known, ""));
  }
  const HfFamily* family = find_family(known, inner->text());
  if (family == nullptr) {
    inner->fail("unknown model_type " + quote(inner->text()), supported(known, inner->text()));
  }
  notes.push_back("only text_config is read: the other parts of " +
                  (stated ? stated->text() : std::string("the model")) + " are left out of every count");
  return {config, family, inner->text()};
}

/// How the family's classes begin, in lower case: "qwen3moe", "gemma3".
std::string stem_of(const HfFamily& family) {
  std::string stem(family.model_type.substr(0, family.model_type.find("_text")));
  std::erase(stem, '_');
  return stem;
}

/// A class of another family has other tensors, whatever model_type says.
void check_architecture(const Found& found, const std::vector<HfFamily>& known) {
  std::string lower = found.config.architecture();
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string longest;
  for (const HfFamily& family : known) {
    const std::string stem = stem_of(family);
    longest = lower.starts_with(stem) && stem.size() > longest.size() ? stem : longest;
  }
  if (!lower.empty() && longest != stem_of(*found.family)) {
    found.config.find("architectures")
        ->fail(
            quote(found.config.architecture()) + " is no class of the model_type " + quote(found.model_type),
            "a class such as the library has for it, whose name begins with " +
                quote(stem_of(*found.family)) + " in any case");
  }
}

/// T5's decoder always has it, and does not ask.
void check_cross_attention(const Found& found) {
  const auto crossed = found.config.find("add_cross_attention");
  if (crossed && crossed->flag() && found.model_type != "t5") {
    crossed->fail("is true, and cross attention's tensors are not known",
                  "false; of this model, its weights: import safetensors");
  }
}

/// Whether words come out of the class, as far as it is known: not of BertModel, nor of a classifier.
bool has_word_head(const Found& found) {
  const std::string architecture = found.config.architecture();
  if (architecture.empty()) {
    return found.model_type != "bert" && found.model_type != "roberta";
  }
  constexpr std::array<std::string_view, 5> kHeads = {"CausalLM", "LMHead", "MaskedLM", "PreTraining",
                                                      "ConditionalGeneration"};
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view head) { return architecture.find(head) != std::string::npos; });
}

bool is_tied(const Found& found, const Json& root, std::vector<std::string>& notes) {
  const auto own = found.config.find("tie_word_embeddings");
  const auto outer = HfConfig(root).find("tie_word_embeddings");
  const auto& stated = own ? own : outer;
  const bool tied = stated ? stated->flag() : found.family->tied;
  if (!has_word_head(found)) {
    return tied;
  }
  notes.push_back(
      std::string(tied ? "the head is the word embedding's tensor, whose gradient is complete last"
                       : "the head, where there is one, is a tensor of its own") +
      (stated ? ", as the file says"
              : " (tie_word_embeddings is absent: the library's default for " + found.model_type + ")"));
  return tied;
}

/// A learned table of positions has no row for a token beyond its end.
void check_sequence(const Found& found, std::size_t sequence) {
  if (found.family->position_limit.empty()) {
    return;
  }
  const std::size_t most =
      found.config.count({found.family->position_limit}) - found.family->reserved_positions;
  if (sequence > most) {
    throw Error(Fault::value, "--sequence", std::to_string(sequence) + " tokens",
                "at most " + std::to_string(most) + ", the model's positions");
  }
}

void note_types(const Found& found, const Json& root, std::vector<std::string>& notes) {
  const HfConfig whole(root);
  for (const HfConfig* config : {&found.config, &whole}) {
    for (const char* key : {"dtype", "torch_dtype"}) {
      if (const auto dtype = config->find(key)) {
        notes.push_back("the weights are " + dtype->text() +
                        "; the gradients' type is not in the file: a query takes it with --grad-dtype");
        return;
      }
    }
  }
  notes.emplace_back(
      "the file does not say what type the weights have, and never that of the gradients: a query takes it "
      "with --grad-dtype");
}

}  // namespace

ImportedModel import_huggingface(std::string_view json, const std::string& where,
                                 const ModelOptions& options) {
  const JsonDocument document(json, where);
  const Json root = document.root();
  const std::vector<HfFamily> known = families();
  ImportedModel result;
  std::vector<std::string> details;
  const Found found = find(root, known, details);
  check_architecture(found, known);
  check_cross_attention(found);
  if (options.sequence) {
    check_sequence(found, *options.sequence);
  }
  Workload& workload = result.model.workload;
  HfTensors tensors(workload, found.config.json());
  const bool tied = is_tied(found, root, details);
  found.family->build(
      {found.config, tensors, static_cast<double>(options.sequence.value_or(0)), tied, details});
  note_types(found, root, details);
  if (HfConfig(root).find("quantization_config")) {
    details.emplace_back("quantization_config is ignored: the tensors are those of the unquantised model");
  }
  details.push_back(
      options.sequence
          ? "a sample is one sequence of " + with_commas(*options.sequence) +
                " tokens; FLOPs count the full square of attention"
          : "no FLOPs: they need the tokens of a sample (--sequence N); without them a query needs "
            "--backward, or --throughput and --batch");
  const std::string architecture = found.config.architecture();
  result.notes = {found.model_type + (architecture.empty() ? "" : " (" + architecture + ")") + ": " +
                  size_note(workload) + ", to compare with what the publisher states"};
  result.notes.insert(result.notes.end(), details.begin(), details.end());
  result.model.name = workload.name = options.name;
  result.model.summary =
      result.notes.front().substr(0, result.notes.front().rfind(", to compare")) +
      (options.sequence ? ", sequences of " + std::to_string(*options.sequence) + " tokens" : "");
  result.model.source = "the model's config.json, read by breakeven import huggingface";
  return result;
}

}  // namespace breakeven
