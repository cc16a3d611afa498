// The numbers of NCCL's cost model. Microseconds and GB/s, as NCCL has them.
#pragma once

#include <cstddef>

#include "model/nccl.h"

namespace breakeven::nccl {

enum class Hardware { nvlink, pci, net };
/// Tables have a row a generation and a column for 1, 2 and more nodes.
enum class Row { volta, ampere, hopper, blackwell };

Row row_of(Architecture architecture);

double base_latency(NcclAlgorithm algorithm, NcclProtocol protocol);
double hardware_latency(Hardware hardware, NcclAlgorithm algorithm, NcclProtocol protocol);

double max_ll(Row row, std::size_t nodes);
double max_ring_ll128(Row row);                     ///< a channel
double max_tree_ll128(Row row, std::size_t nodes);  ///< a channel
double max_tree(Row row, std::size_t nodes);        ///< a channel
double max_nvls_tree(Row row, std::size_t nodes);   ///< a channel; 0: none
double nvls_efficiency(Row row);                    ///< 0: no NVLS
double tree_correction(NcclProtocol protocol, double bytes);

/// Of one channel of the rings inside a node: 6 x 20 on V100, 12 x 20 on A100, 12 x 30 on H100.
double ring_channel(Row row);
/// The speed that NCCL's search gives a channel whose share of a link is `share`; Hopper and later.
double channel_speed(Row row, bool across_nodes, double share);

}  // namespace breakeven::nccl
