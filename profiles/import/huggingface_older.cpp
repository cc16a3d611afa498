// GPT-2, BERT, RoBERTa and T5 as Hugging Face Transformers builds them.
#include <algorithm>

#include "profiles/import/huggingface_parts.h"

namespace breakeven {
namespace {

constexpr std::size_t kDefaultLabels = 2;  // of the library's num_labels

void gpt2(const HfModel& m) {
  const std::size_t h = m.config.count({"n_embd", "hidden_size"});
  const std::size_t layers = m.config.count({"n_layer", "num_hidden_layers"});
  const std::size_t vocabulary = m.config.count({"vocab_size"});
  const std::size_t positions = m.config.count({"n_positions", "max_position_embeddings", "n_ctx"});
  const std::size_t inner = m.config.count_or("n_inner", 4 * h);
  (void)m.config.share(h, m.config.count({"n_head", "num_attention_heads"}), "n_embd");
  const double s = m.positions;
  const double elements = s * static_cast<double>(h);
  const std::string architecture = m.config.architecture();
  const bool head = architecture.empty() || architecture == "GPT2LMHeadModel";
  if (!head) {
    m.notes.push_back(architecture + ": the language model's head is left out, and so is any other");
  }
  m.tensors.add("transformer.wte.weight", {vocabulary, h});
  m.tensors.add("transformer.wpe.weight", {positions, h});
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string layer = "transformer.h." + std::to_string(i) + ".";
    m.tensors.norm(layer + "ln_1", h, elements, true);
    m.tensors.transposed_linear(layer + "attn.c_attn", h, 3 * h, s, 4 * s * elements);
    m.tensors.transposed_linear(layer + "attn.c_proj", h, h, s);
    m.tensors.norm(layer + "ln_2", h, elements, true);
    m.tensors.transposed_linear(layer + "mlp.c_fc", h, inner, s);
    m.tensors.transposed_linear(layer + "mlp.c_proj", inner, h, s);
  }
  const double tied_head = head && m.tied ? 2 * elements * static_cast<double>(vocabulary) : 0;
  m.tensors.norm("transformer.ln_f", h, elements, true, tied_head);
  if (head && !m.tied) {
    m.tensors.linear("lm_head", h, vocabulary, s, false);
  }
}

/// What BERT and RoBERTa share.
struct Encoder {
  std::size_t hidden, vocabulary;
  double positions, elements;
};

Encoder add_encoder(const HfModel& m, const std::string& prefix) {
  const std::size_t h = m.config.count({"hidden_size"});
  const std::size_t vocabulary = m.config.count({"vocab_size"});
  const std::size_t inner = m.config.count({"intermediate_size"});
  const std::size_t layers = m.config.count({"num_hidden_layers"});
  (void)m.config.share(h, m.config.count({"num_attention_heads"}), "hidden_size");
  const double s = m.positions;
  const double elements = s * static_cast<double>(h);
  m.tensors.add(prefix + "embeddings.word_embeddings.weight", {vocabulary, h});
  m.tensors.add(prefix + "embeddings.position_embeddings.weight",
                {m.config.count({"max_position_embeddings"}), h});
  m.tensors.add(prefix + "embeddings.token_type_embeddings.weight", {m.config.count({"type_vocab_size"}), h});
  m.tensors.norm(prefix + "embeddings.LayerNorm", h, elements, true);
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string layer = prefix + "encoder.layer." + std::to_string(i) + ".";
    m.tensors.linear(layer + "attention.self.query", h, h, s, true);
    m.tensors.linear(layer + "attention.self.key", h, h, s, true);
    m.tensors.linear(layer + "attention.self.value", h, h, s, true, 4 * s * elements);
    m.tensors.linear(layer + "attention.output.dense", h, h, s, true);
    m.tensors.norm(layer + "attention.output.LayerNorm", h, elements, true);
    m.tensors.linear(layer + "intermediate.dense", h, inner, s, true);
    m.tensors.linear(layer + "output.dense", inner, h, s, true);
    m.tensors.norm(layer + "output.LayerNorm", h, elements, true);
  }
  return {h, vocabulary, s, elements};
}

/// Guesses the masked words from every position; the last product is with the word embedding.
void add_masked_word_head(const HfModel& m, const Encoder& encoder, const std::string& head,
                          const std::string& dense, const std::string& norm) {
  const double product = 2 * encoder.elements * static_cast<double>(encoder.vocabulary);
  m.tensors.add(head + "bias", {encoder.vocabulary},
                encoder.positions * static_cast<double>(encoder.vocabulary));
  m.tensors.linear(dense, encoder.hidden, encoder.hidden, encoder.positions, true);
  m.tensors.norm(norm, encoder.hidden, encoder.elements, true, m.tied ? product : 0);
  if (!m.tied) {
    m.tensors.add(head + "decoder.weight", {encoder.vocabulary, encoder.hidden}, product);
  }
}

void note_head(const HfModel& m, const std::string& architecture, const std::string& name, bool known) {
  if (architecture.empty()) {
    m.notes.push_back("architectures is absent: " + name + ", without a head");
  } else if (!known) {
    m.notes.push_back("the head of " + architecture + " is not known: it is left out");
  }
}

void bert(const HfModel& m) {
  const std::string architecture = m.config.architecture();
  const bool alone = architecture.empty() || architecture == "BertModel";
  const bool masked = architecture == "BertForMaskedLM";
  const bool pretraining = architecture == "BertForPreTraining";
  const bool classifier = architecture == "BertForSequenceClassification";
  const Encoder encoder = add_encoder(m, alone ? "" : "bert.");
  const std::size_t h = encoder.hidden;
  const double samples = m.positions > 0 ? 1 : 0;  // one position of each
  if (alone || pretraining || classifier) {
    m.tensors.linear(alone ? "pooler.dense" : "bert.pooler.dense", h, h, samples, true);
  }
  if (masked || pretraining) {
    add_masked_word_head(m, encoder, "cls.predictions.", "cls.predictions.transform.dense",
                         "cls.predictions.transform.LayerNorm");
  }
  if (pretraining) {
    m.tensors.linear("cls.seq_relationship", h, 2, samples, true);
  }
  if (classifier) {
    const auto labels = m.config.find("id2label");
    m.tensors.linear("classifier", h,
                     labels ? std::max<std::size_t>(labels->keys().size(), 1) : kDefaultLabels, samples,
                     true);
  }
  note_head(m, architecture, "BertModel", alone || masked || pretraining || classifier);
}

void roberta(const HfModel& m) {
  const std::string architecture = m.config.architecture();
  const bool alone = architecture.empty() || architecture == "RobertaModel";
  const bool masked = architecture == "RobertaForMaskedLM";
  const Encoder encoder = add_encoder(m, alone ? "" : "roberta.");
  if (alone) {
    m.tensors.linear("pooler.dense", encoder.hidden, encoder.hidden, m.positions > 0 ? 1 : 0, true);
  }
  if (masked) {
    add_masked_word_head(m, encoder, "lm_head.", "lm_head.dense", "lm_head.layer_norm");
  }
  note_head(m, architecture, "RobertaModel", alone || masked);
}

struct T5 {
  std::size_t width, inner, heads, head_dim, buckets;
  bool gated;
};

/// Queries, keys, values, output and norm; the first layer's buckets of distances are all layers'.
void add_t5_attention(const HfModel& m, const T5& t, const std::string& layer, const std::string& name,
                      bool buckets) {
  const double s = m.positions;
  const std::size_t width = t.heads * t.head_dim;
  m.tensors.linear(layer + name + ".q", t.width, width, s, false);
  m.tensors.linear(layer + name + ".k", t.width, width, s, false);
  m.tensors.linear(layer + name + ".v", t.width, width, s, false, 4 * s * s * static_cast<double>(width));
  m.tensors.linear(layer + name + ".o", width, t.width, s, false);
  if (buckets) {
    m.tensors.add(layer + name + ".relative_attention_bias.weight", {t.buckets, t.heads});
  }
  m.tensors.norm(layer + "layer_norm", t.width, s * static_cast<double>(t.width), false);
}

void add_t5_stack(const HfModel& m, const T5& t, const std::string& stack, std::size_t layers, bool decoder,
                  bool tied_head) {
  const double s = m.positions;
  const double elements = s * static_cast<double>(t.width);
  for (std::size_t i = 0; i < layers; ++i) {
    const std::string block = stack + "block." + std::to_string(i) + ".layer.";
    add_t5_attention(m, t, block + "0.", "SelfAttention", i == 0);
    if (decoder) {
      add_t5_attention(m, t, block + "1.", "EncDecAttention", false);
    }
    const std::string feed = block + (decoder ? "2." : "1.");
    for (const char* name : {"wi_0", "wi_1"}) {
      if (t.gated) {
        m.tensors.linear(feed + "DenseReluDense." + name, t.width, t.inner, s, false);
      }
    }
    if (!t.gated) {
      m.tensors.linear(feed + "DenseReluDense.wi", t.width, t.inner, s, false);
    }
    m.tensors.linear(feed + "DenseReluDense.wo", t.inner, t.width, s, false);
    m.tensors.norm(feed + "layer_norm", t.width, elements, false);
  }
  const double words = tied_head ? 2 * elements * static_cast<double>(m.config.count({"vocab_size"})) : 0;
  m.tensors.norm(stack + "final_layer_norm", t.width, elements, false, words);
}

void t5(const HfModel& m) {
  const std::size_t vocabulary = m.config.count({"vocab_size"});
  const auto feed = m.config.find("feed_forward_proj");
  const T5 t{m.config.count({"d_model"}),
             m.config.count({"d_ff"}),
             m.config.count({"num_heads"}),
             m.config.count({"d_kv"}),
             m.config.count_or("relative_attention_num_buckets", 32),
             feed && feed->text().starts_with("gated-")};
  const std::size_t layers = m.config.count({"num_layers"});
  const std::string architecture = m.config.architecture();
  const bool whole = architecture != "T5EncoderModel";
  const bool head = architecture != "T5Model";
  m.tensors.add("shared.weight", {vocabulary, t.width});
  add_t5_stack(m, t, "encoder.", layers, false, false);
  if (!whole) {
    return;
  }
  add_t5_stack(m, t, "decoder.", m.config.count_or("num_decoder_layers", layers), true, head && m.tied);
  if (head && !m.tied) {
    m.tensors.linear("lm_head", t.width, vocabulary, m.positions, false);
  }
  if (m.positions > 0) {
    m.notes.emplace_back("the decoder's sequence is taken to be as long as the encoder's");
  }
}

}  // namespace

std::vector<HfFamily> huggingface_older_families() {
  return {{"gpt2", true, "n_positions", 0, gpt2},
          {"bert", true, "max_position_embeddings", 0, bert},
          {"roberta", true, "max_position_embeddings", 2, roberta},  // positions start behind the padding's
          {"t5", true, {}, 0, t5}};
}

}  // namespace breakeven
