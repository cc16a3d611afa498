// NCCL's own cost model: which algorithm and protocol an exchange would run with, and how long that takes.
// Rules and numbers: NVIDIA/nccl 2.30.7 (5067397), src/graph/tuning.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/compressor.h"
#include "model/units.h"

namespace breakeven {

/// Of the GPU, as far as NCCL's tables tell generations apart: turing counts as volta, ada as ampere.
enum class Architecture { volta, turing, ampere, ada, hopper, blackwell };
/// What the GPUs of a node reach each other over.
enum class PeerLink { pcie, nvlink, nvswitch };
enum class CpuVendor { intel, amd, arm };
std::string_view name(Architecture architecture);
std::string_view name(PeerLink peers);
std::string_view name(CpuVendor cpu);

/// What NCCL's model asks about a cluster besides the speed of its links.
struct NcclTopology {
  std::optional<Architecture> architecture;
  std::optional<PeerLink> peers;
  CpuVendor cpu = CpuVendor::intel;
  std::size_t channels = 0;  ///< rings (and pairs of trees) across nodes; 0: nothing known about a network
  Seconds latency;           ///< what the network's driver states; NCCL adds it to its own figures
  bool gpudirect = false;    ///< adapters reach the GPU's memory without passing the CPU
  bool collnet = false;      ///< the network's switches add (SHARP)

  friend bool operator==(const NcclTopology&, const NcclTopology&) = default;
};

struct NcclGroup {
  std::size_t ranks = 1, nodes = 1;
  BytesPerSecond link;     ///< one direction of one GPU inside its node
  BytesPerSecond network;  ///< of ONE NODE

  [[nodiscard]] std::size_t per_node() const { return ranks / nodes; }
};

/// Something that the model needs and nobody stated.
struct NcclLack {
  std::string_view what, key;  ///< "the channels across nodes", and the key under "nccl" that states them
};
std::optional<NcclLack> missing(const NcclTopology& topology, const NcclGroup& group);

enum class NcclAlgorithm { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
enum class NcclProtocol { ll, ll128, simple };
std::string_view name(NcclAlgorithm algorithm);
std::string_view name(NcclProtocol protocol);
/// Switches add or spread what is exchanged.
bool in_switch(NcclAlgorithm algorithm);

/// latency + bytes / bandwidth = time.
struct NcclCost {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  Bytes bytes;  ///< the whole tensor: of an all-gather, all ranks' parts
  Seconds latency;
  BytesPerSecond bandwidth;
  Seconds time;
};

/// Whether the model knows it: all-reduce, reduce-scatter and all-gather. NCCL prices no group of sends and
/// receives, which all-to-all, tree steps and pushes to servers are.
bool nccl_prices(Exchange exchange);
/// The cheapest enabled pair of algorithm and protocol, as NCCL picks it; none where nccl_prices() says no or
/// something is missing(). `bytes`: the whole tensor. `switch_adds`: whether switches know how to add the
/// elements; a reduction they cannot add never runs on NVLS or CollNet.
std::optional<NcclCost> nccl_cost(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                  Bytes bytes, bool switch_adds);
/// Every enabled pair, the cheapest first.
std::vector<NcclCost> nccl_costs(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                 Bytes bytes, bool switch_adds);

/// One step of how the model comes to a latency or a bandwidth, from left to right: + count x value,
/// x value, at most count x value.
struct NcclStep {
  enum class Kind { plus, times, at_most };
  Kind kind = Kind::plus;
  double count = 1, value = 0;  ///< microseconds and GB/s, as NCCL counts
  std::string_view what;
};
struct NcclDerivation {
  std::vector<NcclStep> latency, bandwidth;
};
/// How `cost`, which nccl_cost() or nccl_costs() gave for the same call, came about.
NcclDerivation derivation(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                          const NcclCost& cost);

/// nccl-tests' figure: what a ring's links would carry in that time.
BytesPerSecond bus_bandwidth(Exchange exchange, Bytes bytes, std::size_t ranks, Seconds time);

}  // namespace breakeven
