// Does every parameter change what it says, and nothing silently?
#include <gmock/gmock.h>

#include <map>

#include "model/error.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {
namespace {

using testing::ElementsAre;

/// Values other than the default.
std::vector<std::string> others(const Param& param) {
  if (param.kind == Param::Kind::choice) {
    return {param.choices.begin() + 1, param.choices.end()};
  }
  const double value =
      param.kind == Param::Kind::fraction ? parse_fraction(param.fallback) : parse_number(param.fallback);
  return {exact(value == 0 ? 5 : 2 * value)};
}

/// What must stand beside a parameter for it to have an effect.
const std::map<std::string, std::string> kBeside = {{"topk:rounds", ",select=threshold"}};

struct Variant {
  std::string spec, base;
};
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const auto& [name, scheme] : registry().all()) {
    for (const Param& param : scheme.params) {
      const auto found = kBeside.find(name + ":" + param.name);
      const std::string beside = found == kBeside.end() ? "" : found->second;
      for (const std::string& value : others(param)) {
        all.push_back({name + ":" + param.name + "=" + value + beside,
                       name + (beside.empty() ? "" : ":" + beside.substr(1))});
      }
    }
  }
  return all;
}

std::string thrown(const std::string& spec) {
  try {
    return "nothing: " + registry().make(spec).spec;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::value);
    return error.what();
  }
}

TEST(Parameters, EachChangesPlanOrState) {
  EXPECT_GT(variants().size(), 40U);
  for (const auto& [spec, base] : variants()) {
    const bool same = text(plan_of(spec, mixed())) == text(plan_of(base, mixed())) &&
                      state_of(spec, mixed()) == state_of(base, mixed());
    // A constant of an fp32 gradient is f32 already.
    EXPECT_EQ(same, spec.ends_with("scale=f32")) << spec;
  }
}

TEST(Parameters, CanonicalTextReadsBackAsTheSameScheme) {
  for (const auto& [spec, base] : variants()) {
    const Candidate once = registry().make(spec);
    const Candidate twice = registry().make(once.spec);
    EXPECT_EQ(once.spec, twice.spec);
    EXPECT_NE(once.spec, registry().make(base).spec);
    EXPECT_EQ(text(once.compressor->plan(mixed(), 8)), text(twice.compressor->plan(mixed(), 8))) << spec;
  }
  EXPECT_EQ(registry().make("topk:ratio=0.01,index=u64").spec, "topk");
  EXPECT_EQ(registry().make("topk:index=u32,ratio=5%").spec, "topk:ratio=5%,index=u32");
}

TEST(Parameters, ThatWouldHaveNoEffectAreRefused) {
  EXPECT_EQ(thrown("topk:rounds=5"), "topk: rounds: has no effect here: expected select=threshold");
  EXPECT_EQ(thrown("powersgd:batched=on,min_ratio=3"),
            "powersgd: min_ratio: has no effect here: expected batched=off");
  EXPECT_EQ(thrown("powersgd:batched=on,vectors=skip"),
            "powersgd: vectors: has no effect here: expected batched=off");
  EXPECT_EQ(thrown("powersgd:batched=on,batch_shapes=on"),
            "powersgd: batch_shapes: has no effect here: expected batched=off");
}

TEST(Parameters, OutOfRangeAreRefused) {
  for (const char* spec :
       {"topk:ratio=0", "topk:ratio=101%", "topk:ratio=-1%", "topk:ratio=nan", "gtopk:ratio=0",
        "powersgd:rank=0", "acpsgd:rank=-1", "acpsgd:rank=1.5", "qsgd:bits=1", "int8:block=0", "dgc:sample=0",
        "dgc:rounds=0", "signsgd:pack=words"}) {
    EXPECT_THAT(thrown(spec), testing::Not(testing::StartsWith("nothing"))) << spec;
  }
}

TEST(TopK, KeepsTheWholePartOfTheShareButAtLeastOne) {
  const auto k = [](const std::string& ratio, std::size_t n) {
    return plan_of("topk:ratio=" + ratio, vector_of(n)).front().payload.base() / 4;
  };
  EXPECT_EQ(k("29%", 100), 29);  // 0.29 * 100 is 28.999999999999996 in binary
  EXPECT_EQ(k("0.7", 10), 7);
  EXPECT_EQ(k("1%", 199), 1);
  EXPECT_EQ(k("1%", 200), 2);
  EXPECT_EQ(k("1%", 1), 1);
  EXPECT_EQ(k("100%", 33), 33);
  EXPECT_EQ(k("0.1", 25557039), 2555703);
}

TEST(TopK, EntriesAreAsWideAsTheirParametersSay) {
  const auto bytes = [](const std::string& spec, Element element) {
    return payloads(plan_of(spec, vector_of(100, element)));
  };
  // Values, then positions.
  EXPECT_THAT(bytes("topk:ratio=10%", Element::f32), ElementsAre(10 * 4, 10 * 8));
  EXPECT_THAT(bytes("topk:ratio=10%", Element::bf16), ElementsAre(10 * 2, 10 * 8));
  EXPECT_THAT(bytes("topk:ratio=10%,index=u32", Element::bf16), ElementsAre(10 * 2, 10 * 4));
  EXPECT_THAT(bytes("topk:ratio=10%,index=u32,value=f16", Element::f32), ElementsAre(10 * 2, 10 * 4));
}

TEST(TopK, OfEachTensorKeepsAtLeastOneOfEach) {
  const Message message = {{150, 1}, {1, 1}, {250, 1}};
  EXPECT_THAT(payloads(plan_of("topk", message)), ElementsAre(4 * 4, 4 * 8));
  EXPECT_THAT(payloads(plan_of("topk:scope=tensor", message)), ElementsAre((1 + 1 + 2) * 4, (1 + 1 + 2) * 8));
  EXPECT_EQ(plan_of("topk:scope=tensor,feedback=off", message).front().encode.launches,
            3 * plan_of("topk:feedback=off", message).front().encode.launches);
}

TEST(TopK, ByThresholdReadsTheVectorOncePerRound) {
  const auto touched = [](const std::string& rounds) {
    return plan_of("topk:select=threshold,rounds=" + rounds, vector_of(1000)).front().encode.touched.base();
  };
  EXPECT_EQ(touched("100") - touched("20"), 80 * 4000);
}

TEST(RandomK, SendsPositionsOnlyWhereSeedsDiffer) {
  const Message message = vector_of(1000);
  const Plan shared = plan_of("randomk:ratio=5%", message),
             own = plan_of("randomk:ratio=5%,seed=own", message);
  EXPECT_EQ(shared.front().exchange, Exchange::all_reduce);
  EXPECT_EQ(shared.front().payload.base(), 50 * 4);
  EXPECT_EQ(shared.front().decode.repeats, 1);
  EXPECT_EQ(own.front().exchange, Exchange::all_gather);
  EXPECT_THAT(payloads(own), ElementsAre(50 * 4, 50 * 8));
  EXPECT_EQ(own.back().decode.repeats, 8);
  EXPECT_EQ(plan_of("randomk", vector_of(1000, Element::bf16)).front().element, Element::bf16);
}

TEST(Dgc, GathersCountsFirstAndKeepsMomentumAndResidual) {
  EXPECT_THAT(payloads(plan_of("dgc", vector_of(1000))), ElementsAre(8, 10 * 4, 10 * 8));
  EXPECT_EQ(state_of("dgc", vector_of(1000)), 8000);
}

TEST(PowerSgd, CodesAMatrixWhenItsFactorsAreSmallerByMoreThanTheRatio) {
  // (6 + 6) * 1 * 2 < 36, but (6 + 6) * 1 * 3 is not.
  const Message square = {{6, 6}};
  EXPECT_THAT(payloads(plan_of("powersgd", square)), ElementsAre(24, 24));
  EXPECT_THAT(payloads(plan_of("powersgd:min_ratio=3", square)), ElementsAre(144));
  EXPECT_THAT(payloads(plan_of("powersgd:rank=2", square)), ElementsAre(144));
  EXPECT_THAT(payloads(plan_of("powersgd:rank=9,min_ratio=0", square)),
              ElementsAre(144, 144));  // capped at 6
}

TEST(PowerSgd, LeavesVectorsOutWhereThePaperDoes) {
  const Message message = {{100, 100}, {100, 1}, {3, 3}};
  EXPECT_THAT(payloads(plan_of("powersgd", message)), ElementsAre(400 + 36, 400, 400));
  EXPECT_THAT(payloads(plan_of("powersgd:vectors=skip", message)), ElementsAre(36, 400, 400));
}

TEST(PowerSgd, BatchedSeesTheMessageAsASquare) {
  const Message message = {{100, 99}, {50, 1}};  // 9950 elements: 100 x 100
  EXPECT_THAT(payloads(plan_of("powersgd:batched=on,rank=3", message)), ElementsAre(1200, 1200));
  EXPECT_EQ(state_of("powersgd:batched=on,rank=3", message), 40000 + 2 * 1200);
}

TEST(PowerSgd, KeepsErrorsAndFactors) {
  const Message message = {{100, 100}, {100, 1}};
  EXPECT_EQ(state_of("powersgd", message), 40400 + 800);
  EXPECT_EQ(state_of("powersgd:feedback=off", message), 800);
  EXPECT_EQ(state_of("powersgd:warm_start=off", message), 40400);
  EXPECT_EQ(state_of("powersgd:warm_start=off,feedback=off", message), 0);
}

TEST(PowerSgd, StartsGramSchmidtForEveryMatrixOrEveryShape) {
  const Message message = {{100, 100}, {100, 100}, {200, 100}};
  const auto launches = [&](const std::string& spec) {
    return plan_of(spec, message).front().decode.launches;
  };
  EXPECT_EQ(launches("powersgd:rank=4"), 3 * (4 * 3 + 3 * 4));
  EXPECT_EQ(launches("powersgd:rank=4,batch_shapes=on"), 2 * (4 * 3 + 3 * 4));
}

TEST(AcpSgd, SendsTheAverageOfItsTwoStepsInOneAllReduce) {
  const Message message = {{100, 300}, {50, 1}};
  const Plan plan = plan_of("acpsgd:rank=2", message);
  EXPECT_THAT(payloads(plan), ElementsAre(4 * (2 * (100 + 300) / 2 + 50)));
  EXPECT_EQ(plan.front().exchange, Exchange::all_reduce);
  EXPECT_EQ(state_of("acpsgd:rank=2", message), 4 * (30000 + 2 * 400));
  EXPECT_THAT(payloads(plan_of("acpsgd:min_ratio=100", message)), ElementsAre(4 * 30050));
}

TEST(SignSgd, PacksScalesAndExchangesAsTold) {
  const Message message = vector_of(100);
  EXPECT_THAT(payloads(plan_of("signsgd", message)), ElementsAre(16));
  EXPECT_THAT(payloads(plan_of("signsgd:scale=mean", message)), ElementsAre(20));
  EXPECT_THAT(payloads(plan_of("signsgd:pack=bytes", message)), ElementsAre(100));
  const Plan chunks = plan_of("signsgd:exchange=all_to_all", message, 2);  // 50 signs a chunk: 2 words
  EXPECT_THAT(payloads(chunks), ElementsAre(2 * 8, 8));
  EXPECT_EQ(chunks.front().exchange, Exchange::all_to_all);
  EXPECT_EQ(chunks.back().exchange, Exchange::all_gather);
  EXPECT_EQ(state_of("signsgd", message), 0);
  EXPECT_EQ(state_of("signsgd:feedback=on", message), 400);
}

TEST(OneBit, ExchangesChunksThenResultsAndKeepsBothResiduals) {
  EXPECT_THAT(payloads(plan_of("onebit", vector_of(1000), 4)), ElementsAre(4 * (32 + 4), 32 + 4));
  EXPECT_EQ(state_of("onebit", vector_of(1000), 4), 4000 + 1000);
}

TEST(Qsgd, SendsLevelsAndANormForEachBucket) {
  EXPECT_THAT(payloads(plan_of("qsgd", vector_of(1000))), ElementsAre(1000 + 8 * 4));
  EXPECT_THAT(payloads(plan_of("qsgd:bits=3", vector_of(1001))), ElementsAre(376 + 8 * 4));
  EXPECT_THAT(payloads(plan_of("qsgd:bucket=0", vector_of(1000))), ElementsAre(1004));
}

TEST(Qsgd, ReadsTwiceWhereANormSpansMoreThanRegistersHold) {
  const auto reads = [](const std::string& spec, std::size_t n) {
    const Round round = plan_of(spec, vector_of(n)).front();
    return (round.encode.touched - round.payload).base() / (4.0 * static_cast<double>(n));
  };
  EXPECT_EQ(reads("qsgd", 65537), 1);
  EXPECT_EQ(reads("qsgd:bucket=0", 65536), 1);
  EXPECT_EQ(reads("qsgd:bucket=0", 65537), 2);
}

TEST(TernGrad, TakesAByteOrTwoBitsAnElement) {
  EXPECT_THAT(payloads(plan_of("terngrad", vector_of(1001))), ElementsAre(1005));
  EXPECT_THAT(payloads(plan_of("terngrad:pack=2bit", vector_of(1001))), ElementsAre(251 + 4));
}

TEST(BlockScaled, SendsBlocksWithTheirConstants) {
  const Message message = {{64, 64}};  // 8 blocks
  const auto sent = [&](const std::string& spec) {
    return payloads(plan_of(spec + ",exchange=all_gather", message));
  };
  EXPECT_THAT(sent("int8:block=512"), ElementsAre(4096 + 8 * 8));
  EXPECT_THAT(sent("int4:block=512"), ElementsAre(2048 + 8 * 8));
  EXPECT_THAT(sent("int4:zero_point=off"), ElementsAre(2048 + 8 * 4));
  EXPECT_THAT(sent("int4:scale=f16"), ElementsAre(2048 + 8 * 4));
  EXPECT_THAT(sent("int4:block=100"), ElementsAre(2048 + 41 * 8));
  EXPECT_THAT(payloads(plan_of("int8:exchange=all_gather", {{64, 64, Element::bf16}})),
              ElementsAre(4096 + 8 * 4));
  EXPECT_THAT(payloads(plan_of("int4", message, 3)),  // chunks of 1366: 683 bytes in words of 8, 3 blocks
              ElementsAre(3 * (688 + 3 * 8), 688 + 3 * 8));
}

TEST(BlockScaled, SendsSmallTensorsAndVectorsAsTheyAre) {
  const Message message = {{32, 32}, {31, 33}, {5000, 1}};  // 1024, 1023, 5000 elements
  EXPECT_THAT(payloads(plan_of("int8:exchange=all_gather", message)),
              ElementsAre(4 * (1023 + 5000), 1024 + 2 * 8));
  EXPECT_THAT(payloads(plan_of("int8:exchange=all_gather,min_size=0", message)),
              ElementsAre(4 * 5000, 2048 + 4 * 8));
  EXPECT_THAT(payloads(plan_of("int8:exchange=all_gather,vectors=code,min_size=0", message)),
              ElementsAre(7048 + 14 * 8));
}

}  // namespace
}  // namespace breakeven::test
