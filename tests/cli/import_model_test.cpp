// Does the description of a model become one that a query takes?
#include <gmock/gmock.h>

#include "profiles/read.h"
#include "tests/cli/files.h"
#include "tests/cli/support.h"

namespace breakeven::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const char* const kConfig = R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 128,
  "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16, "num_hidden_layers": 28,
  "num_key_value_heads": 8, "tie_word_embeddings": true, "torch_dtype": "bfloat16", "vocab_size": 151936})";

class ImportModel : public WithFiles {
 protected:
  [[nodiscard]] Result queried(const std::string& model, const std::vector<std::string>& more) const {
    return invoke(joined(
        {"query", "--model", model, "--workers", "16", "--bandwidth", "10Gbps", "-s", "powersgd:rank=4"},
        more));
  }
};

TEST_F(ImportModel, AConfigWithASequenceIsAllThatAQueryNeeds) {
  const std::string model = path("mine.json");
  const Result result = invoke({"import", "huggingface", write("config.json", kConfig), "--sequence", "2048",
                                "--name", "mine", "-o", model});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              StartsWith("breakeven: qwen3 (Qwen3ForCausalLM): 596,049,920 parameters in 310 tensors"));
  const Result query = queried(model, {"--device", "h100", "--batch", "4", "--grad-dtype", "bf16"});
  EXPECT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out, HasSubstr("mine · batch 4 · 16 x h100"));
}

TEST_F(ImportModel, WithoutASequenceAQueryAsksForTimes) {
  const std::string model = path("mine.json");
  ASSERT_EQ(invoke({"import", "huggingface", write("config.json", kConfig), "-q", "-o", model}).err, "");
  EXPECT_THAT(
      queried(model, {"--device", "h100", "--batch", "4"}).err,
      HasSubstr("--backward: is missing: expected --backward, or --throughput and --batch: the model states "
                "no FLOPs"));
  EXPECT_EQ(queried(model, {"--backward", "100ms"}).status, kAnswered);
}

TEST_F(ImportModel, ATableWithTimesIsAMeasuredRun) {
  const std::string model = path("net.json");
  const std::string table = write(
      "net.csv", "tensor,rows,cols,grad_ready_us\na.weight,4096,1024,90000\nb.weight,1024,1024,20000\n");
  const Result result = invoke(
      {"import", "csv", table, "--device", "v100", "--batch", "8", "--compute-dtype", "fp32", "-o", model});
  ASSERT_EQ(result.status, kAnswered) << result.err;
  EXPECT_EQ(result.err.find("warning"), std::string::npos) << result.err;
  const Result query = queried(model, {"--device", "v100", "--batch", "8", "--format", "json"});
  EXPECT_EQ(query.status, kAnswered) << query.err;
  EXPECT_THAT(query.out, HasSubstr("0.09"));
  EXPECT_THAT(invoke({"import", "csv", table}).err, HasSubstr("warning: --batch is not given"));
  EXPECT_THAT(invoke({"import", "csv", table, "--device", "v10"}).err, HasSubstr("did you mean v100?"));
  const std::string plain = write("plain.csv", "tensor,rows,cols\na.weight,4096,1024\n");
  EXPECT_THAT(invoke({"import", "csv", plain, "--batch", "8"}).err, HasSubstr("--batch is not used"));
}

TEST_F(ImportModel, APrintedTableAndACheckpointAreModelsToo) {
  const std::string printed = write("net.txt",
                                    "Layer (type:depth-idx)      Output Shape       Param #     Mult-Adds\n"
                                    "Net                         [4, 10]            --          --\n"
                                    "├─Linear: 1-1               [4, 100]           10,100      40,400\n"
                                    "Trainable params: 10,100\n");
  const std::string model = path("net.json");
  ASSERT_EQ(invoke({"import", "torchinfo", printed, "-o", model}).status, kAnswered);
  EXPECT_EQ(queried(model, {"--device", "v100", "--batch", "8"}).status, kAnswered);
  const std::string head = R"({"w": {"dtype": "F32", "shape": [100, 100], "data_offsets": [0, 40000]}})";
  const std::string length = std::string(1, static_cast<char>(head.size())) + std::string(7, '\0');
  ASSERT_EQ(invoke({"import", "safetensors", write("m.safetensors", length + head), "-o", model}).status,
            kAnswered);
  EXPECT_EQ(queried(model, {"--backward", "10ms"}).status, kAnswered);
}

TEST_F(ImportModel, WhatCannotBeImportedIsSaidInOneLine) {
  const auto refused = [](const std::vector<std::string>& arguments, int status) {
    const Result result = invoke(joined({"import"}, arguments));
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    return result.err;
  };
  const std::string config = write("config.json", kConfig);
  EXPECT_EQ(refused({"huggingface", config, "--device", "v100"}, kUsage),
            "breakeven: error: --device: does not apply to huggingface: expected it left out\n");
  EXPECT_THAT(refused({"safetensors", config, "--sequence", "8"}, kUsage),
              StartsWith("breakeven: error: --sequence: does not apply to safetensors"));
  EXPECT_THAT(refused({"huggingface", config, "--sequence", "0"}, kUsage),
              StartsWith("breakeven: error: --sequence: \"0\" is out of range"));
  for (const char* format : {"huggingface", "safetensors", "torchinfo", "onnx", "csv"}) {
    EXPECT_THAT(refused({format, path("missing")}, kFailed),
                StartsWith("breakeven: error: " + path("missing") + ": no such file"))
        << format;
    EXPECT_THAT(refused({format, folder().string()}, kFailed),
                StartsWith("breakeven: error: " + folder().string() + ": is a directory"))
        << format;
    EXPECT_THAT(refused({format, write("empty", "")}, kFailed),
                StartsWith("breakeven: error: " + path("empty") + ": is empty"))
        << format;
    EXPECT_THAT(refused({format, write("other", "something else\n")}, kFailed),
                StartsWith("breakeven: error: " + path("other") + ":"))
        << format;
  }
}

}  // namespace
}  // namespace breakeven::cli
