// Decoders of Hugging Face Transformers that descend from Llama: what differs between them is a row each.
#include <algorithm>
#include <array>

#include "model/error.h"
#include "profiles/import/huggingface_parts.h"
#include "profiles/import/models.h"

namespace breakeven {
namespace {

enum class Bias { none, queries_keys_values, as_configured };
enum class Feed { gated, fused, mixtral, qwen_experts, deepseek_experts };

/// The differences, as modeling_*.py and configuration_*.py of the library have them (4.51).
struct Decoder {
  Bias bias = Bias::none;
  Feed feed = Feed::gated;
  bool query_key_norms = false;      ///< over one head's width
  bool four_norms = false;           ///< before and after both halves of a layer
  bool latent_attention = false;     ///< DeepSeek's low-rank keys and values
  bool configured_mlp_bias = false;  ///< Llama's mlp_bias
  std::size_t head_dim = 0;          ///< where the file has none; 0: hidden_size / num_attention_heads
};

struct Sizes {
  std::size_t hidden, layers, heads, key_value_heads, head_dim, vocabulary;
};

Sizes sizes_of(const HfModel& m, const Decoder& decoder) {
  const HfConfig& config = m.config;
  Sizes sizes{};
  sizes.hidden = config.count({"hidden_size"});
  sizes.layers = config.count({"num_hidden_layers"});
  sizes.heads = config.count({"num_attention_heads"});
  sizes.vocabulary = config.count({"vocab_size"});
  sizes.key_value_heads = config.count_or("num_key_value_heads", sizes.heads);
  if (decoder.latent_attention) {
    return sizes;
  }
  if (!config.find("num_key_value_heads")) {
    m.notes.emplace_back("num_key_value_heads is absent: every head has its own keys and values");
  }
  if (sizes.heads % sizes.key_value_heads != 0) {
    config.json().fail(std::to_string(sizes.heads) + " heads cannot share " +
                           std::to_string(sizes.key_value_heads) + " key/value heads",
                       "a num_key_value_heads that divides num_attention_heads");
  }
  sizes.head_dim = config.find("head_dim") ? config.count({"head_dim"})
                   : decoder.head_dim != 0 ? decoder.head_dim
                                           : config.share(sizes.hidden, sizes.heads, "hidden_size");
  return sizes;
}

/// Queries, keys, values and the output; the products of queries with keys and of scores with values, the
/// full square, stand at the values.
void add_attention(const HfModel& m, const Decoder& decoder, const Sizes& z, const std::string& prefix) {
  const double s = m.positions;
  const std::size_t width = z.heads * z.head_dim;
  const std::size_t narrow = z.key_value_heads * z.head_dim;
  const double core = 4 * s * s * static_cast<double>(width);
  const bool configured = decoder.bias == Bias::as_configured && m.config.flag_or("attention_bias", false);
  if (decoder.feed == Feed::fused) {
    m.tensors.linear(prefix + "o_proj", width, z.hidden, s, false);
    m.tensors.linear(prefix + "qkv_proj", z.hidden, width + 2 * narrow, s, false, core);
    return;
  }
  const bool bias = configured || decoder.bias == Bias::queries_keys_values;
  m.tensors.linear(prefix + "q_proj", z.hidden, width, s, bias);
  m.tensors.linear(prefix + "k_proj", z.hidden, narrow, s, bias);
  m.tensors.linear(prefix + "v_proj", z.hidden, narrow, s, bias, core);
  m.tensors.linear(prefix + "o_proj", width, z.hidden, s, configured);
  if (decoder.query_key_norms) {
    m.tensors.norm(prefix + "q_norm", z.head_dim, s * static_cast<double>(width), false);
    m.tensors.norm(prefix + "k_norm", z.head_dim, s * static_cast<double>(narrow), false);
  }
}

/// DeepSeek's multi-head latent attention (arXiv 2405.04434, 2.1).
void add_latent_attention(const HfModel& m, const Sizes& z, const std::string& prefix) {
  const double s = m.positions;
  const std::size_t rotary = m.config.count({"qk_rope_head_dim"});
  const std::size_t query = m.config.count({"qk_nope_head_dim"}) + rotary;
  const std::size_t value = m.config.count({"v_head_dim"});
  const std::size_t latent = m.config.count({"kv_lora_rank"});
  const bool bias = m.config.flag_or("attention_bias", false);
  if (m.config.find("q_lora_rank")) {
    const std::size_t rank = m.config.count({"q_lora_rank"});
    m.tensors.linear(prefix + "q_a_proj", z.hidden, rank, s, bias);
    m.tensors.norm(prefix + "q_a_layernorm", rank, s * static_cast<double>(rank), false);
    m.tensors.linear(prefix + "q_b_proj", rank, z.heads * query, s, false);
  } else {
    m.tensors.linear(prefix + "q_proj", z.hidden, z.heads * query, s, false);
  }
  m.tensors.linear(prefix + "kv_a_proj_with_mqa", z.hidden, latent + rotary, s, bias);
  m.tensors.norm(prefix + "kv_a_layernorm", latent, s * static_cast<double>(latent), false);
  m.tensors.linear(prefix + "kv_b_proj", latent, z.heads * (query - rotary + value), s, false,
                   2 * s * s * static_cast<double>(z.heads * (query + value)));
  m.tensors.linear(prefix + "o_proj", z.heads * value, z.hidden, s, bias);
}

void add_gated(const HfModel& m, const std::string& prefix, std::size_t hidden, std::size_t inner,
               double positions, bool bias, const std::array<const char*, 3>& names) {
  for (const char* name : names) {
    const bool back = std::string_view(name) == "down_proj" || std::string_view(name) == "w2";
    m.tensors.linear(prefix + name, back ? inner : hidden, back ? hidden : inner, positions, bias);
  }
}

constexpr std::array<const char*, 3> kGated = {"gate_proj", "up_proj", "down_proj"};

struct Experts {
  std::size_t number, active, inner;
};

Experts experts_of(const HfModel& m, Feed feed) {
  Experts experts{};
  experts.number = m.config.count({"num_experts", "n_routed_experts", "num_local_experts"});
  experts.active = m.config.count({"num_experts_per_tok"});
  experts.inner = m.config.count({feed == Feed::mixtral ? "intermediate_size" : "moe_intermediate_size"});
  if (experts.active > experts.number) {
    m.config.json().fail("num_experts_per_tok is " + std::to_string(experts.active),
                         "at most the number of experts, " + std::to_string(experts.number));
  }
  return experts;
}

/// Tokens spread evenly: each expert sees its share of them.
void add_experts(const HfModel& m, const Decoder& decoder, const Sizes& z, const std::string& layer) {
  const Experts experts = experts_of(m, decoder.feed);
  const double s = m.positions;
  const bool mixtral = decoder.feed == Feed::mixtral;
  const bool deepseek = decoder.feed == Feed::deepseek_experts;
  const std::string prefix = layer + (mixtral ? "block_sparse_moe." : "mlp.");
  const double tokens = s * static_cast<double>(experts.active) / static_cast<double>(experts.number);
  if (!deepseek) {
    m.tensors.linear(prefix + "gate", z.hidden, experts.number, s, false);
  }
  for (std::size_t i = 0; i < experts.number; ++i) {
    add_gated(m, prefix + "experts." + std::to_string(i) + ".", z.hidden, experts.inner, tokens, false,
              mixtral ? std::array<const char*, 3>{"w1", "w2", "w3"} : kGated);
  }
  if (deepseek) {
    m.tensors.linear(prefix + "gate", z.hidden, experts.number, s, false);
    if (m.config.find("n_shared_experts")) {
      add_gated(m, prefix + "shared_experts.", z.hidden, experts.inner * m.config.count({"n_shared_experts"}),
                s, false, kGated);
    }
  } else if (m.config.find("shared_expert_intermediate_size")) {
    add_gated(m, prefix + "shared_expert.", z.hidden, m.config.count({"shared_expert_intermediate_size"}), s,
              false, kGated);
    m.tensors.linear(prefix + "shared_expert_gate", z.hidden, 1, s, false);
  }
}

/// Whether layer `index` has experts.
bool is_sparse(const HfModel& m, Feed feed, std::size_t index) {
  if (feed == Feed::mixtral) {
    return true;
  }
  if (feed == Feed::deepseek_experts) {
    const auto dense = m.config.find("first_k_dense_replace");
    return index >= (dense ? dense->count() : 0);
  }
  if (const auto dense = m.config.find("mlp_only_layers")) {
    for (const Json& layer : dense->list()) {
      if (layer.count() == index) {
        return false;
      }
    }
  }
  return (index + 1) % m.config.count_or("decoder_sparse_step", 1) == 0;
}

void add_feed_forward(const HfModel& m, const Decoder& decoder, const Sizes& z, const std::string& layer,
                      std::size_t index) {
  const bool experts = decoder.feed != Feed::gated && decoder.feed != Feed::fused;
  if (experts && is_sparse(m, decoder.feed, index)) {
    add_experts(m, decoder, z, layer);
    return;
  }
  const std::size_t inner = m.config.count({"intermediate_size"});
  if (decoder.feed == Feed::fused) {
    m.tensors.linear(layer + "mlp.gate_up_proj", z.hidden, 2 * inner, m.positions, false);
    m.tensors.linear(layer + "mlp.down_proj", inner, z.hidden, m.positions, false);
    return;
  }
  const bool bias = decoder.configured_mlp_bias && m.config.flag_or("mlp_bias", false);
  add_gated(m, layer + "mlp.", z.hidden, inner, m.positions, bias, kGated);
}

void add_layer(const HfModel& m, const Decoder& decoder, const Sizes& z, std::size_t index) {
  const std::string layer = "model.layers." + std::to_string(index) + ".";
  if (decoder.latent_attention) {
    add_latent_attention(m, z, layer + "self_attn.");
  } else {
    add_attention(m, decoder, z, layer + "self_attn.");
  }
  add_feed_forward(m, decoder, z, layer, index);
  const double elements = m.positions * static_cast<double>(z.hidden);
  m.tensors.norm(layer + "input_layernorm", z.hidden, elements, false);
  m.tensors.norm(layer + "post_attention_layernorm", z.hidden, elements, false);
  if (decoder.four_norms) {
    m.tensors.norm(layer + "pre_feedforward_layernorm", z.hidden, elements, false);
    m.tensors.norm(layer + "post_feedforward_layernorm", z.hidden, elements, false);
  }
}

void build(const HfModel& m, const Decoder& decoder) {
  const Sizes z = sizes_of(m, decoder);
  const std::string architecture = m.config.architecture();
  const bool head = architecture.empty() || architecture.ends_with("ForCausalLM") ||
                    architecture.ends_with("ForConditionalGeneration");
  if (!head) {
    m.notes.push_back(architecture + ": the language model's head is left out, and so is any other");
  }
  m.tensors.add("model.embed_tokens.weight", {z.vocabulary, z.hidden});
  for (std::size_t i = 0; i < z.layers; ++i) {
    add_layer(m, decoder, z, i);
  }
  const double tied_head =
      head && m.tied ? 2 * m.positions * static_cast<double>(z.hidden) * static_cast<double>(z.vocabulary)
                     : 0;
  m.tensors.norm("model.norm", z.hidden, m.positions * static_cast<double>(z.hidden), false, tied_head);
  if (head && !m.tied) {
    m.tensors.linear("lm_head", z.hidden, z.vocabulary, m.positions, false);
  }
}

void llama(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .configured_mlp_bias = true});
}
void mistral(const HfModel& m) {
  build(m, {});
}
void mixtral(const HfModel& m) {
  build(m, {.feed = Feed::mixtral});
}
void qwen2(const HfModel& m) {
  build(m, {.bias = Bias::queries_keys_values});
}
void qwen2_moe(const HfModel& m) {
  build(m, {.bias = Bias::queries_keys_values, .feed = Feed::qwen_experts});
}
void qwen3(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .query_key_norms = true, .head_dim = 128});
}
void qwen3_moe(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .feed = Feed::qwen_experts, .query_key_norms = true});
}
void gemma(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .head_dim = 256});
}
void gemma2(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .four_norms = true, .head_dim = 256});
}
void gemma3(const HfModel& m) {
  build(m, {.bias = Bias::as_configured, .query_key_norms = true, .four_norms = true, .head_dim = 256});
}
void phi3(const HfModel& m) {
  build(m, {.feed = Feed::fused});
}
void deepseek(const HfModel& m) {
  build(m, {.feed = Feed::deepseek_experts, .latent_attention = true});
}

}  // namespace

std::vector<HfFamily> huggingface_decoders() {
  return {{"llama", false, {}, 0, llama},         {"mistral", false, {}, 0, mistral},
          {"mixtral", false, {}, 0, mixtral},     {"qwen2", false, {}, 0, qwen2},
          {"qwen2_moe", false, {}, 0, qwen2_moe}, {"qwen3", false, {}, 0, qwen3},
          {"qwen3_moe", false, {}, 0, qwen3_moe}, {"gemma", true, {}, 0, gemma},
          {"gemma2", true, {}, 0, gemma2},        {"gemma3_text", true, {}, 0, gemma3},
          {"phi3", false, {}, 0, phi3},           {"deepseek_v2", false, {}, 0, deepseek},
          {"deepseek_v3", false, {}, 0, deepseek}};
}

}  // namespace breakeven
