// NCCL's own cost model: which algorithm and protocol an exchange would run with, and how long that takes.
// Rules and numbers: NVIDIA/nccl 2.30.7 (5067397), src/graph/tuning.cc.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

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

/// What the model needs and nobody stated, in words; empty: nothing.
std::string missing(const NcclTopology& topology, const NcclGroup& group);

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

/// The cheapest enabled pair of algorithm and protocol, as NCCL picks it; all-reduce, reduce-scatter and
/// all-gather only (others, and where something is missing(): none). `bytes`: the whole tensor.
/// `switch_adds`: whether switches know how to add the elements; a reduction they cannot add never runs on
/// NVLS or CollNet.
std::optional<NcclCost> nccl_cost(const NcclTopology& topology, const NcclGroup& group, Exchange exchange,
                                  Bytes bytes, bool switch_adds);

/// nccl-tests' figure: what a ring's links would carry in that time.
BytesPerSecond bus_bandwidth(Exchange exchange, Bytes bytes, std::size_t ranks, Seconds time);

}  // namespace breakeven
