// Is a checkpoint's head read for what it states, and is one that lies refused?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profiles/import/file_bytes.h"
#include "profiles/import/models.h"
#include "profiles/import/safetensors.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The length in front of the JSON, and as many bytes of data.
std::string stored(const std::string& json, std::size_t data = 0) {
  std::string file;
  for (std::size_t i = 0; i < 8; ++i) {
    file += static_cast<char>(json.size() >> (8 * i) & 0xffU);
  }
  return file + json + std::string(data, '\0');
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + R"(": {"dtype": ")" + type + R"(", "shape": [)" + shape + R"(], "data_offsets": [)" +
         offsets + "]}";
}

class ImportSafetensors : public testing::Test {
 protected:
  [[nodiscard]] ImportedModel imported(const std::string& file) const {
    return import_safetensors(directory_.file("model.safetensors", file), {});
  }
  /// The error, without the folder.
  [[nodiscard]] std::string refusal(const std::string& file) const {
    std::string text = failure([&] { (void)imported(file); });
    const std::string folder = directory_.path().string() + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) {
      text.erase(at, folder.size());
    }
    return text;
  }
  static std::vector<std::string> names(const ImportedModel& imported) {
    std::vector<std::string> names;
    for (const Tensor& tensor : imported.model.workload.tensors) {
      names.push_back(tensor.name);
    }
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(ImportSafetensors, ShapesAndModulesComeFromTheHead) {
  const ImportedModel model = imported(stored(
      R"({"__metadata__": {"format": "pt"}, )" + tensor("a.weight", "BF16", "3, 2, 5", "0, 60") + ", " +
          tensor("a.bias", "F32", "3", "60, 72") + ", " + tensor("scale", "F64", "", "72, 80") + "}   ",
      80));
  const Workload& workload = model.model.workload;
  EXPECT_THAT(names(model), ElementsAre("a.weight", "a.bias", "scale"));
  EXPECT_THAT(workload.tensors[0].dims, ElementsAre(3, 2, 5));
  EXPECT_EQ(workload.modules.size(), 2U);
  EXPECT_EQ(workload.elements(), 34U);
  EXPECT_EQ(workload.forward_flops(), 0);
  EXPECT_THAT(model.notes, Contains(StartsWith("34 parameters in 3 tensors are trained")));
  EXPECT_THAT(model.notes, Contains(StartsWith("no FLOPs: a query needs --backward")));
}

TEST_F(ImportSafetensors, LayersAreInTheOrderOfTheirNumbers) {
  std::string json = "{";
  std::size_t at = 0;
  // As the library writes them: by name.
  for (const char* name : {"lm_head.weight", "model.embed_tokens.weight", "model.layers.0.mlp.up.weight",
                           "model.layers.10.mlp.up.weight", "model.layers.2.attn.q.weight",
                           "model.layers.2.mlp.up.weight", "model.norm.weight"}) {
    json +=
        (at == 0 ? "" : ", ") + tensor(name, "F16", "4", std::to_string(at) + ", " + std::to_string(at + 8));
    at += 8;
  }
  EXPECT_THAT(names(imported(stored(json + "}", at))),
              ElementsAre("model.embed_tokens.weight", "model.layers.0.mlp.up.weight",
                          "model.layers.2.attn.q.weight", "model.layers.2.mlp.up.weight",
                          "model.layers.10.mlp.up.weight", "model.norm.weight", "lm_head.weight"));
}

TEST_F(ImportSafetensors, WhatIsNotTrainedIsLeftOutAloud) {
  const ImportedModel model = imported(stored("{" + tensor("h.0.attn.bias", "F32", "1, 1, 2, 2", "0, 16") +
                                                  ", " + tensor("h.0.attn.c.bias", "F32", "2", "16, 24") +
                                                  ", " + tensor("bn.running_mean", "F32", "2", "24, 32") +
                                                  ", " + tensor("ids", "I64", "1", "32, 40") + ", " +
                                                  tensor("none", "F32", "0, 3", "40, 40") + "}",
                                              40));
  EXPECT_THAT(names(model), ElementsAre("h.0.attn.c.bias"));
  EXPECT_THAT(model.notes,
              Contains("left out: 2 tensors that by their names are buffers, such as \"h.0.attn.bias\""));
  EXPECT_THAT(model.notes, Contains(StartsWith("left out: 1 tensor of integers")));
  EXPECT_THAT(model.notes, Contains("left out: 1 tensor without elements, such as \"none\""));
}

TEST_F(ImportSafetensors, NothingButTheHeadIsRead) {
  const std::string head = stored("{" + tensor("w", "F32", "50000, 50000", "0, 10000000000") + "}");
  // A file of ten gigabytes that takes no room on the disk.
  const std::string path = directory_.file("model.safetensors", head);
  std::filesystem::resize_file(path, 10'000'000'000 + head.size());
  const ImportedModel whole = import_safetensors(path, {});
  EXPECT_EQ(whole.model.workload.elements(), 2'500'000'000U);
  EXPECT_THAT(whole.notes, Not(Contains(HasSubstr("ends before its data"))));
  EXPECT_THAT(imported(head).notes,
              Contains(HasSubstr("ends before its data do, of which only the head is needed")));
}

TEST_F(ImportSafetensors, AFileLargerThanTheAddressSpaceIsRead) {
  const std::string head = stored("{" + tensor("w", "F32", "50000, 50000", "0, 10000000000") + "}");
  const std::string path = directory_.file("model.safetensors", head);
  std::filesystem::resize_file(path, 10'000'000'000 + head.size());
  const FileBytes file(path, 1 << 20, 1 << 20);  // what is mapped is bounded
  EXPECT_EQ(file.bytes().size(), std::size_t{1} << 20);
  EXPECT_EQ(file.size(), 10'000'000'000 + head.size());
  EXPECT_FALSE(file.whole());
}

TEST_F(ImportSafetensors, AnIndexIsReadWithItsFiles) {
  (void)directory_.file("m-1.safetensors", stored("{" + tensor("a.w", "F32", "2, 2", "0, 16") + "}", 16));
  (void)directory_.file("m-2.safetensors", stored("{" + tensor("b.w", "F32", "3", "0, 12") + "}", 12));
  const auto index = [&](const std::string& map, const std::string& total = "28") {
    return import_safetensors(
        directory_.file("model.safetensors.index.json",
                        R"({"metadata": {"total_size": )" + total + R"(}, "weight_map": {)" + map + "}}"),
        {});
  };
  const std::string good = R"("b.w": "m-2.safetensors", "a.w": "m-1.safetensors")";
  EXPECT_THAT(names(index(good)), ElementsAre("b.w", "a.w"));
  EXPECT_THAT(names(import_safetensors(
                  directory_.file("marked.json", "\xEF\xBB\xBF{\"weight_map\": {" + good + "}}"), {})),
              ElementsAre("b.w", "a.w"));
  EXPECT_THAT(index(good).notes, Contains("the index's 2 files were read for shapes"));
  EXPECT_THAT(index(good, "30").notes, Contains("the index states 30 bytes, its files hold 28"));
  const auto refused = [&](const std::string& map) { return failure([&] { (void)index(map); }); };
  EXPECT_THAT(
      refused(good + R"(, "c.w": "m-3.safetensors")"),
      HasSubstr("has no shapes, and \"m-3.safetensors\" is not beside it: expected its 3 files in the same "
                "folder (their heads are enough), or the model's config.json: import huggingface"));
  EXPECT_THAT(refused(R"("a.w": "m-1.safetensors", "b.w": "m-1.safetensors")"),
              HasSubstr("/weight_map/b.w: does not hold \"b.w\""));
  EXPECT_THAT(refused(R"("b.w": "m-1.safetensors", "x": "m-2.safetensors")"),
              HasSubstr("does not hold \"b.w\""));
  EXPECT_THAT(refused(R"("a.w": "../m-1.safetensors")"),
              HasSubstr("\"../m-1.safetensors\" is no plain name"));
  EXPECT_THAT(refused(""), HasSubstr("/weight_map: names no tensor"));
  (void)directory_.file("m-2.safetensors", stored("{" + tensor("a.w", "F32", "3", "0, 12") + "}", 12));
  EXPECT_THAT(refused(good), HasSubstr("holds \"a.w\", which another file holds too"));
}

TEST_F(ImportSafetensors, AHeadThatLiesIsRefused) {
  EXPECT_EQ(
      refusal("abc"),
      "file model.safetensors: ends inside the length of its head: expected a safetensors file: 8 bytes of "
      "length, at most 100 MB of JSON, the data");
  EXPECT_THAT(refusal(std::string(8, '\0')), HasSubstr("states a head of 0 bytes"));
  EXPECT_THAT(refusal(std::string(16, '\xff')), HasSubstr("states a head of 18446744073709551615 bytes"));
  const std::string good = stored("{" + tensor("w", "F32", "2", "0, 8") + "}", 8);
  EXPECT_THAT(refusal(good.substr(0, 30)), HasSubstr("ends inside its head, which has"));
  EXPECT_THAT(refusal(""), HasSubstr("is empty"));
  const auto refused = [&](const std::string& json) { return refusal(stored(json, 100)); };
  EXPECT_THAT(refused("{}"), HasSubstr("holds no tensor that is trained"));
  EXPECT_THAT(refused("[]"), HasSubstr("model.safetensors: head: is a list"));
  EXPECT_THAT(refused("not json"), HasSubstr("model.safetensors: head:1:"));
  const std::string other = ", " + tensor("v", "F32", "2", "4, 12");
  EXPECT_THAT(refused("{" + tensor("w", "F32", "2", "0, 8") + other + "}"),
              HasSubstr("\"v\" begins at byte 4 of the data, inside another tensor: expected byte 8"));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "2", "4, 12") + "}"),
              HasSubstr("\"w\" begins at byte 4 of the data, behind a hole: expected byte 0"));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "2", "0, 7") + "}"),
              HasSubstr("/w: has the bytes 0 to 7: expected 8 bytes, as its shape and type have"));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "2", "8, 0") + "}"), HasSubstr("has the bytes 8 to 0"));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "4294967296, 4294967296", "0, 0") + "}"),
              HasSubstr("has the bytes 0 to 0: expected more than 1e15 bytes"));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "-1", "0, 4") + "}"),
              HasSubstr("/w/shape/0: -1 is not a whole number"));
  EXPECT_THAT(refused("{" + tensor("w", "BF32", "2", "0, 8") + "}"),
              HasSubstr("/w/dtype: unknown type \"BF32\": expected one of F32, "));
  EXPECT_THAT(refused("{" + tensor("w", "F32", "2", "0, 8") + ", " + tensor("w", "F32", "2", "8, 16") + "}"),
              HasSubstr("the key \"w\" is there twice"));
  EXPECT_THAT(refused(R"({"w": {"dtype": "F32", "shape": [2]}})"),
              HasSubstr("the key \"data_offsets\" is missing"));
  EXPECT_THAT(failure([&] { (void)import_safetensors(directory_.path().string(), {}); }),
              HasSubstr("is a directory"));
  EXPECT_THAT(failure([] { (void)import_safetensors("/nowhere/model.safetensors", {}); }),
              HasSubstr("no such file"));
}

TEST(ImportSafetensorsSample, IsReadAloneAndByItsIndex) {
  const std::filesystem::path folder = BREAKEVEN_SOURCE_DIR "/../shared/samples/safetensors";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the samples are not there";
  }
  const ImportedModel alone = import_safetensors((folder / "SYNTHETIC_model.safetensors").string(), {});
  EXPECT_EQ(alone.model.workload.elements(), 32 * 8 + 16 * 8U);
  EXPECT_EQ(alone.model.workload.tensors.back().name, "lm_head.weight");
  // Its index names a file that is not there.
  EXPECT_THAT(failure([&] {
                (void)import_safetensors((folder / "SYNTHETIC_model.safetensors.index.json").string(), {});
              }),
              HasSubstr("has no shapes, and \"model-00001-of-00001.safetensors\" is not beside it"));
}

}  // namespace
}  // namespace breakeven
