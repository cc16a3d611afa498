// What the workers exchange over: links inside a node, the network across nodes, or measured tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/compressor.h"
#include "model/nccl.h"
#include "model/units.h"

namespace breakeven {

enum class Algorithm {
  automatic,  ///< the cheapest that the fabric offers for this exchange and size
  ring,
  tree,         ///< binary tree, not pipelined
  double_tree,  ///< NCCL's two pipelined binary trees
  recursive_doubling,
  halving_doubling,
  hierarchical,  ///< reduce-scatter inside, all-reduce across, all-gather inside
  leader,        ///< reduce to one worker of the node, ring across, broadcast inside
  direct,        ///< every worker sends to every other by itself
  parameter_server,
  byteps,
  nccl,  ///< what NCCL's own cost model picks for this exchange and size
};
std::string_view name(Algorithm algorithm);
/// Throws Error with the nearest name.
Algorithm parse_algorithm(std::string_view text);

/// One level of links.
struct Level {
  std::string name;
  BytesPerSecond bandwidth;  ///< one direction: of one worker inside a node, of ONE NODE across nodes
  Seconds latency;           ///< one step of a collective
  double efficiency = 1;     ///< share of the bandwidth that collectives reach

  [[nodiscard]] BytesPerSecond effective() const { return bandwidth * efficiency; }
  friend bool operator==(const Level&, const Level&) = default;
};

/// Measured collective times of one group size.
struct Table {
  struct Point {
    Bytes payload;
    Seconds time;
    friend bool operator==(const Point&, const Point&) = default;
  };
  Exchange exchange = Exchange::all_reduce;
  std::size_t workers = 0, per_node = 0;  ///< per_node 0: however they are spread
  std::vector<Point> points;              ///< rising payloads

  /// Between two sizes alpha + size x beta through both: what an algorithm costs, and on held-out sizes of
  /// nccl-tests nearer than a line in log-log. Outside, the line of the last two.
  [[nodiscard]] Seconds at(Bytes payload) const;
  [[nodiscard]] bool covers(Bytes payload) const;
  friend bool operator==(const Table&, const Table&) = default;
};

/// Measured times of adding up two vectors: linear between points, constant outside.
struct AdditionTable {
  struct Point {
    Bytes size;  ///< of one operand
    Seconds time;
    friend bool operator==(const Point&, const Point&) = default;
  };
  std::vector<Point> points;  ///< rising sizes
  std::string source;

  [[nodiscard]] Seconds at(Bytes size) const;
  friend bool operator==(const AdditionTable&, const AdditionTable&) = default;
};

struct Fabric {
  std::string name;
  Level inside, across;
  std::size_t servers = 0;  ///< parameter servers on machines of their own; 0: one on every node
  bool full_duplex = true;  ///< of the parameter servers' push and pull
  std::vector<Algorithm> offered{Algorithm::ring, Algorithm::double_tree};  ///< what `automatic` picks from
  std::vector<Table> tables;
  /// What additions cost on top of the network: of a ring's n-1 steps each adds 1/n of the vector (arXiv
  /// 2006.10103). Rings only; none: free.
  AdditionTable additions;
  NcclTopology nccl;  ///< for Algorithm::nccl

  friend bool operator==(const Fabric&, const Fabric&) = default;
};

/// The workers of one exchange: `per_node` on each node, whole nodes only.
struct Group {
  std::size_t workers = 1, per_node = 1;
  [[nodiscard]] std::size_t nodes() const { return (workers + per_node - 1) / per_node; }
};

}  // namespace breakeven
