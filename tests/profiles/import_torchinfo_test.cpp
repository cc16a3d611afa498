// Does a printed table of layers become the model whose totals it states?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "profiles/import/models.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const char* const kRule = "==============================================================================\n";

std::string table(const std::string& columns, const std::string& rows, const std::string& totals) {
  return kRule + columns + "\n" + kRule + rows + kRule + totals + kRule + "Input size (MB): 1.20\n" + kRule;
}

const char* const kColumns = "Layer (type:depth-idx)      Output Shape       Param #     Mult-Adds";
const char* const kRows =
    "Net                         [4, 10]            --          --\n"
    "├─Conv2d: 1-1               [4, 8, 5, 5]       (224)       22,400\n"
    "├─Sequential: 1-2           [4, 8, 5, 5]       --          --\n"
    "│    └─Conv2d: 2-1          [4, 16, 5, 5]      1,168       116,800\n"
    "│    └─BatchNorm2d: 2-2     [4, 16, 5, 5]      32          128\n"
    "│    └─Conv2d: 2-3          [4, 16, 5, 5]      (recursive) 116,800\n"
    "├─Linear: 1-3               [4, 10]            170         680\n";
const char* const kTotals =
    "Total params: 1,594\nTrainable params: 1,370\nNon-trainable params: 224\n"
    "Total mult-adds (M): 0.26\n";

ImportedModel imported(const std::string& text) {
  return import_torchinfo(text, "net.txt", {});
}
std::string refusal(const std::string& text) {
  return failure([&] { (void)imported(text); });
}
std::vector<std::string> names(const ImportedModel& imported) {
  std::vector<std::string> names;
  for (const Tensor& tensor : imported.model.workload.tensors) {
    names.push_back(tensor.name);
  }
  return names;
}

// torchsummary aligns names at their right: its spaces are no tree.
TEST(ImportTorchinfo, SpacesAloneAreNoDepth) {
  const std::string rows =
      "            Conv2d-1           [-1, 64, 112, 112]           9,408\n"
      "       BatchNorm2d-2           [-1, 64, 112, 112]             128\n"
      "            Linear-3                 [-1, 1000]       2,049,000\n";
  const auto summary = [&](const std::string& total) {
    return table("        Layer (type)               Output Shape         Param #", rows,
                 "Total params: " + total + "\nTrainable params: " + total + "\nNon-trainable params: 0\n");
  };
  EXPECT_EQ(imported(summary("2,058,536")).model.workload.elements(), 2'058'536U);
  EXPECT_THAT(refusal(summary("2,058,537")), HasSubstr("the layers have 2058536 trainable parameters"));
}

TEST(ImportTorchinfo, TheProfileSaysWhichFlopsItLacks) {
  EXPECT_THAT(imported(table(kColumns, kRows, kTotals)).model.summary,
              HasSubstr("without the FLOPs of layers that are not trained"));
}

TEST(ImportTorchinfo, LeavesAreTensorsAndFlopsAreOfASample) {
  const ImportedModel model = imported(table(kColumns, kRows, kTotals));
  const Workload& workload = model.model.workload;
  EXPECT_THAT(names(model), ElementsAre("Conv2d:2-1", "BatchNorm2d:2-2", "Linear:1-3"));
  EXPECT_EQ(workload.elements(), 1370U);
  EXPECT_THAT(workload.tensors[0].dims, ElementsAre(16, 73));
  EXPECT_THAT(workload.tensors[1].dims, ElementsAre(32));
  EXPECT_THAT(workload.tensors[2].dims, ElementsAre(10, 17));
  EXPECT_EQ(workload.modules[0].forward_flops, 2 * 116800 / 4.0);
  EXPECT_EQ(workload.modules[2].forward_flops, 2 * 680 / 4.0);
  EXPECT_THAT(model.notes, Contains("the layers add up to the stated 1,370 trainable parameters of 1,594"));
  EXPECT_THAT(model.notes, Contains("FLOPs are twice the multiply-adds, which are those of a batch of 4"));
  EXPECT_THAT(model.notes,
              Contains("left out: 1 frozen layers of 224 parameters, 1 uses of a layer that is counted "
                       "elsewhere"));
}

TEST(ImportTorchinfo, TreesInAsciiAndParentsThatRepeatSumsAreTheSame) {
  const std::string rows =
      "Net                         [4, 10]            1,202\n"
      "+ Sequential: 1-1           [4, 8, 5, 5]       1,200\n"
      "|    + Conv2d: 2-1          [4, 16, 5, 5]      1,168\n"
      "|    + BatchNorm2d: 2-2     [4, 16, 5, 5]      32\n"
      "+ Linear: 1-2               [4, 2]             2\n";
  const ImportedModel model = imported(table("Layer (type:depth-idx)      Output Shape       Param #", rows,
                                             "Total params: 1,202\nTrainable params: 1,202\n"));
  EXPECT_THAT(names(model), ElementsAre("Conv2d:2-1", "BatchNorm2d:2-2", "Linear:1-2"));
  EXPECT_THAT(model.notes, Contains(HasSubstr("the table has no column \"Mult-Adds\"")));
}

TEST(ImportTorchinfo, ParentsWithParametersOfTheirOwnCount) {
  const std::string rows =
      "Net                         [4, 10]            5\n"
      "├─Linear: 1-1               [4, 2]             6\n";
  const ImportedModel model = imported(table("Layer (type:depth-idx)      Output Shape       Param #", rows,
                                             "Total params: 11\nTrainable params: 11\n"));
  EXPECT_THAT(names(model), ElementsAre("Net", "Linear:1-1"));
}

TEST(ImportTorchinfo, NamesOfVariablesAreTaken) {
  const std::string rows =
      "Net (Net)                        --\n"
      "├─Sequential (body)              --\n"
      "│    └─Linear (0)                6\n"
      "│    └─Linear (1)                6\n"
      "├─Linear (head)                  3\n"
      "├─Linear                         3\n"
      "├─Linear                         3\n";
  EXPECT_THAT(
      names(imported(table("Layer (type (var_name))          Param #", rows, "Trainable params: 21\n"))),
      ElementsAre("body.0", "body.1", "head", "Linear", "Linear#2"));
}

TEST(ImportTorchinfo, TorchsummaryIsReadToo) {
  const std::string text =
      "----------------------------------------------------------------\n"
      "        Layer (type)               Output Shape         Param #\n"
      "================================================================\n"
      "            Conv2d-1            [-1, 8, 26, 26]              80\n"
      "              ReLU-2            [-1, 8, 26, 26]               0\n"
      "            Linear-3                   [-1, 10]          54,090\n"
      "================================================================\n"
      "Total params: 54,170\nTrainable params: 54,170\nNon-trainable params: 0\n"
      "----------------------------------------------------------------\n";
  const ImportedModel model = imported(text);
  EXPECT_THAT(names(model), ElementsAre("Conv2d-1", "Linear-3"));
  EXPECT_THAT(model.model.workload.tensors[1].dims, ElementsAre(10, 5409));
}

TEST(ImportTorchinfo, WhatDoesNotAddUpIsRefused) {
  EXPECT_THAT(
      refusal(table(kColumns, kRows, "Total params: 1,595\nTrainable params: 1,371\n")),
      StartsWith("file net.txt: the layers have 1370 trainable parameters and 224 frozen ones: expected the "
                 "stated 1371 of 1595"));
  EXPECT_EQ(
      refusal(kRule + std::string(kColumns) + "\n" + kRule + kRows),
      "file net.txt: ends without the line \"Trainable params\": layers may be missing: expected the whole "
      "table, with the totals below it");
  EXPECT_THAT(refusal("hello\nworld\n"),
              StartsWith("file net.txt: line 2: there is no line that begins with \"Layer (type\""));
  EXPECT_THAT(refusal(table("Layer (type:depth-idx)      Output Shape", "Net    [1]\n", kTotals)),
              StartsWith("file net.txt: line 2: has no column \"Param #\""));
  EXPECT_THAT(refusal(table(kColumns, "", kTotals)), HasSubstr("the table has no rows"));
  EXPECT_THAT(refusal(table(kColumns, "Net   [4, 10]  --\n", kTotals)),
              HasSubstr("line 4: has 3 cells: expected as many as the head, 4"));
  for (const char* bad : {"1,2x", "-5", "99999999999999999999", "(recursiv)", "nan", "()"}) {
    EXPECT_THAT(refusal(table(kColumns, std::string("Net   [4, 10]  ") + bad + "  --\n", "")),
                HasSubstr("line 4: cannot read \""))
        << bad;
  }
  EXPECT_THAT(refusal(table(kColumns, "Net   [4, 10]  (5)  --\n", "Total params: 5\nTrainable params: 0\n")),
              HasSubstr("no layer has trainable parameters"));
}

TEST(ImportTorchinfoSample, GivesItsTotals) {
  const std::filesystem::path folder = BREAKEVEN_SOURCE_DIR "/../shared/samples/torchinfo";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the samples are not there";
  }
  for (const auto& [file, trained] :
       {std::pair("frozen_layers.out", 11'006'440U), std::pair("resnet50.out", 25'557'032U),
        std::pair("single_input_all_cols.out", 21'840U)}) {
    const ImportedModel model = imported(read_text((folder / file).string()));
    EXPECT_EQ(model.model.workload.elements(), trained) << file;
  }
  // 7 samples of 1,048,320 / 7 multiply-adds in the first convolution.
  const ImportedModel batch = imported(read_text((folder / "single_input_all_cols.out").string()));
  EXPECT_EQ(batch.model.workload.modules[0].forward_flops, 2 * 149760);
}

}  // namespace
}  // namespace breakeven
