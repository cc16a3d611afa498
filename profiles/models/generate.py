#!/usr/bin/env python3
"""Writes the transformer models of this folder that are made from their configuration, and checks their parameter totals.

Run it from anywhere; it needs only the standard library. It rewrites the files next to it, prints one line a model and
exits with 1 when a total differs from the published one.

Rules: 1 multiply-add = 2 FLOP; linear 2*in*out*positions; a bias or a norm parameter 1 per output element; embedding 0;
attention core 4*S*S*width, the full square (no causal saving), charged to the value projection; a tied head 2*S*h*V,
charged to the norm in front of it. FLOPs are forward, for one sample = one sequence of S tokens.
"""

import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


class Model:
    def __init__(self, name, summary, source, total):
        self.name, self.summary, self.source, self.total = name, summary, source, total
        self.rows = []

    def add(self, name, dims, flops=0):
        self.rows.append((name, dims, flops))

    def linear(self, name, inputs, outputs, positions, bias=True, extra=0):
        """PyTorch's nn.Linear: weight [outputs, inputs]."""
        self.add(name + ".weight", (outputs, inputs), 2 * inputs * outputs * positions + extra)
        if bias:
            self.add(name + ".bias", (outputs,), outputs * positions)

    def norm(self, name, width, elements, bias=True, extra=0):
        self.add(name + ".weight", (width,), elements + extra)
        if bias:
            self.add(name + ".bias", (width,), elements)

    def parameters(self):
        count = 0
        for _, dims, _ in self.rows:
            product = 1
            for dim in dims:
                product *= dim
            count += product
        return count

    def timings(self):
        """Measured times are entered by hand: what stands in the file stays."""
        path = FOLDER / (self.name + ".json")
        known = json.loads(path.read_text(encoding="utf-8")).get("timings") if path.exists() else None
        return ["  " + f'"timings": {json.dumps(known, indent=2)},'.replace("\n", "\n  ")] if known else []

    def write(self):
        head = [f'  "schema": 1,', f'  "name": {json.dumps(self.name)},', f'  "summary": {json.dumps(self.summary)},',
                f'  "source": {json.dumps(self.source)},', *self.timings(), '  "tensors": [']
        rows = [f'    [{json.dumps(name)}, "{"x".join(map(str, dims))}", {flops}]' for name, dims, flops in self.rows]
        text = "{\n" + "\n".join(head) + "\n" + ",\n".join(rows) + "\n  ]\n}\n"
        (FOLDER / f"{self.name}.json").write_text(text, encoding="utf-8")


def llama_block(m, prefix, h, heads, kv_heads, head_dim, s, qk_norm=False):
    """Attention of Llama, Qwen 3 and Mixtral (grouped queries), in the registration order of Hugging Face Transformers."""
    width, kv_width = heads * head_dim, kv_heads * head_dim
    m.linear(prefix + "self_attn.q_proj", h, width, s, bias=False)
    m.linear(prefix + "self_attn.k_proj", h, kv_width, s, bias=False)
    m.linear(prefix + "self_attn.v_proj", h, kv_width, s, bias=False, extra=4 * s * s * width)
    m.linear(prefix + "self_attn.o_proj", width, h, s, bias=False)
    if qk_norm:
        m.norm(prefix + "self_attn.q_norm", head_dim, s * width, bias=False)
        m.norm(prefix + "self_attn.k_norm", head_dim, s * kv_width, bias=False)


def decoder(m, layers, h, ffn, heads, kv_heads, vocabulary, s, head_dim=128, qk_norm=False, experts=0, active=0):
    m.add("model.embed_tokens.weight", (vocabulary, h))
    for layer in range(layers):
        prefix = f"model.layers.{layer}."
        llama_block(m, prefix, h, heads, kv_heads, head_dim, s, qk_norm)
        if experts:
            moe = prefix + "block_sparse_moe."
            m.linear(moe + "gate", h, experts, s, bias=False)
            tokens = s * active // experts  # balanced routing: each expert sees its share
            for expert in range(experts):
                m.linear(f"{moe}experts.{expert}.w1", h, ffn, tokens, bias=False)
                m.linear(f"{moe}experts.{expert}.w2", ffn, h, tokens, bias=False)
                m.linear(f"{moe}experts.{expert}.w3", h, ffn, tokens, bias=False)
        else:
            m.linear(prefix + "mlp.gate_proj", h, ffn, s, bias=False)
            m.linear(prefix + "mlp.up_proj", h, ffn, s, bias=False)
            m.linear(prefix + "mlp.down_proj", ffn, h, s, bias=False)
        m.norm(prefix + "input_layernorm", h, s * h, bias=False)
        m.norm(prefix + "post_attention_layernorm", h, s * h, bias=False)
    m.norm("model.norm", h, s * h, bias=False)
    m.linear("lm_head", h, vocabulary, s, bias=False)


def gpt(m, layers, h, vocabulary, context, s):
    """GPT-2's structure; Conv1D weights are [in, out]. The head is tied to wte, whose gradient is complete last."""
    m.add("transformer.wte.weight", (vocabulary, h))
    m.add("transformer.wpe.weight", (context, h))
    for layer in range(layers):
        prefix = f"transformer.h.{layer}."
        m.norm(prefix + "ln_1", h, s * h)
        m.add(prefix + "attn.c_attn.weight", (h, 3 * h), 6 * h * h * s + 4 * s * s * h)
        m.add(prefix + "attn.c_attn.bias", (3 * h,), 3 * h * s)
        m.add(prefix + "attn.c_proj.weight", (h, h), 2 * h * h * s)
        m.add(prefix + "attn.c_proj.bias", (h,), h * s)
        m.norm(prefix + "ln_2", h, s * h)
        m.add(prefix + "mlp.c_fc.weight", (h, 4 * h), 8 * h * h * s)
        m.add(prefix + "mlp.c_fc.bias", (4 * h,), 4 * h * s)
        m.add(prefix + "mlp.c_proj.weight", (4 * h, h), 8 * h * h * s)
        m.add(prefix + "mlp.c_proj.bias", (h,), h * s)
    m.norm("transformer.ln_f", h, s * h, extra=2 * s * h * vocabulary)


def bert_pretraining(m, layers, h, vocabulary, s, positions=512):
    """BertForPreTraining: the encoder, then the masked-word head (tied to the word embedding) and the next-sentence head."""
    m.add("bert.embeddings.word_embeddings.weight", (vocabulary, h))
    m.add("bert.embeddings.position_embeddings.weight", (positions, h))
    m.add("bert.embeddings.token_type_embeddings.weight", (2, h))
    m.norm("bert.embeddings.LayerNorm", h, s * h)
    for layer in range(layers):
        prefix = f"bert.encoder.layer.{layer}."
        m.linear(prefix + "attention.self.query", h, h, s)
        m.linear(prefix + "attention.self.key", h, h, s)
        m.linear(prefix + "attention.self.value", h, h, s, extra=4 * s * s * h)
        m.linear(prefix + "attention.output.dense", h, h, s)
        m.norm(prefix + "attention.output.LayerNorm", h, s * h)
        m.linear(prefix + "intermediate.dense", h, 4 * h, s)
        m.linear(prefix + "output.dense", 4 * h, h, s)
        m.norm(prefix + "output.LayerNorm", h, s * h)
    m.linear("bert.pooler.dense", h, h, 1)
    m.add("cls.predictions.bias", (vocabulary,), s * vocabulary)
    m.linear("cls.predictions.transform.dense", h, h, s)
    m.norm("cls.predictions.transform.LayerNorm", h, s * h, extra=2 * s * h * vocabulary)
    m.linear("cls.seq_relationship", h, 2, 1)


COUNTED = "; FLOPs counted from the shapes by models/generate.py (full-square attention)"


def models():
    m = Model("llama-3-8b", "Llama 3 8B, sequences of 4096 tokens (a sample = one sequence)",
              "Hugging Face Transformers LlamaForCausalLM with the published configuration (32 layers, hidden 4096, 32 heads, 8 KV "
              "heads, FFN 14336, vocabulary 128256)" + COUNTED, 8_030_261_248)
    decoder(m, 32, 4096, 14336, 32, 8, 128256, 4096)
    yield m

    m = Model("llama-3-70b", "Llama 3 70B, sequences of 4096 tokens (a sample = one sequence)",
              "Hugging Face Transformers LlamaForCausalLM with the published configuration (80 layers, hidden 8192, 64 heads, 8 KV "
              "heads, FFN 28672, vocabulary 128256)" + COUNTED, 70_553_706_496)
    decoder(m, 80, 8192, 28672, 64, 8, 128256, 4096)
    yield m

    m = Model("qwen-3-8b", "Qwen 3 8B, sequences of 4096 tokens (a sample = one sequence)",
              "Hugging Face Transformers Qwen3ForCausalLM with the model's own config.json (36 layers, hidden 4096, 32 heads, 8 KV "
              "heads, head 128, FFN 12288, vocabulary 151936, head not tied)" + COUNTED, 8_190_735_360)
    decoder(m, 36, 4096, 12288, 32, 8, 151936, 4096, qk_norm=True)
    yield m

    m = Model("mixtral-8x7b", "Mixtral 8x7B, sequences of 4096 tokens; every worker holds the gradients of all 8 experts, "
              "FLOPs are those of the 2 active ones",
              "Hugging Face Transformers MixtralForCausalLM with the published configuration (32 layers, hidden 4096, 32 heads, 8 KV "
              "heads, 8 experts of FFN 14336, top-2, vocabulary 32000), tokens spread evenly over the experts" + COUNTED,
              46_702_792_704)
    decoder(m, 32, 4096, 14336, 32, 8, 32000, 4096, experts=8, active=2)
    yield m

    m = Model("gpt-3-175b", "GPT-3 175B, sequences of 2048 tokens (a sample = one sequence)",
              "Brown et al. 2020 (arXiv 2005.14165), table 2.1: 96 layers, width 12288, context 2048; GPT-2's structure and "
              "vocabulary of 50257 as the paper says, dense attention instead of its alternating sparse one" + COUNTED,
              174_604_259_328)
    gpt(m, 96, 12288, 50257, 2048, 2048)
    yield m

    head = ("Hugging Face Transformers BertForPreTraining, vocabulary padded to 30528 as in HKBU-HPML/ddl-benchmarks "
            "horovod/bert_benchmark.py; the masked-word head runs on every position")
    m = Model("bert-base-s64", "BERT-Base with both pre-training heads, sequences of 64 tokens", head + COUNTED, 110_111_042)
    bert_pretraining(m, 12, 768, 30528, 64)
    yield m

    m = Model("bert-large-s64", "BERT-Large with both pre-training heads, sequences of 64 tokens", head + COUNTED, 336_232_258)
    bert_pretraining(m, 24, 1024, 30528, 64)
    yield m


def main():
    wrong = 0
    for m in models():
        m.write()
        flops = sum(row[2] for row in m.rows)
        good = m.parameters() == m.total
        wrong += not good
        print(f"{m.name}: {len(m.rows)} tensors, {m.parameters():,} parameters, {flops / 1e9:,.1f} GFLOP forward"
              + ("" if good else f", expected {m.total:,}"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
