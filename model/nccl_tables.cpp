// NVIDIA/nccl 2.30.7 (5067397): src/graph/tuning.cc for latencies, ceilings, efficiencies and corrections,
// src/graph/search.cc for channel speeds.
#include "model/nccl_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace breakeven::nccl {
namespace {

using Protocols = std::array<double, 3>;  // LL, LL128, Simple
using Nodes = std::array<double, 3>;      // 1, 2, more

// Order of NcclAlgorithm. CollNet, NVLS and PAT know Simple only.
constexpr std::array<Protocols, 7> kBase = {
    {{6.8, 14.0, 8.4}, {6.6, 14.0, 8.4}, {}, {}, {}, {}, {8.0, 8.0, 8.0}}};
constexpr std::array<std::array<Protocols, 7>, 3> kHardware = {{
    {{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}, {0, 0, 3.7}, {0, 0, 2.8}, {0, 0, 25}, {0, 0, 25}, {0, 0, 4.0}}},
    {{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}, {0, 0, 3.7}, {0, 0, 2.8}, {}, {}, {0, 0, 4.0}}},
    {{{5.0, 8.5, 14}, {2.7, 4.0, 14}, {0, 0, 31}, {0, 0, 30}, {0, 0, 18}, {0, 0, 20.9}, {0, 0, 14}}},
}};

// Rows: volta, ampere, hopper, blackwell.
constexpr std::array<Nodes, 4> kMaxLl = {{{39, 39, 20.4}, {87.7, 22.5, 19}, {141, 45, 35}, {282, 90, 70}}};
constexpr std::array<double, 4> kMaxRingLl128 = {20, 20, 36.7, 40};
constexpr std::array<Nodes, 4> kMaxTreeLl128 = {
    {{20, 20, 20}, {20, 20, 20}, {36.7, 36.7, 29}, {55.6, 31.67, 20}}};
constexpr std::array<Nodes, 4> kMaxTree = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {38.7, 41.4, 36}, {70, 42.8, 24}}};
constexpr std::array<Nodes, 4> kMaxNvlsTree = {
    {{26.5, 18.5, 10}, {24, 23.6, 17.8}, {0, 57.7, 45.5}, {0, 96, 80}}};
constexpr std::array<double, 4> kNvlsEfficiency = {0, 0, 0.85, 0.74};

// What trees reach of their bandwidth at 64 B, 128 B, 256 B ... 256 MiB; above that all of it.
constexpr std::array<std::array<double, 23>, 3> kTreeCorrection = {{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
}};

// Derived from the links and the speeds below, for Blackwell without a log to hold it against: 24 x 30 on
// the 18 links of 40.1 GB/s of a B200.
constexpr std::array<double, 4> kRingChannel = {20, 20, 30, 30};

// Hopper and later inside one node, and where the channels cross nodes.
constexpr std::array<double, 11> kHopperInside = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr std::array<double, 17> kHopperAcross = {48, 45, 42, 40, 30,  24,  22,  20, 17.5,
                                                  15, 12, 6,  3,  2.4, 1.2, .24, .12};
constexpr std::array<double, 12> kBlackwellInside = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr std::array<double, 10> kBlackwellAcross = {96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22};

template <class T>
std::size_t index(T value) {
  return static_cast<std::size_t>(value);
}

double at(const std::array<Nodes, 4>& table, Row row, std::size_t nodes) {
  return table[index(row)][std::min<std::size_t>(nodes, 3) - 1];
}

}  // namespace

Row row_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::volta:
    case Architecture::turing:
      return Row::volta;
    case Architecture::ampere:
    case Architecture::ada:
      return Row::ampere;
    case Architecture::hopper:
      return Row::hopper;
    default:
      return Row::blackwell;
  }
}

double base_latency(NcclAlgorithm algorithm, NcclProtocol protocol) {
  return kBase[index(algorithm)][index(protocol)];
}

double hardware_latency(Hardware hardware, NcclAlgorithm algorithm, NcclProtocol protocol) {
  return kHardware[index(hardware)][index(algorithm)][index(protocol)];
}

double max_ll(Row row, std::size_t nodes) {
  return at(kMaxLl, row, nodes);
}

double max_ring_ll128(Row row) {
  return kMaxRingLl128[index(row)];
}

double max_tree_ll128(Row row, std::size_t nodes) {
  return at(kMaxTreeLl128, row, nodes);
}

double max_tree(Row row, std::size_t nodes) {
  return at(kMaxTree, row, nodes);
}

double max_nvls_tree(Row row, std::size_t nodes) {
  return at(kMaxNvlsTree, row, nodes);
}

double nvls_efficiency(Row row) {
  return kNvlsEfficiency[index(row)];
}

double tree_correction(NcclProtocol protocol, double bytes) {
  const auto& factors = kTreeCorrection[index(protocol)];
  const double step = std::floor(std::log2(std::max(bytes / 64, 1.0)));
  return step < static_cast<double>(factors.size()) ? factors[static_cast<std::size_t>(step)] : 1;
}

double ring_channel(Row row) {
  return kRingChannel[index(row)];
}

double channel_speed(Row row, bool across_nodes, double share) {
  using Speeds = std::span<const double>;
  const Speeds speeds = row == Row::hopper
                            ? (across_nodes ? Speeds(kHopperAcross) : Speeds(kHopperInside))
                            : (across_nodes ? Speeds(kBlackwellAcross) : Speeds(kBlackwellInside));
  const auto found =
      std::find_if(speeds.begin(), speeds.end(), [share](double speed) { return speed <= share; });
  return found == speeds.end() ? share : *found;
}

}  // namespace breakeven::nccl
