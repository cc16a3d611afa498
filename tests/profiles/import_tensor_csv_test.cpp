// Does a plain table of tensors become a model, with its gradients' times where it has them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/import/models.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

ImportedModel imported(const std::string& text) {
  ModelOptions options;
  options.device = "v100";
  options.precision = Precision::fp16;
  options.batch = 32;
  return import_tensor_csv(text, "net.csv", options);
}
std::string refusal(const std::string& text) {
  return failure([&] { (void)imported(text); });
}

TEST(ImportTensorCsv, RowsAreInForwardOrder) {
  const ImportedModel model =
      imported("tensor,rows,cols,dtype\na.weight, 4, 8,bf16\na.bias,4,1,fp32\r\n\nb,3,1,fp32\n");
  const Workload& workload = model.model.workload;
  ASSERT_EQ(workload.tensors.size(), 3U);
  EXPECT_THAT(workload.tensors[0].dims, ElementsAre(4, 8));
  EXPECT_THAT(workload.tensors[1].dims, ElementsAre(4));
  EXPECT_EQ(workload.modules.size(), 2U);
  EXPECT_TRUE(model.model.timings.empty());
  EXPECT_THAT(model.notes, Contains(StartsWith("no times: a query needs --backward")));
  EXPECT_THAT(model.notes, Contains(StartsWith("dtype \"bf16\", \"fp32\" is not part of a profile")));
}

TEST(ImportTensorCsv, TimesOfGradientsBecomeGapsFromTheLastTensorOn) {
  const ImportedModel model =
      imported("grad_ready_us,tensor,cols,rows\n100,c,1,2\n350,b,1,2\n1000.5,a,1,2\n100,d,1,2\n");
  const Workload& workload = model.model.workload;
  EXPECT_EQ(workload.tensors[0].name, "a");
  EXPECT_EQ(workload.tensors[1].name, "b");
  ASSERT_EQ(model.model.timings.size(), 1U);
  const ModelProfile read = read_model(write_model(model.model), "written");
  const Timing& timing = read.timings.front();
  EXPECT_EQ(timing.device, "v100");
  EXPECT_EQ(timing.precision, Precision::fp16);
  EXPECT_EQ(timing.batch, 32);
  EXPECT_NEAR(timing.backward.base(), 1000.5e-6, 1e-15);
  EXPECT_NEAR(timing.forward.base(), 500.25e-6, 1e-15);
  ASSERT_EQ(timing.gaps.size(), 4U);
  EXPECT_NEAR(timing.gaps[0].base(), 100e-6, 1e-15);
  EXPECT_NEAR(timing.gaps[1].base(), 0, 1e-15);
  EXPECT_NEAR(timing.gaps[2].base(), 250e-6, 1e-15);
  EXPECT_NEAR(timing.gaps[3].base(), 650.5e-6, 1e-15);
}

TEST(ImportTensorCsv, WhatMakesNoSenseIsRefused) {
  EXPECT_EQ(refusal("tensor,rows,coll\n"),
            "file net.csv: line 1: unknown column \"coll\": expected one of tensor, rows, cols, dtype, "
            "grad_ready_us (did you mean cols?)");
  EXPECT_EQ(
      refusal("tensor,rows\n"),
      "file net.csv: line 1: the column cols is missing: expected tensor,rows,cols,dtype,grad_ready_us");
  EXPECT_THAT(refusal("tensor,rows,cols,dtype\na,1,1,q8\n"),
              StartsWith("file net.csv: line 2: unknown dtype \"q8\": expected one of fp32, "));
  EXPECT_EQ(refusal("tensor,rows,cols,dtype\na,1,1,torch.bfloat16\nb,1,1,\nc,1,1,Float32\n"),
            "nothing was thrown");
  EXPECT_THAT(refusal("tensor,rows,cols,rows\n"), HasSubstr("the column rows is there twice"));
  EXPECT_THAT(refusal("tensor,rows,cols\n"), HasSubstr("line 1: there are no rows"));
  EXPECT_THAT(refusal("tensor,rows,cols\na,1\n"),
              HasSubstr("line 2: has 2 cells: expected as many as the head, 3"));
  EXPECT_THAT(refusal("tensor,rows,cols\na,1,1\na,1,1\n"),
              HasSubstr("line 3: the tensor \"a\" is there twice"));
  EXPECT_THAT(refusal("tensor,rows,cols\n,1,1\n"), HasSubstr("line 2: a tensor has no name"));
  for (const char* bad : {"0", "-1", "1.5", "nan", "", "x", "99999999999999999999", "9999999999999999"}) {
    EXPECT_THAT(refusal(std::string("tensor,rows,cols\na,") + bad + ",1\n"),
                StartsWith("file net.csv: line 2: "))
        << bad;
  }
  for (const char* bad : {"-1", "nan", "inf", "", "5 us", "1e13", "1e-300"}) {
    EXPECT_THAT(refusal(std::string("tensor,rows,cols,grad_ready_us\na,1,1,") + bad + "\n"),
                StartsWith("file net.csv: line 2: grad_ready_us"))
        << bad;
  }
  EXPECT_THAT(refusal("tensor,rows,cols,grad_ready_us\na,1,1,0\n"), HasSubstr("every grad_ready_us is 0"));
  EXPECT_THAT(refusal("tensor,rows,cols\na,1000000000,1000000000\n"),
              HasSubstr("more than 200,000 tensors or 1e15 elements"));
}

}  // namespace
}  // namespace breakeven
