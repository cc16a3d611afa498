// Do the rules that merge tensors compute what their authors' do, and is the best merging the best of all?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/formula/layers.h"

namespace breakeven {
namespace {

using testing::Cost;
using testing::costs;
using testing::finish;
using testing::grouped;
using testing::Layer;
using testing::line;
using testing::Random;
using testing::Sizes;
using testing::tensors_of;
using testing::workload_of;

/// MG-WFBP's rule as its authors run it: after every merge all starts are computed anew, and what has
/// gathered fewer than `small` elements is merged anyway (ddl-benchmarks). Groups in the order of the
/// gradients, by how many layers they hold.
Sizes mgwfbp_by_its_authors(const std::vector<Layer>& layers, double a, double b, double small) {
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
    const bool saves = next < start[l] + exchange[l] && (start[l] > next || next - start[l] < a);
    if (saves || size[l] < 4 * small) {
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
    const Workload workload = workload_of(layers);
    const Sizes groups = tensors_of(grouped(workload, "mgwfbp:small=0", line(a, b)));
    ASSERT_EQ(groups, mgwfbp_by_its_authors(layers, a, b, 0)) << seed;
    ASSERT_EQ(tensors_of(grouped(workload, "mgwfbp", line(a, b))), mgwfbp_by_its_authors(layers, a, b, 8192))
        << seed;
    merged += groups.size() < layers.size() ? 1 : 0;
    split += groups.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(merged, 5000U);
  EXPECT_GT(split, 5000U);
}

TEST(Merging, SmallMessagesAlwaysMerge) {
  const Workload workload = workload_of({{8192, 1}, {8191, 1}, {8192, 1}, {100, 1}});
  const Cost free = line(0, 0);
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp", free)), (Sizes{2, 2}));
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp:small=0", free)), (Sizes{1, 1, 1, 1}));
}

TEST(Merging, ASmallTensorWithALargeOneIsNoSmallMessage) {
  // The norm's gradient comes with the large one behind it, the next one after 1 s: too long for 0.5 s saved.
  const Workload workload = workload_of({{8192, 1}, {100, 0}, {8192, 1}});
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp", line(0.5, 0))), (Sizes{2, 1}));
}

TEST(Merging, MgWfbpMayBelieveInAnotherStartup) {
  const Workload workload = workload_of({{9000, 1}, {9000, 1}, {9000, 1}});
  const Cost exchange = line(0.5, 0);
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp", exchange)), (Sizes{1, 1, 1}));
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp:startup=500ms", exchange)), (Sizes{1, 1, 1}));
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp:startup=1.1s", exchange)), (Sizes{3}));
  // A message that is thought to take 1.6 s is still under way when the third gradient exists.
  EXPECT_EQ(tensors_of(grouped(workload, "mgwfbp:startup=900ms", line(0.5, 0.7 / 36000))), (Sizes{1, 2}));
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

}  // namespace
}  // namespace breakeven
