// Are DDP's buckets the real ones? V28 and V29 of the utility paper's case list, buckets that people printed,
// and the ring time of the last bucket (V30).
#include <gtest/gtest.h>

#include "compressors/builtin.h"
#include "model/collectives.h"
#include "model/predict.h"
#include "model/schedule.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

std::vector<std::size_t> buckets(const Workload& workload, const std::string& schedule) {
  std::vector<std::size_t> sizes;
  const MessageCosts costs{[](Bytes size) { return 50_us + size / 10_Gbps; },
                           [](Bytes) { return Seconds{}; }};
  for (const Message& message : make_schedule(schedule).messages(workload, costs)) {
    sizes.push_back(static_cast<std::size_t>(bytes(message.tensors).base()));
  }
  return sizes;
}
Workload model(const char* name) {
  return Catalogue().model(name).workload;
}

/// BERT-base with the classifier of six classes that the authors' script trains, and another vocabulary where
/// wanted.
Workload bert(std::size_t vocabulary) {
  Workload workload = model("bert-base");
  for (Tensor& tensor : workload.tensors) {
    if (tensor.dims.front() == 30522) {
      tensor.dims.front() = vocabulary;
    }
  }
  add_tensor(workload, "classifier.weight", {6, 768}, 0);
  add_tensor(workload, "classifier.bias", {6}, 0);
  return workload;
}

using Sizes = std::vector<std::size_t>;

TEST(Buckets, V28ResNets) {
  EXPECT_EQ(buckets(model("resnet50"), "ddp"), (Sizes{8196000, 31502336, 26255360, 26550272, 9724160}));
  EXPECT_EQ(buckets(model("resnet101"), "ddp"),
            (Sizes{8196000, 31502336, 26255360, 27863040, 26812416, 26812416, 26361856, 4393216}));
}

TEST(Buckets, V29Bert) {
  Sizes expected{2380824};
  expected.insert(expected.end(), 12, 28351488);
  expected.push_back(95348736);
  EXPECT_EQ(buckets(bert(30522), "ddp"), expected);
  EXPECT_EQ(buckets(bert(21128), "ddp:cap=45MiB"),
            (Sizes{2380824, 47247360, 47253504, 47256576, 47247360, 47253504, 47256576, 47247360, 75945984}));
}

TEST(Buckets, ResNet18AsPrintedInPyTorchIssue48880) {
  EXPECT_EQ(buckets(model("resnet18"), "ddp:cap=25MiB"), (Sizes{2052000, 28852224, 15853824}));
  EXPECT_EQ(buckets(model("resnet18"), "ddp:cap=35MiB"), (Sizes{2052000, 38297600, 6408448}));
}

TEST(Buckets, ResNet50AsAProfilerTraceShowsThem) {
  // One DDP step on two A100: elements of the five all-reduces.
  Sizes elements;
  for (const std::size_t size : buckets(model("resnet50"), "ddp")) {
    elements.push_back(size / 4);
  }
  EXPECT_EQ(elements, (Sizes{2049000, 7875584, 6563840, 6637568, 2431040}));
}

TEST(Buckets, V30LastBucketRingTime) {
  const Level wire{"network", 10_Gbps, {}, 1};
  const auto last_ms = [&](const Workload& workload) {
    return ring_all_reduce(wire, Bytes::of(static_cast<double>(buckets(workload, "ddp").back())), 64).base() *
           1e3;
  };
  EXPECT_NEAR(last_ms(model("resnet50")), 15.3156, 5e-5);
  EXPECT_NEAR(last_ms(model("resnet101")), 6.9193, 5e-5);
  EXPECT_NEAR(last_ms(bert(30522)), 150.1743, 5e-5);
  // Equal 25 MiB buckets would end in 18,517,016 bytes.
  EXPECT_EQ(buckets(bert(30522), "equal").back(), 18517016U);
  EXPECT_NEAR(ring_all_reduce(wire, Bytes::of(18517016), 64).base() * 1e3, 29.2, 0.05);
}

TEST(Buckets, EveryScheduleSendsEveryElementOnce) {
  for (const char* name : {"resnet50", "bert-base", "vgg16_bn", "lstm-ptb", "gpt2"}) {
    const Workload workload = model(name);
    for (const ScheduleKind& kind : schedule_kinds()) {
      std::size_t total = 0;
      for (const std::size_t size : buckets(workload, kind.name)) {
        EXPECT_GT(size, 0U);
        total += size;
      }
      EXPECT_EQ(total, workload.elements() * 4) << name << " " << kind.name;
    }
  }
}

TEST(Buckets, ASerialCodecSeesWholeTensorsWhateverTheScheduleCuts) {
  Registry registry;
  add_builtin(registry);
  Scenario scenario;
  scenario.workload = model("resnet50");
  set_times(scenario.workload, Seconds::of(0.03), Seconds::of(0.06));
  scenario.device.memory = 900_GBps;
  scenario.fabric.across = {"network", 10_Gbps, {}, 1};
  scenario.workers = 16;
  const auto payload = [&](const char* schedule, const char* spec) {
    scenario.schedule = make_schedule(schedule);
    const Candidate candidate = registry.make(spec);
    return predict(scenario, *candidate.compressor, candidate.scheme->placement).payload;
  };
  EXPECT_EQ(payload("equal:cap=16KiB", "powersgd:rank=4"), payload("bsp", "powersgd:rank=4"));
  EXPECT_LT(payload("equal:cap=16KiB", "powersgd:rank=4"), 5_MB);
  // A rounded size is plain all-reduce's; a scheme that looks at shapes keeps the model.
  scenario.method = Method::closed_form;
  const Bytes shaped = payload("equal", "acpsgd");
  const Bytes dense = payload("equal", "bf16");
  scenario.dense_bytes = 97_MB;
  EXPECT_EQ(payload("equal", "acpsgd"), shaped);
  EXPECT_EQ(payload("equal", "none"), 97_MB);
  EXPECT_EQ(payload("equal", "bf16"), Bytes::of(97e6 / 2));
  EXPECT_NE(dense, Bytes::of(97e6 / 2));
}

TEST(Buckets, AMessageIsReadyWhenItsLastModuleIs) {
  Workload workload = model("resnet50");
  set_times(workload, Seconds::of(0.03), Seconds::of(0.06));
  const std::vector<Message> messages = make_schedule("ddp").messages(workload, {});
  for (std::size_t i = 1; i < messages.size(); ++i) {
    EXPECT_GT(messages[i].ready, messages[i - 1].ready);
  }
  EXPECT_NEAR(messages.back().ready.base(), 0.06, 1e-12);
  EXPECT_NEAR(make_schedule("bsp").messages(workload, {}).front().ready.base(), 0.06, 1e-12);
}

}  // namespace
}  // namespace breakeven
