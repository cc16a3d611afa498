// Do the schemes send what the published implementations send?
#include <gmock/gmock.h>

#include "model/collectives.h"
#include "profiles/catalogue.h"
#include "tests/compressors/messages.h"

namespace breakeven::test {
namespace {

using testing::ElementsAre;

Message model(const std::string& name) {
  const Workload workload = Catalogue().model(name).workload;
  Message shapes;
  for (const Tensor& tensor : workload.tensors) {
    shapes.push_back(workload.shape(tensor));
  }
  return shapes;
}

/// With the classifier for 6 classes that the paper's runs trained.
Message bert(std::size_t vocabulary) {
  Message shapes = model("bert-base");
  for (Shape& shape : shapes) {
    shape.rows = shape.rows == 30522 ? vocabulary : shape.rows;
  }
  shapes.push_back({6, 768});
  shapes.push_back({6, 1});
  return shapes;
}

constexpr std::size_t kUncased = 30522, kChinese = 21128;

Plan power(const Message& message, int rank) {
  return plan_of("powersgd:min_ratio=0,rank=" + std::to_string(rank), message, 64);
}

double ms(Exchange exchange, Bytes payload) {
  Fabric fabric;
  fabric.across.bandwidth = BytesPerSecond::of(1.25e9);
  return transfer(fabric, exchange, payload, {64, 1}, Algorithm::ring).time.base() * 1e3;
}

TEST(PublishedPayloads, PowerSgdSendsTheFactorsOfResNet50) {
  const Message shapes = model("resnet50");
  EXPECT_THAT(payloads(power(shapes, 4)), ElementsAre(4 * 54120, 4 * 110240, 4 * 219724));
  EXPECT_THAT(payloads(power(shapes, 8)), ElementsAre(4 * 54120, 4 * 220480, 4 * 439448));
  EXPECT_THAT(payloads(power(shapes, 16)), ElementsAre(4 * 54120, 4 * 440960, 4 * 878896));
}

TEST(PublishedPayloads, PowerSgdSendsTheFactorsOfResNet101) {
  const Message shapes = model("resnet101");
  EXPECT_THAT(payloads(power(shapes, 4)), ElementsAre(4 * 106344, 4 * 214688, 4 * 463436));
  EXPECT_THAT(payloads(power(shapes, 8)), ElementsAre(4 * 106344, 4 * 429376, 4 * 926872));
  EXPECT_THAT(payloads(power(shapes, 16)), ElementsAre(4 * 106344, 4 * 858752, 4 * 1853744));
}

TEST(PublishedPayloads, PowerSgdSendsTheFactorsOfBertAndCapsTheRankOfSmallMatrices) {
  EXPECT_THAT(payloads(power(bert(kUncased), 4)), ElementsAre(4 * 122118, 4 * 459012, 4 * 345600));
  EXPECT_THAT(payloads(power(bert(kUncased), 8)), ElementsAre(4 * 122118, 4 * 918008, 4 * 688128));
  EXPECT_THAT(payloads(power(bert(kUncased), 16)), ElementsAre(4 * 122118, 4 * 1835976, 4 * 1370112));
  EXPECT_THAT(payloads(power(bert(kChinese), 4)), ElementsAre(4 * 122118, 4 * 421436, 4 * 345600));
  EXPECT_THAT(payloads(power(bert(kChinese), 8)), ElementsAre(4 * 122118, 4 * 842856, 4 * 688128));
  EXPECT_THAT(payloads(power(bert(kChinese), 16)), ElementsAre(4 * 122118, 4 * 1685672, 4 * 1370112));
}

TEST(PublishedPayloads, PowerSgdReachesThePublishedRatios) {
  const auto ratio = [](const Message& message, int rank) {
    Bytes sent;
    for (const Round& round : power(message, rank)) {
      sent += round.payload;
    }
    return bytes(message) / sent;
  };
  EXPECT_NEAR(ratio(model("resnet50"), 4), 66.54, 0.005);
  EXPECT_NEAR(ratio(model("resnet50"), 16), 18.60, 0.005);
  EXPECT_NEAR(ratio(model("resnet101"), 8), 30.46, 0.005);
  EXPECT_NEAR(ratio(bert(kUncased), 4), 118.14, 0.005);
  EXPECT_NEAR(ratio(bert(kChinese), 16), 32.18, 0.005);
}

TEST(PublishedPayloads, SignSgdPacksSignsInWordsOf32) {
  EXPECT_THAT(payloads(plan_of("signsgd", model("resnet50"))), ElementsAre(3194632));
  EXPECT_THAT(payloads(plan_of("signsgd", model("resnet101"))), ElementsAre(5568648));
  EXPECT_THAT(payloads(plan_of("signsgd", bert(kUncased))), ElementsAre(13685860));
  EXPECT_THAT(payloads(plan_of("signsgd", bert(kChinese))), ElementsAre(12784036));
}

TEST(PublishedPayloads, TopKSendsTwelveBytesForEachOfTheElementsTheReducerKeeps) {
  // The reducer's compression c keeps c / 2 of the elements.
  const Message shapes = model("resnet50");
  EXPECT_THAT(payloads(plan_of("topk:ratio=10%", shapes)), ElementsAre(4.0 * 2555703, 8.0 * 2555703));
  EXPECT_THAT(payloads(plan_of("topk:ratio=5%", shapes)), ElementsAre(4.0 * 1277851, 8.0 * 1277851));
  EXPECT_THAT(payloads(plan_of("topk:ratio=0.5%", shapes)), ElementsAre(4.0 * 127785, 8.0 * 127785));
  EXPECT_THAT(payloads(plan_of("topk:ratio=0.05%", shapes)), ElementsAre(4.0 * 12778, 8.0 * 12778));
  EXPECT_THAT(payloads(plan_of("topk:ratio=10%,index=u32", shapes)),
              ElementsAre(4.0 * 2555703, 4.0 * 2555703));
}

TEST(PublishedPayloads, TopKGathersForThePublishedTimesAt10GbitAmong64) {
  const auto times = [](const char* spec) {
    std::vector<double> result;
    for (const Round& round : plan_of(spec, model("resnet50"), 64)) {
      result.push_back(ms(round.exchange, round.payload));
    }
    return result;
  };
  // The published 10 % and 1 % are the reducer's compression, which keeps half of it. Values, then 64-bit
  // positions.
  EXPECT_THAT(times("topk:ratio=5%"),
              ElementsAre(testing::DoubleNear(257.6148, 1e-4), testing::DoubleNear(515.2295, 1e-4)));
  EXPECT_THAT(times("topk:ratio=0.5%"),
              ElementsAre(testing::DoubleNear(25.7615, 1e-4), testing::DoubleNear(51.5229, 1e-4)));
}

/// What the formulas of gTop-k's plots come to (hclhkbu/gtopkssgd, scripts/icdcs2019/communication.py), where
/// they have not lost their alpha: 25 Mi elements on 1 Gbit/s Ethernet.
TEST(PublishedPayloads, GTopKTakesThePublishedTimesAmong32) {
  Fabric fabric;
  fabric.across = {"1GbE", BytesPerSecond::of(1e3 / 9e-6), Seconds::of(0.436e-3), 1};
  const Message gradient = vector_of(std::size_t{25} << 20U);
  const auto times = [&](const Plan& plan, Algorithm algorithm) {
    Seconds time;
    for (const Round& round : plan) {
      time += transfer(fabric, round.exchange, round.payload, {32, 1}, algorithm, {}, round.distance).time;
    }
    return time.base() * 1e3;
  };
  EXPECT_NEAR(times(plan_of("none", gradient, 32), Algorithm::ring), 1855.5, 0.05);
  EXPECT_NEAR(times(plan_of("gtopk", gradient, 32), Algorithm::automatic), 23.2, 0.05);
  // Their formula of top-k gathers values and positions at once.
  Plan topk = plan_of("topk:ratio=0.1%,index=u32", gradient, 32);
  ASSERT_EQ(topk.size(), 2U);
  topk[0].payload += topk[1].payload;
  topk.pop_back();
  EXPECT_NEAR(times(topk, Algorithm::recursive_doubling), 60.7, 0.05);
}

TEST(PublishedPayloads, PowerSgdReducesForThePublishedTimesAt10GbitAmong64) {
  const auto times = [](const Message& message) {
    std::vector<double> result;
    for (const Round& round : power(message, 4)) {
      result.push_back(ms(round.exchange, round.payload));
    }
    return result;
  };
  using testing::DoubleNear;
  EXPECT_THAT(times(model("resnet50")),
              ElementsAre(DoubleNear(0.3410, 5e-5), DoubleNear(0.6945, 5e-5), DoubleNear(1.3843, 5e-5)));
  EXPECT_THAT(times(bert(kUncased)),
              ElementsAre(DoubleNear(0.7693, 5e-5), DoubleNear(2.8918, 5e-5), DoubleNear(2.1773, 5e-5)));
}

}  // namespace
}  // namespace breakeven::test
