// Fabric profiles: any text is a fabric whose links and tables give finite times, or an error.
#include "profiles/read.h"
#include "tests/fuzz/check.h"

using namespace breakeven;
using namespace breakeven::fuzz;

namespace {

void check_level(const Level& level, bool stated) {
  require_amount(level.bandwidth, "bandwidth");
  require_amount(level.latency, "latency");
  require(level.efficiency > 0 && level.efficiency <= 1, "an efficiency is a share");
  if (stated) {
    require_above_zero(level.effective(), "effective bandwidth");
    require_amount(1_MB / level.effective(), "time of a megabyte");
  }
}

void check_table(const Table& table) {
  require(table.workers >= 2, "a table is of a group");
  require(table.exchange != Exchange::none, "a table is of an exchange");
  require(table.points.size() >= 2, "a table has two points");
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const Table::Point& point = table.points[i];
    require_above_zero(point.payload, "payload");
    require_above_zero(point.time, "time");
    require(table.covers(point.payload), "a table covers its points");
    require(i == 0 || point.payload > table.points[i - 1].payload, "payloads rise");
    require(std::abs(table.at(point.payload) / point.time - 1) < 1e-6, "a table says what its points say");
  }
  require_amount(table.at({}), "time of nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto profile = read_or_refuse(read_fabric, data, size);
  if (!profile) {
    return 0;
  }
  const Fabric& fabric = profile->fabric;
  require(!fabric.name.empty(), "a fabric has a name");
  require(profile->has_inside || fabric.across.bandwidth > BytesPerSecond{}, "a fabric has links");
  check_level(fabric.inside, profile->has_inside);
  check_level(fabric.across, fabric.across.bandwidth > BytesPerSecond{});
  require(!fabric.offered.empty(), "a fabric offers an algorithm");
  for (const Algorithm algorithm : fabric.offered) {
    require(algorithm != Algorithm::automatic && parse_algorithm(name(algorithm)) == algorithm,
            "an algorithm has a name that reads back");
  }
  for (const Table& table : fabric.tables) {
    check_table(table);
  }
  require(fabric.nccl.channels <= 64, "channels that NCCL can have");
  require_amount(fabric.nccl.latency, "driver's latency");
  return 0;
}
