// Do measured gaps between gradients become the workload: from a log that a user names, and from a model's
// profile?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiles/read.h"
#include "profiles/write.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

const std::string kPlain = "gap_us,bytes\n500,4000\n0,400\n1500,8000\n";
const std::string kAuthors = "gaps and sizes; made up\n1\n3\n500.0,4000\n0,400\n1.5e3,8000\n";

std::string refused(const std::string& text) {
  return failure([&] { (void)read_backward_log(text, "b.log"); });
}
OptionValues from(const std::string& file, const OptionValues& more = {}) {
  return with({{"backward-log", file}, {"workers", "4"}, {"bandwidth", "10Gbps"}}, more);
}

TEST(BackwardLog, BothFormsSayTheSame) {
  for (const std::string& text :
       {kPlain, kAuthors, std::string("gap_us, bytes\r\n500,4000\r\n0, 400\r\n1500,8000")}) {
    const BackwardLog log = read_backward_log(text, "b.log");
    ASSERT_EQ(log.rows.size(), 3U);
    EXPECT_DOUBLE_EQ(log.rows[0].gap.base(), 500e-6);
    EXPECT_EQ(log.rows[1].gap, Seconds{});
    EXPECT_DOUBLE_EQ(log.rows[2].gap.base(), 1.5e-3);
    EXPECT_EQ(log.rows[1].bytes, 400U);
  }
}

TEST(BackwardLog, NamesTheLineThatIsWrong) {
  EXPECT_EQ(refused("gap_us,bytes\n5,4000\nnan,400\n"),
            "file b.log: line 3: \"nan\" is not a finite number: expected a number");
  EXPECT_EQ(refused("gap_us,bytes\n-5,4000\n"), "file b.log: line 2: a gap of -5 us: expected 0 to 1e12 us");
  EXPECT_EQ(refused("gap_us,bytes\n1e13,4000\n"),
            "file b.log: line 2: a gap of 1e13 us: expected 0 to 1e12 us");
  EXPECT_EQ(refused("gap_us,bytes\n5,-1\n"),
            "file b.log: line 2: cannot read \"-1\" as a whole number: expected a whole number, such as 8");
  EXPECT_EQ(refused("gap_us,bytes\n5,4.5\n"),
            "file b.log: line 2: cannot read \"4.5\" as a whole number: expected a whole number, such as 8");
  EXPECT_EQ(refused("gap_us,bytes\n5,0\n"),
            "file b.log: line 2: a gradient of 0 bytes: expected the size of a gradient");
  for (const std::string row : {"5", "5,6,7", ""}) {
    EXPECT_EQ(refused("gap_us,bytes\n" + row + "\n5,4\n"),
              "file b.log: line 2: cannot read \"" + row +
                  "\": expected a gap in microseconds and a size in bytes: 552.6,4000");
  }
  EXPECT_EQ(refused("gap_us,bytes\n5 us,4\n"),
            "file b.log: line 2: cannot read \"5 us\" as a number: expected a number without a unit");
  EXPECT_EQ(refused("gap_us,bytes\n0,4\n0,4\n"),
            "file b.log: line 3: all gaps are 0: expected gaps that add up to the backward pass");
  EXPECT_EQ(refused("gap_us,bytes\n"),
            "file b.log: line 1: the log ends after 0 rows: expected a row a gradient");
  EXPECT_EQ(refused("gap_us,bytes\n1,900000000000000\n1,900000000000000\n"),
            "file b.log: line 3: the rows so far are 2 gradients of 1800 TB in 2 us: expected at most 100000 "
            "gradients, 1e15 bytes, 1e6 s");
}

TEST(BackwardLog, NamesWhatIsWrongWithTheCounts) {
  EXPECT_EQ(refused("made up\n1\n3\n5,4\n6,4\n"),
            "file b.log: line 5: the log ends after 2 rows: expected 3 rows, as line 3 says");
  EXPECT_EQ(refused("made up\n1\n1\n5,4\n6,4\n"),
            "file b.log: line 5: a row more than the 1 layers of line 3: expected as many rows");
  EXPECT_EQ(refused("made up\n2\n1\n5,4\n"),
            "file b.log: line 2: 2 batches: expected 1: the gaps of one backward pass");
  EXPECT_EQ(refused("made up\n1\n0\n"), "file b.log: line 3: 0 layers: expected the number of rows below");
  EXPECT_EQ(refused("gap,size\n5,4\n"),
            "file b.log: line 2: cannot read \"5,4\" as the number of batches: expected a whole number, or "
            "gap_us,bytes in the first line");
  EXPECT_EQ(
      refused("made up\n1\n"),
      "file b.log: line 2: the log ends before the number of layers: expected gap_us,bytes, or a line of "
      "explanation, the number of batches and that of layers");
  EXPECT_EQ(refused(" \n\n").substr(0, 52), "file b.log: line 1: the log ends before the number o");
}

TEST(BackwardLog, EachRowIsAModuleInForwardOrder) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("b.log", kAuthors);
  const ScenarioSetup setup = tiny(from(file, {{"forward", "1ms"}, {"other", "2ms"}}));
  const Workload& workload = setup.scenario.workload;
  ASSERT_EQ(workload.modules.size(), 3U);
  EXPECT_EQ(workload.tensors[0].elements(), 2000U) << "the last gradient is the first layer's";
  EXPECT_EQ(workload.tensors[2].elements(), 1000U);
  EXPECT_DOUBLE_EQ(workload.modules[0].backward.base(), 1.5e-3);
  EXPECT_DOUBLE_EQ(workload.modules[2].backward.base(), 500e-6);
  EXPECT_EQ(workload.gradient_bytes(), 12400_B);
  EXPECT_DOUBLE_EQ(workload.forward().base(), 1e-3);
  EXPECT_DOUBLE_EQ(workload.modules[0].forward.base(), 0.75e-3) << "as its gap to all";
  EXPECT_DOUBLE_EQ(workload.modules[2].forward.base(), 0.25e-3);
  EXPECT_DOUBLE_EQ(workload.other.base(), 2e-3);
  EXPECT_EQ(stated(setup, "backward"), "2 ms, given, the gaps of the log");
  EXPECT_EQ(stated(setup, "backward_log"), file + ", given, ");
  EXPECT_EQ(setup.title.substr(0, file.size() + 13), "gradients of " + file);
  const std::vector<Message> messages = make_schedule("wfbp").messages(workload, {});
  ASSERT_EQ(messages.size(), 3U);
  EXPECT_DOUBLE_EQ(messages[0].ready.base(), 500e-6);
  EXPECT_DOUBLE_EQ(messages[1].ready.base(), 500e-6);
  EXPECT_DOUBLE_EQ(messages[2].ready.base(), 2e-3);
}

TEST(BackwardLog, AGradientHoldsWholeElements) {
  const TemporaryDirectory directory;
  EXPECT_EQ(failure([&] { (void)tiny(from(directory.file("b.csv", "gap_us,bytes\n500,4000\n10,6\n"))); }),
            "value --backward-log: gradient 2 has 6 B: expected a multiple of 4 B, an element of fp32");
  EXPECT_EQ(tiny(from(directory.file("h.csv", "gap_us,bytes\n500,6\n"), {{"grad-dtype", "fp16"}}))
                .scenario.workload.elements(),
            3U);
}

TEST(BackwardLog, OptimalHasALimitOnTensors) {
  const TemporaryDirectory directory;
  std::string rows = "gap_us,bytes\n";
  for (int i = 0; i < 4097; ++i) {
    rows += "1,4\n";
  }
  const std::string file = directory.file("b.csv", rows);
  EXPECT_EQ(failure([&] {
              (void)tiny(from(file, {{"schedule", "optimal"}}));
            }),
            "value --schedule: optimal has 4097 tensors to merge: expected at most 4096, or schedule mgwfbp");
  EXPECT_EQ(tiny(from(file, {{"schedule", "mgwfbp"}})).scenario.workload.tensors.size(), 4097U);
}

TEST(BackwardLog, TheRestOfTheStepIsGivenOrFollows) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("b.csv", kPlain);
  EXPECT_EQ(stated(tiny(from(file)), "forward"),
            "1 ms, assumed, half of backward, which computes two products for one");
  const ScenarioSetup rate = tiny(from(file, {{"throughput", "1000/s"}, {"batch", "8"}, {"other", "1ms"}}));
  EXPECT_EQ(stated(rate, "forward"), "5 ms, given, batch / throughput - backward - other");
  const auto wrong = [&](const OptionValues& more) { return failure([&] { (void)tiny(from(file, more)); }); };
  EXPECT_EQ(
      wrong({{"throughput", "8000/s"}, {"batch", "8"}}),
      "value --throughput: leaves 1 ms for a step: expected more than the log's backward and --other, 2 ms");
  EXPECT_EQ(wrong({{"throughput", "8000/s"}}),
            "value --batch: is missing: expected the samples of one worker, for --throughput");
  EXPECT_EQ(wrong({{"backward", "1ms"}}),
            "value --backward: is given beside --backward-log: expected one of them");
  EXPECT_EQ(wrong({{"model", "tiny"}}),
            "value --model: is given beside --backward-log: expected one of them");
  EXPECT_EQ(wrong({{"gradient-bytes", "1MB"}}),
            "value --gradient-bytes: is given beside --backward-log: expected one of them");
  EXPECT_EQ(failure([] { (void)tiny(from("no/such.log")); }),
            "file no/such.log: no such file: expected a log of gradients");
}

const std::string kGaps = R"("backward": "20 ms", "gaps": ["15 ms", "5 ms"],)";

std::string model_with(const std::string& timing) {
  std::string text = kTinyModel;
  const std::string from = R"("backward": "20 ms",)";
  return text.replace(text.find(from), from.size(), timing);
}

TEST(Gaps, OfAModelsTimingSayWhenEachGradientIsReady) {
  const TemporaryDirectory directory;
  (void)directory.file("models/tiny.json", model_with(kGaps));
  (void)directory.file("devices/gpu.json", kTinyDevice);
  Catalogue catalogue;
  catalogue.add_directory(directory.path());
  const OptionValues base = {{"model", "tiny"}, {"device", "gpu"}, {"workers", "2"}, {"bandwidth", "1Gbps"}};
  const auto backward = [&](const OptionValues& more) {
    std::vector<double> times;
    for (const Module& module : resolve(with(base, more), catalogue).scenario.workload.modules) {
      times.push_back(module.backward.base() * 1e3);
    }
    return times;
  };
  using testing::DoubleEq;
  using testing::ElementsAre;
  EXPECT_THAT(backward({{"batch", "8"}}), ElementsAre(DoubleEq(5), DoubleEq(15)));
  EXPECT_THAT(backward({{"batch", "16"}}), ElementsAre(DoubleEq(10), DoubleEq(30)));
  EXPECT_THAT(backward({{"batch", "64"}}), ElementsAre(DoubleEq(30), DoubleEq(120))) << "by FLOPs";
  EXPECT_THAT(backward({{"backward", "50ms"}}), ElementsAre(DoubleEq(10), DoubleEq(40))) << "by FLOPs";
}

TEST(Gaps, ForwardWaitsForAllTensorsOfItsModule) {
  const ScenarioSetup setup = resolve(
      {{"model", "resnet50"}, {"device", "v100"}, {"batch", "32"}, {"workers", "2"}, {"bandwidth", "1Gbps"}},
      Catalogue());
  const Workload& workload = setup.scenario.workload;
  ASSERT_EQ(workload.modules.size(), workload.tensors.size());
  EXPECT_NEAR(workload.forward().base(), 32.8e-3, 1e-12);
  // bn1.weight, bn1.bias: batch normalisation runs when both are there.
  EXPECT_EQ(workload.tensors[1].name, "bn1.weight");
  EXPECT_EQ(workload.modules[1].forward, Seconds{});
  EXPECT_GT(workload.modules[2].forward, Seconds{});
}

TEST(Gaps, MustFitTheModel) {
  const auto wrong = [](const std::string& timing) {
    return failure([&] { (void)read_model(model_with(timing), "m.json"); });
  };
  EXPECT_EQ(wrong(kGaps), "nothing was thrown");
  EXPECT_EQ(wrong(R"("backward": "20 ms", "gaps": ["20 ms"],)"),
            "file m.json: /timings/0/gaps: 1 gaps for 2 tensors: expected one a tensor, from the last to the "
            "first, and perhaps the rest of backward");
  EXPECT_EQ(wrong(R"("backward": "20 ms", "gaps": ["10 ms", "5 ms"],)"),
            "file m.json: /timings/0/gaps: the gaps add up to 15 ms: expected the time of backward, 20 ms");
  EXPECT_EQ(wrong(R"("backward": "20 ms", "gaps": ["25 ms", "-5 ms"],)"),
            "file m.json: /timings/0/gaps/1: \"-5 ms\" must not be negative: expected 0 or more");
}

TEST(Gaps, OneMoreIsTheRestOfBackward) {
  const TemporaryDirectory directory;
  (void)directory.file("models/tiny.json",
                       model_with(R"("backward": "20 ms", "gaps": ["5 ms", "3 ms", "12 ms"],)"));
  (void)directory.file("devices/gpu.json", kTinyDevice);
  Catalogue catalogue;
  catalogue.add_directory(directory.path());
  const Scenario scenario = resolve({{"model", "tiny"},
                                     {"device", "gpu"},
                                     {"batch", "8"},
                                     {"schedule", "wfbp"},
                                     {"workers", "2"},
                                     {"bandwidth", "1Gbps"}},
                                    catalogue)
                                .scenario;
  EXPECT_NEAR(scenario.workload.backward().base(), 20e-3, 1e-12);
  const auto messages = scenario.schedule.messages(scenario.workload, {});
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_NEAR(messages[0].ready.base(), 5e-3, 1e-12);
  EXPECT_NEAR(messages[1].ready.base(), 8e-3, 1e-12);
}

TEST(TimingGamma, IsFromOneToTen) {
  const auto with_gamma = [](const std::string& gamma) {
    return model_with(R"("backward": "20 ms", "gamma": )" + gamma + ",");
  };
  EXPECT_EQ(read_model(with_gamma("1.25"), "m.json").timings[0].gamma, 1.25);
  EXPECT_EQ(read_model(kTinyModel, "m.json").timings[0].gamma, std::nullopt);
  EXPECT_EQ(read_model(write_model(read_model(with_gamma("1"), "m.json")), "m.json").timings[0].gamma, 1.0);
  for (const char* gamma : {"0.5", "11"}) {
    EXPECT_EQ(failure([&] { (void)read_model(with_gamma(gamma), "m.json"); }),
              "file m.json: /timings/0/gamma: is " + std::string(gamma) + ": expected 1 to 10");
  }
}

TEST(Busy, IsPartOfTheStep) {
  const auto with_busy = [](const std::string& busy) {
    return model_with(R"("backward": "20 ms", "busy": ")" + busy + "\",");
  };
  EXPECT_EQ(read_model(with_busy("7 ms"), "m.json").timings[0].busy, Seconds::of(7e-3));
  EXPECT_EQ(read_model(kTinyModel, "m.json").timings[0].busy, std::nullopt);
  const std::string text = write_model(read_model(with_busy("7 ms"), "m.json"));
  EXPECT_EQ(read_model(text, "m.json").timings[0].busy, Seconds::of(7e-3));
  EXPECT_EQ(failure([&] { (void)read_model(with_busy("36 ms"), "m.json"); }),
            "file m.json: /timings/0/busy: is 36 ms: expected at most forward, backward and other, 35 ms");
  EXPECT_EQ(failure([&] { (void)read_model(with_busy("-1 ms"), "m.json"); }),
            "file m.json: /timings/0/busy: \"-1 ms\" must not be negative: expected 0 or more");
}

TEST(Busy, ADeviceThatIdlesTakesMoreSamplesInTheSameTimeUntilItIsFull) {
  const auto asked = [](const std::string& busy, const std::string& batch) {
    const TemporaryDirectory directory;
    (void)directory.file("models/tiny.json", model_with(R"("backward": "20 ms", "busy": ")" + busy + "\","));
    (void)directory.file("devices/gpu.json", kTinyDevice);
    Catalogue catalogue;
    catalogue.add_directory(directory.path());
    return resolve(
        {{"model", "tiny"}, {"device", "gpu"}, {"workers", "2"}, {"bandwidth", "1Gbps"}, {"batch", batch}},
        catalogue);
  };
  const ScenarioSetup launches = asked("7 ms", "16");
  EXPECT_EQ(stated(launches, "backward"),
            "20 ms, measured, a stopwatch; launches, taken over from batch 8 to 16");
  EXPECT_EQ(stated(launches, "busy").substr(0, 5), "14 ms");
  EXPECT_EQ(stated(asked("7 ms", "4"), "busy").substr(0, 6), "3.5 ms");
  EXPECT_EQ(stated(asked("34 ms", "4"), "backward"), "10 ms, measured, a stopwatch; scaled from batch 8 to 4")
      << "it idles too little to wait for launches";
  const ScenarioSetup full = asked("21 ms", "20");  // 52.5 in the 35 ms that launches take
  EXPECT_EQ(stated(full, "backward"), "30 ms, measured, a stopwatch; scaled from batch 8 to 20");
  EXPECT_TRUE(std::none_of(full.inputs.begin(), full.inputs.end(),
                           [](const Input& given) { return given.name == "busy"; }));
}

TEST(MessageOverhead, IsAddedToEveryExchange) {
  const OptionValues base = {
      {"gradient-bytes", "100MB"}, {"backward", "10ms"}, {"workers", "4"}, {"bandwidth", "10Gbps"}};
  EXPECT_EQ(tiny(base).scenario.overlap.message, Seconds{});
  const ScenarioSetup setup = tiny(with(base, {{"message-overhead", "50us"}}));
  EXPECT_DOUBLE_EQ(setup.scenario.overlap.message.base(), 50e-6);
  EXPECT_EQ(stated(setup, "message_overhead"), "50 us, given, ");
}

std::string fabric_with(const std::string& additions) {
  return R"({"schema": 1, "name": "f", "source": "all", "across": {"bandwidth": "1 Gbit/s", "latency": "0 s"},
    "additions": )" +
         additions + "}";
}

TEST(Additions, OfAFabricAreRead) {
  const FabricProfile profile = read_fabric(
      fabric_with(R"({"source": "a run", "points": [["40 B", "10 us"], ["80 B", "9 us"]]})"), "f.json");
  EXPECT_EQ(profile.fabric.additions.source, "a run");
  EXPECT_NEAR(profile.fabric.additions.at(60_B).base(), 9.5e-6, 1e-18);
  EXPECT_EQ(read_fabric(fabric_with(R"({"points": [["40 B", "10 us"]]})"), "f.json").fabric.additions.source,
            "all");
  const auto wrong = [](const std::string& additions) {
    return failure([&] { (void)read_fabric(fabric_with(additions), "f.json"); });
  };
  EXPECT_EQ(wrong(R"({"points": []})"),
            "file f.json: /additions/points: is an empty list: expected at least 1");
  EXPECT_EQ(
      wrong(R"({"points": [["40 B", "10 us"], ["40 B", "9 us"]]})"),
      "file f.json: /additions/points/1/0: \"40 B\" is not above the point before: expected rising sizes");
  EXPECT_EQ(wrong(R"({"points": [["40 B", "-1 us"]]})"),
            "file f.json: /additions/points/0/1: \"-1 us\" must not be negative: expected 0 or more");
  EXPECT_EQ(wrong(R"({"point": []})"),
            "file f.json: /additions: unknown key \"point\": expected one of points, source (did you mean "
            "points?)");
}

}  // namespace
}  // namespace breakeven
