// Does a plain table of kernel times become a codec profile?
#include <gmock/gmock.h>

#include "profiles/import/codec.h"
#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

ImportedCodec imported(const std::string& text) {
  CodecOptions options;
  options.device = "v100";
  options.canonical = [](const std::string& spec) {
    return spec == "bad" ? throw Error(Fault::value, {}, "unknown scheme \"bad\"", "topk") : spec;
  };
  return import_codec_csv(text, "t.csv", options);
}
std::string refusal(const std::string& text) {
  return failure([&] { (void)imported(text); });
}

constexpr const char* kHead = "kernel,elements,encode_us,decode_us\n";

TEST(ImportCodecCsv, RowsAreCurvesOfTheirScheme) {
  const ImportedCodec read = imported(std::string(kHead) +
                                      "topk:ratio=1%,1000,10,4\n\"qsgd:bits=4,bucket=512\",1000,7,3\n"
                                      "topk:ratio=1%,100000,400,90\n");
  const CodecProfile profile = read_codec(write_codec(read.codec), "written");
  ASSERT_EQ(profile.costs.size(), 2U);
  EXPECT_EQ(profile.costs[0].device, "v100");
  EXPECT_EQ(profile.costs[0].origin, Origin::measured);
  EXPECT_NEAR(profile.costs[0].encode.at(1000).base(), 10e-6, 1e-15);
  EXPECT_NEAR(profile.costs[0].decode.at(100000).base(), 90e-6, 1e-15);
  EXPECT_EQ(profile.costs[1].scheme, "qsgd:bits=4,bucket=512");
  EXPECT_TRUE(profile.costs[0].decode_next.points.empty());
  EXPECT_THAT(read.notes, ElementsAre("topk:ratio=1%: 2 sizes, 1000 to 100000 elements",
                                      "qsgd:bits=4,bucket=512: 1 size, 1000 elements"));
}

TEST(ImportCodecCsv, RepeatedSizesCountByTheirMedian) {
  const CodecCosts costs =
      imported(std::string(kHead) + "topk,1000,10,4\ntopk,1000,90,6\ntopk,1000,20,90\ntopk,1000,30,8\n")
          .codec.costs.at(0);
  EXPECT_NEAR(costs.encode.at(1000).base(), 25e-6, 1e-15);
  EXPECT_NEAR(costs.decode.at(1000).base(), 7e-6, 1e-15);
}

TEST(ImportCodecCsv, SeveralPayloadsTellWhatAFurtherOneAdds) {
  const std::string head = "kernel,elements,encode_us,decode_us,n\n";
  const ImportedCodec read = imported(head + "topk,1000,10,4,1\ntopk,1000,10,18,8\ntopk,1000,10,7,2\n");
  EXPECT_NEAR(read.codec.costs.at(0).decode_next.at(1000).base(), 2e-6, 1e-15);  // (18 - 4) / 7
  EXPECT_THAT(read.notes.at(0), HasSubstr("what each further payload adds"));
  EXPECT_EQ(refusal(head + "topk,1000,10,18,8\n"),
            "file t.csv: topk has no decode of one payload of 1000 elements: expected a row with n = 1");
  EXPECT_THAT(refusal(head + "topk,1000,10,4,1\ntopk,1000,10,4,8\n"), HasSubstr("no slower than one"));
}

TEST(ImportCodecCsv, WhatMakesNoSenseIsRefusedWithItsLine) {
  const auto row = [](const std::string& text) { return refusal(kHead + text + "\n"); };
  EXPECT_EQ(row("bad,1000,10,4"), "file t.csv: line 2: kernel: unknown scheme \"bad\": expected topk");
  EXPECT_EQ(row("topk,0,10,4"), "file t.csv: line 2: 0 elements: expected 1 or more");
  EXPECT_EQ(row("topk,1000,0,4"), "file t.csv: line 2: encode_us is 0: expected microseconds above 0");
  EXPECT_EQ(row("topk,1000,10,-4"), "file t.csv: line 2: decode_us is -4: expected microseconds above 0");
  EXPECT_THAT(row("topk,1e3,10,4"), StartsWith("file t.csv: line 2: elements: "));
  EXPECT_THAT(row("topk,1000,inf,4"), StartsWith("file t.csv: line 2: encode_us: "));
  EXPECT_EQ(refusal(kHead), "file t.csv: line 1: there are no rows: expected a row a kernel and size");
  EXPECT_EQ(refusal("kernel,elements,encode_us\n"),
            "file t.csv: line 1: the column decode_us is missing: expected "
            "kernel,elements,encode_us,decode_us");
}

}  // namespace
}  // namespace breakeven
