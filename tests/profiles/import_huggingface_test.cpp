// Does a config.json become the model that it configures, tensor by tensor, or a refusal?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/import/models.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const char* const kQwen3 = R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
  "attention_bias": false, "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
  "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "rope_scaling": null,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 151936})";
const char* const kLlama3 = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
  "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32,
  "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})";
const char* const kMistral = R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000})";
const char* const kMixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
  "num_experts_per_tok": 2, "tie_word_embeddings": false, "vocab_size": 32000})";
const char* const kGpt2 = R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 768,
  "n_layer": 12, "n_head": 12, "n_positions": 1024, "n_ctx": 1024, "n_inner": null, "vocab_size": 50257})";
const char* const kBert = R"({"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072,
  "num_attention_heads": 12, "num_hidden_layers": 12, "max_position_embeddings": 512, "type_vocab_size": 2,
  "vocab_size": 30522)";

ImportedModel imported(const std::string& json, std::optional<std::size_t> sequence = {}) {
  ModelOptions options;
  options.sequence = sequence;
  return import_huggingface(json, "config.json", options);
}

std::size_t parameters(const std::string& json) {
  return imported(json).model.workload.elements();
}

std::string refusal(const std::string& json, std::optional<std::size_t> sequence = {}) {
  return failure([&] { (void)imported(json, sequence); });
}

TEST(ImportHuggingface, CountsTheParametersThatWerePublished) {
  // A layer of h = 4096 with grouped queries: q and o h*h each, k and v h*1024 each, the three matrices of
  // the feed-forward half, two norms. Qwen 3 adds two norms of 128.
  const std::size_t h = 4096;
  const std::size_t attention = 2 * h * h + 2 * h * 1024;
  EXPECT_EQ(parameters(kQwen3), 36 * (attention + 3 * h * 12288 + 2 * h + 2 * 128) + h + 2 * 151936 * h);
  EXPECT_EQ(parameters(kQwen3), 8'190'735'360U);
  EXPECT_EQ(parameters(kLlama3), 32 * (attention + 3 * h * 14336 + 2 * h) + h + 2 * 128256 * h);
  EXPECT_EQ(parameters(kLlama3), 8'030'261'248U);
  EXPECT_EQ(parameters(kMistral), 32 * (attention + 3 * h * 14336 + 2 * h) + h + 2 * 32000 * h);
  EXPECT_EQ(parameters(kMistral), 7'241'732'096U);
  // Eight experts in place of one, and the router.
  EXPECT_EQ(parameters(kMixtral), 32 * (attention + 8 * 3 * h * 14336 + 8 * h + 2 * h) + h + 2 * 32000 * h);
  EXPECT_EQ(parameters(kMixtral), 46'702'792'704U);
}

TEST(ImportHuggingface, CountsTheParametersOfOlderModels) {
  // Of a width h: 4 matrices of attention and 2 of 4h with their biases, two norms of 2h.
  const std::size_t h = 768;
  const std::size_t layer = 12 * h * h + 9 * h + 4 * h;
  EXPECT_EQ(parameters(kGpt2), (50257 + 1024) * h + 12 * layer + 2 * h);
  EXPECT_EQ(parameters(kGpt2), 124'439'808U);
  const std::string bert = kBert;
  const std::size_t encoder = (30522 + 512 + 2) * h + 2 * h + 12 * layer;
  EXPECT_EQ(parameters(bert + "}"), encoder + h * h + h);  // the pooler
  EXPECT_EQ(parameters(bert + "}"), 109'482'240U);
  // The head for masked words: a matrix, a norm and the vocabulary's bias; no pooler.
  EXPECT_EQ(parameters(bert + R"(, "architectures": ["BertForMaskedLM"]})"),
            encoder + h * h + h + 2 * h + 30522);
  EXPECT_EQ(parameters(bert + R"(, "architectures": ["BertForPreTraining"]})"),
            encoder + 2 * (h * h + h) + 2 * h + 30522 + 2 * h + 2);
  EXPECT_EQ(parameters(bert + R"(, "architectures": ["BertForSequenceClassification"],
                              "id2label": {"0": "a", "1": "b", "2": "c"}})"),
            encoder + h * h + h + 3 * h + 3);
  EXPECT_EQ(parameters(bert + R"(, "tie_word_embeddings": false, "architectures": ["BertForMaskedLM"]})"),
            encoder + h * h + h + 2 * h + 30522 + 30522 * h);
}

TEST(ImportHuggingface, CountsTheParametersOfT5) {
  const std::string t5 = R"({"architectures": ["T5ForConditionalGeneration"], "model_type": "t5",
    "d_model": 512, "d_kv": 64, "num_heads": 8, "d_ff": 2048, "num_layers": 6, "vocab_size": 32128)";
  const std::size_t d = 512;
  const std::size_t attention = 4 * d * d + d;
  const std::size_t feed = 2 * d * 2048 + d;
  const std::size_t rest = 32128 * d + 2 * (32 * 8 + d);  // the words; buckets and a last norm a stack
  EXPECT_EQ(parameters(t5 + "}"), rest + 6 * (attention + feed) + 6 * (2 * attention + feed));
  EXPECT_EQ(parameters(t5 + R"(, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false,
                             "num_decoder_layers": 2})"),
            rest + 32128 * d + 8 * d * 2048 + 6 * (attention + feed) + 2 * (2 * attention + feed));
  EXPECT_EQ(
      parameters(R"({"architectures": ["T5EncoderModel"], "model_type": "t5", "d_model": 512, "d_kv": 64,
    "num_heads": 8, "d_ff": 2048, "num_layers": 6, "vocab_size": 32128})"),
      32128 * d + 32 * 8 + d + 6 * (attention + feed));
}

TEST(ImportHuggingface, AgreesWithTheModelsOfTheCatalogue) {
  const Catalogue catalogue;
  for (const auto& [name, json, sequence] :
       {std::tuple("qwen-3-8b", kQwen3, 4096U), std::tuple("llama-3-8b", kLlama3, 4096U),
        std::tuple("mixtral-8x7b", kMixtral, 4096U)}) {
    SCOPED_TRACE(name);
    const Workload known = catalogue.model(name).workload;
    const Workload own = imported(json, sequence).model.workload;
    ASSERT_EQ(own.tensors.size(), known.tensors.size());
    for (std::size_t i = 0; i < own.tensors.size(); ++i) {
      EXPECT_EQ(own.tensors[i].name, known.tensors[i].name);
      EXPECT_EQ(own.tensors[i].dims, known.tensors[i].dims);
    }
    ASSERT_EQ(own.modules.size(), known.modules.size());
    for (std::size_t i = 0; i < own.modules.size(); ++i) {
      EXPECT_EQ(own.modules[i].name, known.modules[i].name);
      EXPECT_EQ(own.modules[i].forward_flops, known.modules[i].forward_flops);
    }
  }
}

TEST(ImportHuggingface, OnlyASequenceGivesFlops) {
  const ImportedModel without = imported(kQwen3);
  EXPECT_EQ(without.model.workload.forward_flops(), 0);
  EXPECT_THAT(without.notes,
              Contains(StartsWith("no FLOPs: they need the tokens of a sample (--sequence N)")));
  const ImportedModel with = imported(kQwen3, 4096);
  EXPECT_THAT(with.notes, Contains(StartsWith("a sample is one sequence of 4,096 tokens")));
  EXPECT_THAT(with.model.summary,
              HasSubstr("8,190,735,360 parameters in 399 tensors, sequences of 4096 tokens"));
  EXPECT_EQ(refusal(kGpt2, 1025),
            "value --sequence: 1025 tokens: expected at most 1024, the model's positions");
  EXPECT_EQ(refusal(kGpt2, 1024), "nothing was thrown");
}

TEST(ImportHuggingface, SaysWhatItTookForWhatTheFileLeavesOut) {
  EXPECT_THAT(
      imported(kQwen3).notes,
      Contains("qwen3 (Qwen3ForCausalLM): 8,190,735,360 parameters in 399 tensors, to compare with what "
               "the publisher states"));
  EXPECT_THAT(imported(kQwen3).notes,
              Contains("the head, where there is one, is a tensor of its own, as the file says"));
  EXPECT_THAT(imported(kMistral).notes,
              Contains(HasSubstr("(tie_word_embeddings is absent: the library's default for "
                                 "mistral)")));
  EXPECT_THAT(imported(kGpt2).notes, Contains(StartsWith("the head is the word embedding's tensor")));
  EXPECT_THAT(
      imported(kQwen3).notes,
      Contains("the weights are bfloat16; the gradients' type is not in the file: a query takes it with "
               "--grad-dtype"));
  const std::string many = R"({"model_type": "llama", "hidden_size": 8, "intermediate_size": 16,
    "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": 10, "quantization_config": {"bits": 4}})";
  EXPECT_THAT(imported(many).notes, Contains(StartsWith("num_key_value_heads is absent")));
  EXPECT_THAT(imported(many).notes, Contains(StartsWith("quantization_config is ignored")));
}

TEST(ImportHuggingface, AFamilysOwnPartsAreThere) {
  const auto tensors = [](const std::string& model_type, const std::string& more) {
    std::vector<std::string> names;
    const std::string json = R"({"model_type": ")" + model_type +
                             R"(", "hidden_size": 8, "intermediate_size": 16, "num_attention_heads": 2,
      "num_key_value_heads": 1, "num_hidden_layers": 2, "vocab_size": 10, "head_dim": 4)" +
                             more + "}";
    for (const Tensor& tensor : imported(json).model.workload.tensors) {
      names.push_back(tensor.name);
    }
    return names;
  };
  const auto biased = tensors("llama", R"(, "attention_bias": true, "mlp_bias": true)");
  EXPECT_THAT(biased, Contains("model.layers.1.self_attn.o_proj.bias"));
  EXPECT_THAT(biased, Contains("model.layers.1.mlp.down_proj.bias"));
  EXPECT_THAT(tensors("qwen2", ""), Contains("model.layers.0.self_attn.q_proj.bias"));
  EXPECT_THAT(tensors("qwen2", ""), Not(Contains("model.layers.0.self_attn.o_proj.bias")));
  EXPECT_THAT(tensors("gemma2", ""), Contains("model.layers.0.post_feedforward_layernorm.weight"));
  EXPECT_THAT(tensors("gemma2", ""), Not(Contains("lm_head.weight")));
  EXPECT_THAT(tensors("gemma3_text", ""), Contains("model.layers.0.self_attn.k_norm.weight"));
  EXPECT_THAT(tensors("phi3", ""), Contains("model.layers.0.mlp.gate_up_proj.weight"));
  EXPECT_THAT(tensors("llama", R"(, "architectures": ["LlamaModel"])"), Not(Contains("lm_head.weight")));
  const std::string experts = R"(, "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 4)";
  const auto qwen = tensors("qwen3_moe", experts + R"(, "mlp_only_layers": [0])");
  EXPECT_THAT(qwen, Contains("model.layers.0.mlp.down_proj.weight"));
  EXPECT_THAT(qwen, Contains("model.layers.1.mlp.experts.1.down_proj.weight"));
  const auto shared =
      tensors("qwen2_moe", experts + R"(, "decoder_sparse_step": 2, "shared_expert_intermediate_size": 4)");
  EXPECT_THAT(shared, Contains("model.layers.0.mlp.up_proj.weight"));
  EXPECT_THAT(shared, Contains("model.layers.1.mlp.shared_expert_gate.weight"));
}

TEST(ImportHuggingface, LatentAttentionAndSharedExpertsAddUp) {
  const std::string json = R"({"architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3",
    "hidden_size": 16, "intermediate_size": 32, "moe_intermediate_size": 8, "num_attention_heads": 2,
    "num_key_value_heads": 2, "num_hidden_layers": 3, "first_k_dense_replace": 1, "n_routed_experts": 4,
    "n_shared_experts": 2, "num_experts_per_tok": 2, "kv_lora_rank": 6, "q_lora_rank": 10,
    "qk_nope_head_dim": 4, "qk_rope_head_dim": 2, "v_head_dim": 5, "vocab_size": 100,
    "tie_word_embeddings": false})";
  // q: 16 x 10, its norm, 10 x 2 heads of 6; keys and values: 16 x (6 + 2), a norm of 6, 6 x 2 heads of 4 +
  // 5; output: 2 heads of 5 x 16.
  const std::size_t attention = 160 + 10 + 120 + 128 + 6 + 108 + 160;
  const std::size_t dense = 3 * 16 * 32;
  const std::size_t sparse = 4 * 3 * 16 * 8 + 4 * 16 + 3 * 16 * 16;
  EXPECT_EQ(parameters(json), 2 * 1600 + 3 * (attention + 32) + dense + 2 * sparse + 16);
  // Products of one token: those of every matrix but the words, of half the experts, plus norms and
  // attention.
  const double products = 3 * (160 + 120 + 128 + 108 + 160) + dense + 2 * (2 * 3 * 16 * 8 + 64 + 768) + 1600;
  const double norms = 3 * (10 + 6 + 32) + 16;
  const double core = 3 * 2 * 2 * (6 + 5);
  EXPECT_EQ(imported(json, 1).model.workload.forward_flops(), 2 * products + norms + core);
}

TEST(ImportHuggingface, TextConfigStandsForTheTextAlone) {
  const std::string json = R"({"architectures": ["LlavaForConditionalGeneration"], "model_type": "llava",
    "tie_word_embeddings": true, "vision_config": {}, "text_config": {"model_type": "llama", "hidden_size": 8,
    "intermediate_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "num_key_value_heads": 1,
    "vocab_size": 10, "dtype": "float16"}})";
  const ImportedModel model = imported(json);
  EXPECT_EQ(model.model.workload.elements(), 80 + 2 * 64 + 2 * 32 + 3 * 128 + 3 * 8U);
  EXPECT_THAT(model.notes,
              Contains("only text_config is read: the other parts of llava are left out of every count"));
  EXPECT_THAT(model.notes, Contains(StartsWith("the weights are float16;")));
}

TEST(ImportHuggingface, AHeadThatIsNotThereIsNotTied) {
  const auto notes = [](const std::string& architecture) {
    return imported(std::string(kBert) + R"(, "architectures": [")" + architecture + "\"]}").notes;
  };
  EXPECT_THAT(notes("BertModel"), Not(Contains(HasSubstr("the head is"))));
  EXPECT_THAT(notes("BertForMaskedLM"), Contains(StartsWith("the head is the word embedding's tensor")));
}

TEST(ImportHuggingface, WhatWouldBeAnotherModelIsRefused) {
  EXPECT_EQ(refusal(kBert + std::string(R"(, "architectures": ["LlamaForCausalLM"]})")),
            "file config.json: /architectures: \"LlamaForCausalLM\" is no class of the model_type \"bert\": "
            "expected a class such as the library has for it, whose name begins with \"bert\" in any case");
  std::string qwen = kQwen3;
  qwen.replace(qwen.find("Qwen3For"), 8, "Qwen3MoeFor");
  EXPECT_THAT(refusal(qwen), HasSubstr("\"Qwen3MoeForCausalLM\" is no class of the model_type \"qwen3\""));
  EXPECT_THAT(refusal(kBert + std::string(R"(, "is_decoder": true, "add_cross_attention": true})")),
              StartsWith("file config.json: /add_cross_attention: is true"));
  EXPECT_EQ(parameters(kBert + std::string(R"(, "add_cross_attention": false})")),
            parameters(kBert + std::string("}")));
  std::string original = kBert + std::string("}");
  original.erase(original.find("\"model_type\""), std::string_view("\"model_type\": \"bert\", ").size());
  EXPECT_THAT(refusal(original),
              HasSubstr("\"model_type\" is missing: expected \"model_type\": \"bert\" added"));
}

TEST(ImportHuggingface, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(
      refusal(R"({"model_type": "qwen4"})"),
      StartsWith("file config.json: /model_type: unknown model_type \"qwen4\": expected one of llama, "));
  EXPECT_THAT(refusal(R"({"model_type": "qwen4"})"), HasSubstr("(did you mean qwen"));
  EXPECT_THAT(refusal(R"({"model_type": "llava", "text_config": {"model_type": "lama"}})"),
              StartsWith("file config.json: /text_config/model_type: unknown model_type \"lama\""));
  EXPECT_THAT(refusal(R"({"hidden_size": 768})"),
              StartsWith("file config.json: the key \"model_type\" is missing: expected one of "));
  EXPECT_THAT(refusal(""), StartsWith("file config.json: is empty"));
  EXPECT_THAT(refusal("[]"), StartsWith("file config.json: is a list"));
  EXPECT_THAT(refusal(R"({"model_type": "gpt2")"), StartsWith("file config.json:1:22: syntax error"));
  const auto with = [](const std::string& key, const std::string& value) {
    std::string json = kQwen3;
    const std::size_t at = json.find("\"" + key + "\"");
    json.replace(at, json.find_first_of(",}", at) - at, "\"" + key + "\": " + value);
    return refusal(json);
  };
  EXPECT_EQ(with("hidden_size", "null"),
            "file config.json: the key \"hidden_size\" is missing: expected a whole number");
  for (const char* value : {"-1", "0", "1.5", "1e300", "2000000000", "\"4096\"", "[1]", "true"}) {
    EXPECT_THAT(with("hidden_size", value), StartsWith("file config.json: /hidden_size: ")) << value;
  }
  EXPECT_EQ(with("num_key_value_heads", "5"),
            "file config.json: 32 heads cannot share 5 key/value heads: expected a num_key_value_heads that "
            "divides "
            "num_attention_heads");
  EXPECT_THAT(with("vocab_size", "1000000000000"), HasSubstr("is out of range: expected 1 to 1000000000"));
  EXPECT_THAT(with("num_hidden_layers", "900000000"),
              HasSubstr("describes more than 1e15 parameters or 200,000 tensors"));
  EXPECT_THAT(with("tie_word_embeddings", "1"),
              StartsWith("file config.json: /tie_word_embeddings: is a number"));
  EXPECT_THAT(with("architectures", "[3]"), StartsWith("file config.json: "));
}

}  // namespace
}  // namespace breakeven
