// Is every plan well formed, whatever the message and the number of workers?
#include <gmock/gmock.h>

#include <cmath>

#include "model/codec.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {
namespace {

constexpr std::size_t kSizes[] = {1, 7, 8, 33, 256, 65537};
constexpr std::size_t kWorkers[] = {1, 2, 5, 8, 64};

/// Every scheme as it is by default and with what reaches other code.
std::vector<std::string> specs() {
  std::vector<std::string> all = {"topk:scope=tensor,select=threshold",
                                  "topk:ratio=100%,value=f16",
                                  "randomk:seed=own",
                                  "gtopk:ratio=40%,value=f16,index=u64",
                                  "powersgd:min_ratio=0,rank=16,batch_shapes=on",
                                  "powersgd:batched=on,rank=4,warm_start=off",
                                  "acpsgd:min_ratio=2,feedback=off",
                                  "signsgd:exchange=all_to_all,scale=mean,feedback=on",
                                  "signsgd:pack=bytes",
                                  "qsgd:bits=2,bucket=0",
                                  "int8:vectors=code,min_size=0",
                                  "int4:vectors=code,min_size=0,exchange=all_gather,scale=f16"};
  for (const auto& [name, scheme] : registry().all()) {
    all.push_back(name);
  }
  return all;
}

std::vector<Message> messages() {
  std::vector<Message> all;
  for (const Element element : {Element::f32, Element::bf16}) {
    for (const std::size_t n : kSizes) {
      all.push_back(vector_of(n, element));
      all.push_back({{n, 3, element}});
      all.push_back({{1, n, element}, {n, 8, element}, {n, 1, element}});
    }
    all.push_back(mixed(element));
  }
  return all;
}

void expect_sound(const Work& work) {
  for (const double value : {work.touched.base(), work.flops, work.launches, work.elements}) {
    EXPECT_TRUE(std::isfinite(value) && value >= 0) << value;
  }
  EXPECT_GE(work.repeats, 1);
  EXPECT_FALSE(work.known.has_value());
  EXPECT_EQ(work.launches > 0, work.touched > Bytes{});
  EXPECT_EQ(work.launches, std::floor(work.launches * 2) / 2);  // an average of two steps may have a half
}

TEST(Plans, AreWellFormed) {
  for (const std::string& spec : specs()) {
    for (const Message& message : messages()) {
      for (const std::size_t workers : kWorkers) {
        SCOPED_TRACE(spec + " " + std::to_string(elements(message)) + " " + std::to_string(workers));
        const Plan plan = plan_of(spec, message, workers);
        EXPECT_FALSE(plan.empty());
        for (const Round& round : plan) {
          expect_sound(round.encode);
          expect_sound(round.decode);
          EXPECT_NE(round.exchange, Exchange::none);
          EXPECT_GT(round.payload, Bytes{});
          EXPECT_TRUE(std::isfinite(round.payload.base()));
          // A pure ratio is nobody's wire format.
          EXPECT_TRUE(spec.starts_with("ideal") || round.payload.base() == std::floor(round.payload.base()));
          EXPECT_EQ(round.element == Element::bytes, round.exchange != Exchange::all_reduce);
        }
        const double state = state_of(spec, message, workers);
        EXPECT_TRUE(std::isfinite(state) && state >= 0);
      }
    }
  }
}

/// What takes the place of a ring's reduce-scatter and all-gather, which move the gradient twice: an exchange
/// of chunks and a gathering of results move one payload each, anything else counts twice.
double moved(const Plan& plan, std::size_t workers) {
  double bytes = 0;
  bool chunks = false;
  for (const Round& round : plan) {
    const double payload = round.payload.base();
    const bool results = chunks && round.exchange == Exchange::all_gather;
    chunks = round.exchange == Exchange::all_to_all;
    bytes += payload * (chunks ? 1 : results ? static_cast<double>(workers) : 2);
  }
  return bytes;
}

TEST(Plans, SendNoMoreThanTheGradientPlusAFixedOverhead) {
  for (const auto& [name, scheme] : registry().all()) {
    for (const Message& message : messages()) {
      for (const std::size_t workers : kWorkers) {
        // A message or a chunk may bring a last word, an entry and constants of its own.
        const double overhead = 32.0 * static_cast<double>(workers + 1);
        EXPECT_LE(moved(plan_of(name, message, workers), workers), 2 * bytes(message).base() + overhead)
            << name << " " << elements(message) << " " << workers;
      }
    }
  }
}

TEST(Plans, OfNothingAreEmpty) {
  for (const std::string& spec : specs()) {
    for (const Message& message : {Message{}, Message{{0, 1}}, Message{{0, 5}, {7, 0}}}) {
      EXPECT_EQ(text(plan_of(spec, message)), "") << spec;
      EXPECT_EQ(state_of(spec, message), 0) << spec;
    }
  }
}

TEST(Plans, OfIneligibleTensorsAreThePlainAllReduce) {
  const Message vectors = {{100, 1}, {1, 2000}, {3, 1, Element::f32}};
  for (const char* spec : {"powersgd", "powersgd:min_ratio=0,rank=4", "acpsgd", "int8", "int4"}) {
    EXPECT_EQ(text(plan_of(spec, vectors)), text(plan_of("none", vectors))) << spec;
  }
}

TEST(Plans, OfACastToTheGradientsOwnTypeAreThePlainAllReduce) {
  const Message half = vector_of(1000, Element::bf16);
  EXPECT_EQ(text(plan_of("bf16", half)), text(plan_of("none", half)));
  EXPECT_EQ(plan_of("fp16", half).front().payload.base(), 2000);
  EXPECT_EQ(plan_of("fp16", half).front().encode.touched.base(), 4000);
  EXPECT_EQ(plan_of("fp16", half).front().element, Element::f16);
  const Round full = plan_of("bf16", vector_of(1000)).front();
  EXPECT_EQ(full.payload.base(), 2000);
  EXPECT_EQ(full.encode.touched.base(), 6000);
  EXPECT_EQ(full.decode.touched.base(), 6000);
}

/// Bytes touched for each element of a large square fp32 matrix among `workers`.
struct PerElement {
  double encode, decode;
};
PerElement touched(const std::string& spec, std::size_t workers) {
  const Message message = {{4096, 4096}};
  Bytes encode, decode;
  for (const Round& round : plan_of(spec, message, workers)) {
    encode += round.encode.touched;
    decode += round.decode.touched;
  }
  const auto n = static_cast<double>(elements(message));
  return {encode.base() / n, decode.base() / n};
}

TEST(Work, TouchesTheBytesOfEachSchemesPasses) {
  EXPECT_NEAR(touched("signsgd:feedback=on,scale=mean", 16).encode, 20 + 1.0 / 8, 1e-3);
  EXPECT_NEAR(touched("signsgd", 16).encode, 4 + 1.0 / 8, 1e-3);
  EXPECT_NEAR(touched("signsgd", 16).decode, 16.0 / 8 + 4, 1e-3);
  // The owner of a chunk codes the sum of signs, without feedback.
  EXPECT_NEAR(touched("signsgd:exchange=all_to_all,feedback=on", 16).encode, 12.125 + 4.125 / 16, 1e-3);
  EXPECT_NEAR(touched("randomk:feedback=off", 16).encode, 0.01 * (2 * 8 + 2 * 4), 1e-3);
  EXPECT_NEAR(touched("topk:select=threshold,rounds=30,feedback=off", 16).encode, 32 * 4 + 0.12, 1e-3);
  EXPECT_NEAR(touched("onebit", 16).encode, (20 + 1.0 / 8) * (1 + 1.0 / 16), 1e-3);
  EXPECT_NEAR(touched("onebit", 16).decode, 1.0 / 8 + 4.0 / 16 + 1.0 / 8 + 4, 1e-3);
  EXPECT_NEAR(touched("topk:ratio=1%", 16).encode, 5 * 4 + 12 + 0.12, 1e-3);
  EXPECT_NEAR(touched("topk:ratio=1%", 16).decode, 4 + 16 * 0.01 * (12 + 8), 1e-3);
  EXPECT_NEAR(touched("terngrad:pack=2bit", 4).encode, 8 + 0.25, 1e-3);
  EXPECT_NEAR(touched("int4:zero_point=off", 4).encode, (4 + 0.5 + 4.0 / 512) * (1 + 1.0 / 4), 1e-3);
  // PowerSGD moves the matrix 9 times without fusing, ACP-SGD 7 times; factors are small beside it.
  const auto both = [](PerElement work) { return work.encode + work.decode; };
  EXPECT_NEAR(both(touched("powersgd", 16)), 36, 0.1);
  EXPECT_NEAR(both(touched("acpsgd:rank=1", 16)), 28, 0.1);
}

TEST(Work, OfAMeasuredCodecCountsOncePerCodedMessage) {
  const CodecCosts costs{.scheme = "any",
                         .device = "any",
                         .origin = Origin::measured,
                         .encode = {{{1, Seconds::of(1)}}},
                         .decode = {{{1, Seconds::of(2)}}},
                         .decode_next = {},
                         .spread = 0,
                         .source = ""};
  const auto seconds = [&](const std::string& spec) {
    Seconds encode, decode;
    const auto compressor = with_costs(registry().make(spec).compressor, costs);
    for (const Round& round : compressor->plan(Message{{40, 50}, {10, 1}}, 8)) {
      encode += round.encode.known.value_or(Seconds{});
      decode += round.decode.known.value_or(Seconds{});
    }
    return std::pair{encode.base(), decode.base()};
  };
  // The curve is one second an element to encode, two to decode one payload.
  EXPECT_EQ(seconds("none"), std::pair(0.0, 0.0));
  EXPECT_EQ(seconds("fp16"), std::pair(2010.0, 2 * 2010.0));
  EXPECT_EQ(seconds("signsgd"), std::pair(2010.0, 8 * 2 * 2010.0));
  EXPECT_EQ(seconds("topk"), std::pair(2010.0, 8 * 2 * 2010.0));
  EXPECT_EQ(seconds("randomk"), std::pair(2010.0, 2 * 2010.0));
  // Three merges of two lists of 2 entries.
  EXPECT_EQ(seconds("gtopk"), std::pair(2010.0 + 3 * 4, 2 * 2010.0));
  EXPECT_EQ(seconds("dgc"), std::pair(2010.0, 8 * 2 * 2010.0));
  EXPECT_EQ(seconds("powersgd"), std::pair(2000.0, 2 * 2000.0));  // the vector is not coded
  EXPECT_EQ(seconds("acpsgd"), std::pair(2000.0, 2 * 2000.0));
  EXPECT_EQ(seconds("int8"), std::pair(2000.0 + 250, 2 * 2 * 2000.0));  // and a chunk's sum is coded again
}

}  // namespace
}  // namespace breakeven::test
