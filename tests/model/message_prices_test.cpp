// Is the price of a message by its size what transfer() says, whatever the fabric, the algorithm and the
// scheme?
#include "model/message_prices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/model/schedule_cases.h"

namespace breakeven {
namespace {

using testing::Random;

/// Two rounds whose payloads jump with the size; an additional one that sends nothing.
class Jumps final : public Compressor {
 public:
  [[nodiscard]] Plan plan(std::span<const Shape> tensors, std::size_t workers) const override {
    const Bytes size = bytes(tensors);
    Plan plan(3);
    plan[0].exchange = Exchange::all_reduce;
    plan[0].payload = size < 50000_B ? size : size * 0.25;
    plan[1].decode.flops = 1;
    plan[2].exchange = Exchange::all_gather;
    plan[2].payload = Bytes::of(std::ceil(size.base() / 100)) + 4_B * static_cast<double>(workers);
    return plan;
  }
};

TEST(MessagePrices, AreTheTransfersOfItsRounds) {
  const Jumps jumps;
  const Algorithm algorithms[] = {
      Algorithm::automatic,        Algorithm::ring,   Algorithm::tree,
      Algorithm::double_tree,      Algorithm::direct, Algorithm::recursive_doubling,
      Algorithm::halving_doubling, Algorithm::leader, Algorithm::hierarchical,
      Algorithm::parameter_server, Algorithm::byteps, Algorithm::nccl,
  };
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t node = random.one_of<std::size_t>({1, 2, 8});
    const Group group{node * random.count(1, 12), node};
    const Algorithm algorithm = algorithms[random.count(0, 11)];
    const Seconds software = Seconds::of(random.log(-6, -4));
    MessagePrices prices(jumps, Element::f32, group, algorithm, software);
    for (int i = 0; i < 3; ++i) {  // fabrics, one after the other
      Fabric fabric = testing::scenario(1, 1, 0).fabric;
      fabric.across.bandwidth = BytesPerSecond::of(random.log(5, 13));
      fabric.across.latency = Seconds::of(random.one_in(4) ? 0 : random.log(-6, -3));
      fabric.servers = random.count(0, 8);
      fabric.offered = {Algorithm::ring, Algorithm::double_tree, Algorithm::hierarchical};
      fabric.nccl = {Architecture::hopper, PeerLink::nvswitch, CpuVendor::intel, 4, {}, true, false};
      if (random.one_in(4)) {
        fabric.offered.push_back(Algorithm::nccl);
      }
      if (random.one_in(4)) {
        fabric.tables = {{Exchange::all_reduce, group.workers, 0, {{1000_B, 1_ms}, {90000_B, 5_ms}}}};
      }
      if (random.one_in(4)) {
        fabric.additions.points = {{1_B, 1_us}, {100000_B, 2_ms}};
      }
      prices.use(fabric);
      for (int k = 0; k < 200; ++k) {
        const auto elements = static_cast<std::size_t>(random.log(0, 6));
        const Shape vector{elements, 1};
        double expected = 0;
        for (const Round& round : jumps.plan(std::span(&vector, 1), group.workers)) {
          if (round.exchange != Exchange::none) {
            expected +=
                (transfer(fabric, round.exchange, round.payload, group, algorithm).time + software).base();
          }
        }
        ASSERT_NEAR(prices.exchange(vector.bytes()).base() / expected, 1, 1e-12) << elements;
      }
    }
  }
}

}  // namespace
}  // namespace breakeven
