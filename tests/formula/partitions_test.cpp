// Is what is cut, and what waits for the clock, cut and sent as the frameworks do it?
#include <gtest/gtest.h>

#include <algorithm>

#include "model/error.h"
#include "profiles/catalogue.h"
#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::elements_of;
using testing::on_10gbe;
using testing::plainly;
using testing::workload_of;

TEST(Partitions, V4CountsOfTheModels) {
  struct Row {
    const char* model;
    std::size_t elements, tensors, partitions, slices;
  };
  for (const Row& row :
       {Row{"resnet50", 25557032, 161, 175, 769}, Row{"bert-base-s64", 110111042, 206, 276, 2893},
        Row{"bert-large-s64", 336232258, 398, 718, 8732}, Row{"vgg16", 138357544, 32, 162, 3480}}) {
    const Workload workload = Catalogue().model(row.model).workload;
    const auto count = [&](const char* schedule) {
      return make_schedule(schedule).messages(workload, {}).size();
    };
    EXPECT_EQ(workload.elements(), row.elements) << row.model;
    EXPECT_EQ(count("wfbp"), row.tensors) << row.model;
    EXPECT_EQ(count("byteps"), row.partitions) << row.model;
    EXPECT_EQ(count("p3"), row.slices) << row.model;
  }
  const Workload resnet = Catalogue().model("resnet50").workload;
  EXPECT_EQ(std::count_if(resnet.tensors.begin(), resnet.tensors.end(),
                          [](const Tensor& tensor) { return tensor.elements() < 8192; }),
            108);
}

TEST(Partitions, ByteSchedulerCountsParametersAndBytePsBytes) {
  Workload workload = workload_of({{2500000, 1}});
  for (const Element element : {Element::f32, Element::bf16}) {
    workload.gradient = element;
    const double width = size_of(element);
    EXPECT_EQ(elements_of(make_schedule("bytescheduler", element).messages(workload, {})),
              (std::vector<double>{1e6, 1e6, 5e5}));
    const Sending sending = make_schedule("bytescheduler:credit=16000000", element).sending;
    EXPECT_EQ(sending.credit.base(), 16e6 * width);
    EXPECT_EQ(make_schedule("bytescheduler", element).sending.credit.base(), 4e6 * width);
    const auto bytes_each = elements_of(make_schedule("byteps", element).messages(workload, {}));
    EXPECT_EQ(bytes_each.front(), 4096000 / width);
    EXPECT_EQ(elements_of(make_schedule("p3", element).messages(workload, {})).front(), 40000);
  }
}

TEST(Partitions, TooManyAreRefused) {
  const Workload resnet = Catalogue().model("resnet50").workload;
  for (const char* schedule : {"p3:slice=10", "bytescheduler:partition=1", "byteps:partition=100B"}) {
    try {
      make_schedule(schedule).messages(resnet, {});
      ADD_FAILURE() << schedule;
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), "schedule");
      EXPECT_EQ(error.expected(), "a size that leaves at most 250000") << error.what();
    }
  }
}

TEST(Horovod, TicksByHand) {
  // A tick every 4 s, 64 bytes a buffer. Gradients at 1, 3, 4 (on the tick), 6, 7 and 9 s.
  const Workload workload = workload_of({{40, 2}, {14, 1}, {3, 2}, {3, 1}, {3, 2}, {3, 1}});
  const Schedule schedule = make_schedule("horovod:bytes=64B,cycle=4s,negotiation=0.5s");
  const std::vector<Message> messages = schedule.messages(workload, {});
  // 4 s: the first three. 8 s: 12 bytes, and 56 that no longer fit. 12 s: one that is larger than the buffer.
  EXPECT_EQ(elements_of(messages), (std::vector<double>{9, 3, 14, 40}));
  const double ready[] = {4, 6, 7, 9}, sent[] = {4.5, 8.5, 8.5, 12.5};
  ASSERT_EQ(messages.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(messages[i].ready.base(), ready[i]);
    EXPECT_DOUBLE_EQ((messages[i].ready + messages[i].delay).base(), sent[i]);
  }
  // On the network each is sent then, or when the one before is through.
  Scenario scenario = on_10gbe(workload, 2, "bsp");
  scenario.schedule = schedule;
  std::vector<double> begins;
  for (const Span& span : plainly(scenario).spans) {
    if (span.resource == Resource::network) {
      begins.push_back(span.begin.base());
    }
  }
  ASSERT_EQ(begins.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(begins[i], sent[i], 1e-3);
  }
}

TEST(Horovod, AGradientAtZeroLeavesAtTheFirstTick) {
  const auto messages = make_schedule("horovod").messages(workload_of({{3, 0}, {5, 0}}), {});
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0].delay, Seconds{});
}

}  // namespace
}  // namespace breakeven
