// Do the schedules equal what the published methods compute? Rules of merging, ticks, partitions, parameter
// servers and recurrences of arXiv 2005.13247 and its companions, by number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include "compressors/builtin.h"
#include "model/predict.h"
#include "profiles/catalogue.h"

namespace breakeven {
namespace {

using Sizes = std::vector<std::size_t>;
using Cost = std::function<Seconds(Bytes)>;

/// One tensor a module, forward order; forward takes half of backward (the trace script of arXiv 1811.11141).
struct Layer {
  std::size_t elements = 0;
  double backward = 0;
};
Workload workload_of(const std::vector<Layer>& layers, double forward = 0.5) {
  Workload workload;
  for (const Layer& layer : layers) {
    workload.modules.push_back(
        {"layer", 0, 0, Seconds::of(layer.backward * forward), Seconds::of(layer.backward)});
    workload.tensors.push_back({"layer.weight", {layer.elements}, workload.modules.size() - 1});
  }
  return workload;
}

/// An all-reduce of a seconds and b more a byte.
Cost line(double a, double b) {
  return [a, b](Bytes size) { return Seconds::of(a + b * size.base()); };
}
MessageCosts costs(Cost exchange, Cost encode = line(0, 0)) {
  return {std::move(exchange), std::move(encode)};
}
std::vector<Message> grouped(const Workload& workload, const std::string& schedule, const Cost& exchange) {
  return make_schedule(schedule).messages(workload, costs(exchange));
}

/// When the last message is through one channel, first come, first served.
double finish(const std::vector<Message>& messages, const Cost& exchange) {
  double free = 0;
  for (const Message& message : messages) {
    free = std::max(free, message.ready.base()) + exchange(bytes(message.tensors)).base();
  }
  return free;
}
Sizes tensors_of(const std::vector<Message>& messages) {
  Sizes counts;
  for (const Message& message : messages) {
    counts.push_back(message.tensors.size());
  }
  return counts;
}
std::vector<double> elements_of(const std::vector<Message>& messages) {
  std::vector<double> counts;
  for (const Message& message : messages) {
    counts.push_back(static_cast<double>(elements(message.tensors)));
  }
  return counts;
}

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  double real(double low, double high) { return std::uniform_real_distribution<>(low, high)(engine); }
  std::size_t count(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine);
  }
  std::vector<Layer> layers(std::size_t low, std::size_t high) {
    std::vector<Layer> made(count(low, high));
    for (Layer& layer : made) {
      layer = {static_cast<std::size_t>(std::pow(10, real(1, 6))), std::pow(10, real(-4, -2))};
    }
    return made;
  }
  /// Start-ups from far below a layer's backward to far above.
  Cost network() { return line(std::pow(10, real(-5, -1.5)), std::pow(10, real(-10, -7))); }
  std::mt19937 engine;
};

// ---- merging ----

/// MG-WFBP's rule as its authors run it: after every merge all starts are computed anew. Groups in the order
/// of the gradients, by how many layers they hold.
Sizes mgwfbp_by_its_authors(const std::vector<Layer>& layers, double a, double b) {
  const std::size_t n = layers.size();
  std::vector<double> exists(n), size(n), exchange(n), start(n);
  double clock = 0;
  for (std::size_t l = n; l-- > 0;) {
    exists[l] = clock += layers[l].backward;
    size[l] = 4 * static_cast<double>(layers[l].elements);
    exchange[l] = a + b * size[l];
  }
  const auto starts = [&] {
    start[n - 1] = exists[n - 1];
    for (std::size_t l = n - 1; l-- > 0;) {
      start[l] = std::max(start[l + 1] + exchange[l + 1], exists[l]);
    }
  };
  starts();
  Sizes groups{1};
  for (std::size_t l = n; l-- > 1;) {
    const double next = exists[l - 1];
    if (next < start[l] + exchange[l] && (start[l] > next || next - start[l] < a)) {
      exchange[l] = 0;
      size[l - 1] += size[l];
      exchange[l - 1] = a + b * size[l - 1];
      starts();
      ++groups.back();
    } else {
      groups.push_back(1);
    }
  }
  return groups;
}

TEST(Merging, OnePassEqualsTheQuadraticFormOfMgWfbp) {
  std::size_t merged = 0, split = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    const std::vector<Layer> layers = random.layers(1, 24);
    const double a = std::pow(10, random.real(-5, -1.5)), b = std::pow(10, random.real(-10, -7));
    const Sizes groups = tensors_of(grouped(workload_of(layers), "mgwfbp:small=0", line(a, b)));
    ASSERT_EQ(groups, mgwfbp_by_its_authors(layers, a, b)) << seed;
    merged += groups.size() < layers.size() ? 1 : 0;
    split += groups.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(merged, 5000U);
  EXPECT_GT(split, 5000U);
}

TEST(Merging, SmallTensorsAlwaysMerge) {
  const Workload workload = workload_of({{8192, 1}, {8191, 1}, {8192, 1}, {100, 1}});
  const Cost free = line(0, 0);
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp", free)), (Sizes{2, 2}));
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp:small=0", free)), (Sizes{1, 1, 1, 1}));
}

TEST(Merging, GreedyIsNotOptimal) {
  // t_b = (0.9, 0.9, 1.0), M = (0.1, 0.1, 0.8), a = b = 1.
  const Workload workload = workload_of({{1, 0.9}, {1, 0.9}, {8, 1.0}});
  const Cost exchange = line(1, 1.0 / 40);
  const auto greedy = grouped(workload, "mgwfbp:small=0", exchange);
  EXPECT_EQ(tensors_of(greedy), (Sizes{3}));
  EXPECT_NEAR(finish(greedy, exchange), 4.8, 1e-12);
  const auto best = grouped(workload, "optimal", exchange);
  EXPECT_EQ(tensors_of(best), (Sizes{1, 2}));
  EXPECT_NEAR(finish(best, exchange), 4.0, 1e-12);
}

/// The least over every grouping of neighbours.
double least_finish(const std::vector<Message>& single, const Cost& exchange) {
  const std::size_t n = single.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t cuts = 0; cuts < std::size_t{1} << (n - 1); ++cuts) {
    double free = 0;
    Bytes size;
    for (std::size_t i = 0; i < n; ++i) {
      size += bytes(single[i].tensors);
      if (i + 1 == n || (cuts >> i & 1) != 0) {
        free = std::max(free, single[i].ready.base()) + exchange(size).base();
        size = {};
      }
    }
    least = std::min(least, free);
  }
  return least;
}

TEST(Merging, OptimalIsTheLeastOfAllGroupingsAndNeverWorseThanTheMethods) {
  std::size_t beats_greedy = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    Random random(seed);
    const Workload workload = workload_of(random.layers(1, seed % 2 == 0 ? 8 : 24));
    Cost exchange = random.network();
    if (seed % 3 == 0) {  // protocols change with the size: neither linear nor even rising everywhere
      const double knee = std::pow(10, random.real(4, 6));
      exchange = [first = random.network(), second = random.network(), knee](Bytes size) {
        return size.base() < knee ? first(size) : second(size);
      };
    }
    const double best = finish(grouped(workload, "optimal", exchange), exchange);
    const double limit = best * (1 - 1e-12);
    for (const char* method : {"mgwfbp", "mgwfbp:small=0", "asc", "omgs", "wfbp", "bsp"}) {
      ASSERT_GE(finish(grouped(workload, method, exchange), exchange), limit) << method << " " << seed;
    }
    beats_greedy += finish(grouped(workload, "mgwfbp:small=0", exchange), exchange) > best * 1.001 ? 1 : 0;
    if (workload.tensors.size() <= 8) {
      ASSERT_NEAR(best / least_finish(grouped(workload, "wfbp", exchange), exchange), 1, 1e-12) << seed;
    }
  }
  EXPECT_GT(beats_greedy, 2000U);
}

TEST(Merging, AscMergesOnlyWhileTheNetworkIsBusy) {
  // Gradients at 1, 2, 3, 4. At 1.5 s a message the second leaves at 2.5, before the third exists; at 2.5 s
  // it has to wait until 3.5, and takes the third with it.
  const Workload workload = workload_of({{1, 1}, {1, 1}, {1, 1}, {1, 1}});
  EXPECT_EQ(tensors_of(grouped(workload, "asc", line(1.5, 0))), (Sizes{1, 1, 1, 1}));
  EXPECT_EQ(tensors_of(grouped(workload, "asc", line(2.5, 0))), (Sizes{1, 2, 1}));
  EXPECT_EQ(tensors_of(grouped(workload, "asc", line(9, 0))), (Sizes{1, 3}));
}

/// OMGS-SGD's recurrence over layers: selection between backward steps, merging where waiting costs less than
/// it saves.
Sizes omgs_by_its_recurrence(const std::vector<Layer>& layers, const Cost& exchange, const Cost& encode) {
  const std::size_t n = layers.size();
  std::vector<double> backward(n), selects(n), sends(n), size(n);
  std::vector<double> ts(n), tc(n);
  const auto ts_of = [&](double x) { return encode(Bytes::of(x)).base(); };
  const auto tc_of = [&](double x) { return exchange(Bytes::of(x)).base(); };
  for (std::size_t l = 0; l < n; ++l) {
    backward[l] = layers[l].backward;
    size[l] = 4 * static_cast<double>(layers[l].elements);
    ts[l] = ts_of(size[l]);
    tc[l] = tc_of(size[l]);
  }
  const auto run = [&] {
    double begins = 0, sent = 0;
    for (std::size_t l = n; l-- > 0;) {
      selects[l] = begins + backward[l];
      sends[l] = std::max(sent, selects[l] + ts[l]);
      begins = selects[l] + ts[l];
      sent = sends[l] + tc[l];
    }
  };
  run();
  Sizes groups{1};
  for (std::size_t l = n; l-- > 1;) {
    const double both = size[l] + size[l - 1];
    const double waits = backward[l - 1] + ts_of(both) - ts[l] - ts[l - 1] - (sends[l] - selects[l] - ts[l]);
    if (waits < tc[l] + tc[l - 1] - tc_of(both)) {
      backward[l - 1] += backward[l];
      size[l - 1] = both;
      ts[l - 1] = ts_of(both);
      tc[l - 1] = tc_of(both);
      backward[l] = size[l] = ts[l] = tc[l] = 0;
      run();
      ++groups.back();
    } else {
      groups.push_back(1);
    }
  }
  return groups;
}

TEST(Merging, OmgsFollowsItsRecurrence) {
  std::size_t merged = 0, split = 0;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const std::vector<Layer> layers = random.layers(1, 24);
    const Cost exchange = random.network();
    const Cost encode = [flat = std::pow(10, random.real(-6, -3)), slope = std::pow(10, random.real(-12, -8)),
                         power = random.real(1, 1.1)](Bytes size) {
      return Seconds::of(flat + slope * std::pow(size.base(), power));
    };
    const Sizes groups =
        tensors_of(make_schedule("omgs").messages(workload_of(layers), costs(exchange, encode)));
    ASSERT_EQ(groups, omgs_by_its_recurrence(layers, exchange, encode)) << seed;
    merged += groups.size() < layers.size() ? 1 : 0;
    split += groups.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(merged, 1000U);
  EXPECT_GT(split, 1000U);
}

// ---- the GoogLeNet trace ----

/// GoogLeNet on a K80, layer by layer: B-Caffe's logdata/tmpcomm.log, weight and bias together.
std::vector<Layer> googlenet() {
  std::ifstream file(std::string(BREAKEVEN_SOURCE_DIR) + "/tests/formula/data/googlenet_k80.csv");
  std::vector<Layer> layers;
  std::string line;
  std::getline(file, line);
  double elements = 0, backward = 0, measured = 0;
  char comma = 0;
  while (file >> elements >> comma >> backward >> comma >> measured) {
    layers.push_back({static_cast<std::size_t>(elements), backward * 1e-6});
  }
  return layers;
}

/// The authors' 10GbE: alpha 45.25 us, beta 1.2/B with B = 9 * 2^30 / 8 B/s, gamma 160/(64e9) s a byte, as
/// one ring.
Scenario on_10gbe(Workload workload, std::size_t workers, const std::string& schedule) {
  const double beta = 1.2 / (9 * std::pow(2, 30) / 8), gamma = 160 / 64e9;
  Scenario scenario;
  scenario.workload = std::move(workload);
  scenario.fabric.across = {"10GbE", BytesPerSecond::of(1 / (beta + gamma / 2)), Seconds::of(45.25e-6), 1};
  scenario.fabric.offered = {Algorithm::ring};
  scenario.workers = workers;
  scenario.schedule = make_schedule(schedule);
  return scenario;
}
Prediction plainly(const Scenario& scenario) {
  static const Registry registry = [] {
    Registry made;
    add_builtin(made);
    return made;
  }();
  return predict(scenario, *registry.make("none").compressor);
}

TEST(GoogLeNet, TheTraceIsWhole) {
  const Workload workload = workload_of(googlenet());
  EXPECT_EQ(workload.tensors.size(), 64U);
  EXPECT_EQ(workload.elements(), 13379136U);
  EXPECT_NEAR(workload.backward().base(), 201531.9e-6, 0.05e-6);
}

TEST(GoogLeNet, TheRegressionTableToItsPrintedDigits) {
  struct Row {
    std::size_t workers;
    double a, b, wfbp, bsp, greedy;
    std::size_t groups;
    double optimal;
    std::vector<double> speedups;
  };
  for (const Row& row : {
           Row{4, 2.7150e-4, 1.3460e-8, .30270, .48266, .30270, 10, .30270, {3.99, 2.51, 3.99, 3.99}},
           Row{8, 6.3350e-4, 1.5704e-8, .35187, .51304, .31516, 6, .31513, {6.87, 4.71, 7.67, 7.67}},
           Row{16, 1.3575e-3, 1.6826e-8, .41321, .52877, .33620, 6, .33448, {11.71, 9.15, 14.39, 14.46}},
           Row{32, 2.8055e-3, 1.7386e-8, .51339, .53772, .36054, 5, .34787, {18.84, 17.99, 26.83, 27.81}},
           Row{64, 5.7015e-3, 1.7667e-8, .70249, .54437, .40373, 3, .36610, {27.54, 35.54, 47.92, 52.85}},
       }) {
    SCOPED_TRACE(row.workers);
    const Workload workload = workload_of(googlenet());
    const Fabric fabric = on_10gbe({}, row.workers, "bsp").fabric;
    const auto all_reduce = [&](double size) {
      return transfer(fabric, Exchange::all_reduce, Bytes::of(size), {row.workers, 1}).time.base();
    };
    EXPECT_NEAR(all_reduce(0), row.a, 5e-9);
    EXPECT_NEAR((all_reduce(4e6) - all_reduce(0)) / 1e6, row.b, 5.1e-13);
    const double expected[] = {row.wfbp, row.bsp, row.greedy, row.optimal};
    const char* schedules[] = {"wfbp", "bsp", "mgwfbp:small=0", "optimal"};
    for (std::size_t i = 0; i < 4; ++i) {
      const Prediction prediction = plainly(on_10gbe(workload, row.workers, schedules[i]));
      EXPECT_NEAR(prediction.step.base(), expected[i], 5.1e-6) << schedules[i];
      const Seconds alone = workload.forward() + workload.backward();
      EXPECT_NEAR(static_cast<double>(row.workers) * (alone / prediction.step), row.speedups[i], 5.1e-3)
          << schedules[i];
      if (i == 2) {
        EXPECT_EQ(prediction.messages.size(), row.groups);
      }
    }
  }
}

// ---- partitions, and what they are counted in ----

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

// ---- the clock ----

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

// ---- parameter servers ----

TEST(ParameterServers, V2BytePsBalancesBothKindsOfServers) {
  Fabric fabric;
  fabric.across = {"network", 1_GBps, {}, 1};
  for (std::size_t n = 2; n <= 16; ++n) {
    for (std::size_t k = 0; k <= n; ++k) {
      fabric.servers = k;
      const double time =
          transfer(fabric, Exchange::all_reduce, 1000_MB, {n, 1}, Algorithm::byteps).time.base();
      const auto workers = static_cast<double>(n), extra = static_cast<double>(k);
      // The share of the keys on the extra servers (BytePS, global.cc).
      const double share = 2 * extra * (workers - 1) / (workers * (workers + extra) - 2 * extra);
      if (n == 4 && k == 2) {
        EXPECT_DOUBLE_EQ(share, 0.6);
        EXPECT_DOUBLE_EQ(time, 1.2);
      }
      if (k > 0) {
        EXPECT_NEAR(time, workers * share / extra, 1e-12) << n << " " << k;
      } else {
        EXPECT_NEAR(time, 2 * (workers - 1) / workers, 1e-12) << n;
      }
      // A worker's own link: its keys to the extra servers, the rest out as a worker and back as a server.
      EXPECT_NEAR(time, share + 2 * (1 - share) * (workers - 1) / workers, 1e-12) << n << " " << k;
      if (k == n) {
        EXPECT_NEAR(time, 1, 1e-12) << n;
      }
    }
  }
}

/// Two layers of 1 s each way and 4 elements; a half of a layer takes 1 s to one server from two workers.
Prediction two_layers(const std::string& schedule, std::size_t servers) {
  Scenario scenario = on_10gbe(workload_of({{4, 1}, {4, 1}}, 1), 2, schedule);
  scenario.fabric.across = {"network", BytesPerSecond::of(16), {}, 1};
  scenario.fabric.servers = servers;
  scenario.algorithm = Algorithm::parameter_server;
  return plainly(scenario);
}

TEST(ParameterServers, P3WithOneServerByHand) {
  // Pushes: half of layer 1 from 1, layer 0 from 2 to 4, the other half until 5; pulls one second later.
  // Layer 0 computes from 5, layer 1 from 6, when its second half has come, until 7.
  const Prediction one = two_layers("p3:slice=2", 1);
  EXPECT_DOUBLE_EQ(one.step.base(), 7);
  std::vector<std::size_t> pushed;
  for (const Span& span : one.spans) {
    if (span.resource == Resource::network) {
      pushed.push_back(one.messages[span.message].module);
    }
  }
  EXPECT_EQ(pushed, (Sizes{1, 0, 0, 1}));
  // Two servers take half the time; more do not help, since a worker's own link is full.
  EXPECT_DOUBLE_EQ(two_layers("p3:slice=2", 2).step.base(), 5.5);
  EXPECT_DOUBLE_EQ(two_layers("p3:slice=2", 4).step.base(), 5.5);
}

TEST(ParameterServers, ACreditIsSpentBeforeTheLastPieceFits) {
  // Pieces are handed down while less than the credit is out there: a credit of one piece is one piece, a
  // little more is two.
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=1", 1).step.base(), 7);
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=2", 1).step.base(), 7);
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=3", 1).step.base(), 8);
}

TEST(ParameterServers, PushAndPullPayALatencyEachAndSoftwareOnce) {
  Scenario scenario = on_10gbe(workload_of({{2, 1}}, 1), 2, "p3");
  scenario.fabric.across = {"network", BytesPerSecond::of(16), Seconds::of(0.25), 1};
  scenario.fabric.servers = 1;
  scenario.algorithm = Algorithm::parameter_server;
  scenario.overlap.message = Seconds::of(0.125);
  EXPECT_DOUBLE_EQ(plainly(scenario).step.base(), 1 + (0.125 + 0.25 + 1) + (0.25 + 1) + 1);
  scenario.schedule =
      make_schedule("bsp");  // as one exchange whose push and pull overlap but for the latency
  EXPECT_DOUBLE_EQ(plainly(scenario).step.base(), 1 + 0.125 + 2 * 0.25 + 1 + 1);
}

TEST(ParameterServers, BytePsWaitsForEverythingAndABarrierCostsWhatOverlapsForward) {
  // Pushes 1 to 5, pulls 2 to 6, then both layers.
  EXPECT_DOUBLE_EQ(two_layers("byteps:partition=8B", 1).step.base(), 8);
  // A credit for all of it is first come, first served, but layer 0 need not wait for layer 1.
  EXPECT_DOUBLE_EQ(two_layers("bytescheduler:partition=2,credit=1000", 1).step.base(), 8);
  // One message, not split into push and pull: 4 s after backward.
  EXPECT_DOUBLE_EQ(two_layers("bsp", 1).step.base(), 2 + 4 + 2);
}

// ---- DeAR ----

/// Iteration period by DeAR's recurrence: groups in forward order; reduce-scatters as gradients come; the
/// all-gather of a group is issued when forward reaches the group before it.
double dear_period(const std::vector<Layer>& layers, double forward, double group_bytes, double startup,
                   double per_byte) {
  struct Run {
    double size = 0, forward = 0, ready = 0;
  };
  std::vector<Run> groups;
  double exists = 0;
  for (const Layer& layer : layers) {
    exists += layer.backward;
  }
  const double backward = exists;
  bool open = false;
  for (const Layer& layer : layers) {
    if (!open) {
      groups.push_back({0, 0, exists});  // complete with its first layer's gradient, the last to appear
      open = true;
    }
    groups.back().size += 4 * static_cast<double>(layer.elements);
    groups.back().forward += layer.backward * forward;
    exists -= layer.backward;
    open = groups.back().size < group_bytes;
  }
  const auto half = [&](const Run& group) { return startup + per_byte * group.size; };
  double scattered = 0;
  for (std::size_t g = groups.size(); g-- > 0;) {
    scattered = std::max(scattered, groups[g].ready) + half(groups[g]);
  }
  double reached = std::max(scattered, backward) + half(groups.front());
  for (std::size_t g = 0; g + 1 < groups.size(); ++g) {
    reached += std::max(groups[g].forward, half(groups[g + 1]));
  }
  return reached + groups.back().forward;
}

TEST(DeAR, FollowsItsRecurrence) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const std::vector<Layer> layers = random.layers(1, 24);
    const double forward = random.real(0.1, 1);
    const std::size_t workers = random.count(2, 32);
    const double group = std::floor(std::pow(10, random.real(2, 7)));
    Scenario scenario = on_10gbe(workload_of(layers, forward), workers,
                                 "dear:group=" + std::to_string(static_cast<std::size_t>(group)) + "B");
    scenario.fabric.across.bandwidth = BytesPerSecond::of(std::pow(10, random.real(7, 10)));
    const auto n = static_cast<double>(workers);
    const double expected = dear_period(layers, forward, group, (n - 1) * 45.25e-6,
                                        (n - 1) / n / scenario.fabric.across.bandwidth.base());
    ASSERT_NEAR(plainly(scenario).step.base() / expected, 1, 1e-10) << seed;
  }
}

}  // namespace
}  // namespace breakeven
