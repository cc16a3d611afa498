// Latency and bandwidth that NCCL's cost model gives one call by one algorithm and protocol.
#pragma once

#include <vector>

#include "model/nccl_tables.h"

namespace breakeven::nccl {

/// One call, in NCCL's units: microseconds and GB/s.
struct Call {
  Exchange exchange;
  Row row;
  double n, m, g;
  double steps;  // of a ring
  std::size_t nodes;
  double channels;
  double link, network;  // of a GPU inside the node, of a node
  bool nvlink, amd, x86;
  double net_latency;
  double bytes;

  [[nodiscard]] bool several_nodes() const { return m > 1; }
  [[nodiscard]] bool all_reduce() const { return exchange == Exchange::all_reduce; }
};
/// Nothing may be missing().
Call call_of(const NcclTopology& topology, const NcclGroup& group, Exchange exchange, Bytes bytes);

/// Microseconds. `steps`, where there are any, keep how it comes about.
double latency(const Call& call, NcclAlgorithm algorithm, NcclProtocol protocol,
               std::vector<NcclStep>* steps = nullptr);
/// GB/s of the whole tensor; 0: the algorithm does not run there. Never more than the network between nodes
/// can carry.
double bandwidth(const Call& call, NcclAlgorithm algorithm, NcclProtocol protocol,
                 std::vector<NcclStep>* steps = nullptr);

}  // namespace breakeven::nccl
