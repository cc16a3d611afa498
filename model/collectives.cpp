// Costs in alpha (latency of a step) and bandwidth of two levels. n workers on m nodes of g. Every node's
// network link is shared by its g workers: `across` carries what enters and leaves the node, `inside` what
// one worker's link carries. Unless said otherwise a step's slowest link sets the pace, so the levels'
// transfers overlap and their maximum counts. Sources: the cost table of "A Quantitative Survey of
// Communication Optimizations" (arXiv 2005.13247) with Thakur et al. 2005 for the flat forms; bytes that
// enter a node, latency split and double tree from NCCL's tuning model.
#include "model/collectives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/nccl_exchange.h"

namespace breakeven {
namespace {

/// One exchange, its group and the two levels, in plain doubles.
struct Terms {
  double n, m, g;
  double a_in, a_out;  // seconds a step
  double in, out;      // seconds to pass the payload once over a worker's inner link / a node's network link
  double add = 0;      // seconds to add up 1/n of the vector
  double pairs = 0;    // of a tree step
  bool cross = false;  // some pair of it is on two nodes

  [[nodiscard]] bool several_nodes() const { return m > 1; }
  [[nodiscard]] bool shared_nodes() const { return g > 1; }
  /// `inner` payloads over the inner link beside `outer` payloads over the network, whichever takes longer.
  [[nodiscard]] double slower(double inner, double outer) const {
    return std::max(shared_nodes() ? inner * in : 0, several_nodes() ? outer * out : 0);
  }
};

double steps_to_double(double n) {
  return std::ceil(std::log2(n));
}

/// Ring of all workers, node by node: of `steps` per worker, m-1 cross the network (NCCL).
double ring_latency(const Terms& t, double steps) {
  return steps * ((t.m - 1) * t.a_out + (t.n - t.m) * t.a_in);
}

double doubling_latency(const Terms& t) {
  return steps_to_double(t.m) * t.a_out + steps_to_double(t.g) * t.a_in;
}

std::optional<double> all_reduce(const Terms& t, Algorithm algorithm, const Fabric& fabric) {
  const double share = 2 * (t.n - 1) / t.n;  // of the payload, per worker, both halves
  const double inner = 2 * (t.g - 1) / t.g;  // reduce-scatter and all-gather inside a node
  const double outer = 2 * (t.m - 1) / t.m;  // g rings of payload/g share the node's link
  switch (algorithm) {
    case Algorithm::ring:
      return ring_latency(t, 2) + t.slower(share, share) + (t.n - 1) * t.add;
    case Algorithm::tree:  // 2 log2 n (alpha + M beta), unpipelined
      return 2 * doubling_latency(t) + 2 * steps_to_double(t.m) * t.out + 2 * steps_to_double(t.g) * t.in;
    case Algorithm::double_tree:
      // A chain inside the node, two trees with half the payload each across: an inner node of one tree is a
      // leaf of the other, so its link carries 2M each way; between two nodes M (NCCL).
      return 2 * ((t.g - 1) * t.a_in + std::floor(std::log2(t.m)) * t.a_out) + t.slower(2, t.m > 2 ? 2 : 1);
    case Algorithm::recursive_doubling:  // log2 n (alpha + M beta); all g workers of a node cross at once
      return doubling_latency(t) + steps_to_double(t.m) * t.g * t.out + steps_to_double(t.g) * t.in;
    case Algorithm::halving_doubling:  // Rabenseifner, halving inside the node first
      return 2 * doubling_latency(t) + inner * t.in + outer * t.out;
    case Algorithm::hierarchical:
      return 2 * (t.g - 1) * t.a_in + inner * t.in + 2 * (t.m - 1) * t.a_out + outer * t.out;
    case Algorithm::leader:
      return 2 * (t.g - 1) * t.a_in + (t.shared_nodes() ? 2 * t.in : 0) + 2 * (t.m - 1) * t.a_out +
             outer * t.out;
    case Algorithm::parameter_server: {
      // Push and pull of g payloads a node against k servers that each take n/k payloads; colocated servers
      // keep their own node's share off the network but send and receive on the same link.
      if (!t.several_nodes()) {
        return std::nullopt;
      }
      const auto k = static_cast<double>(fabric.servers);
      const double load = fabric.servers == 0 ? 2 * t.g * (t.m - 1) / t.m : std::max(t.g, t.n / k);
      return 2 * t.a_out + load * t.out * (fabric.full_duplex ? 1 : 2);
    }
    case Algorithm::byteps: {
      // Reduced inside the node, then m nodes with k extra servers (BytePS, global.cc): balances both kinds
      // of link.
      if (!t.several_nodes()) {
        return std::nullopt;
      }
      const auto k = static_cast<double>(std::min(fabric.servers, static_cast<std::size_t>(t.m)));
      return 2 * (t.g - 1) * t.a_in + inner * t.in + 2 * t.a_out +
             2 * t.m * (t.m - 1) / (t.m * t.m + k * t.m - 2 * k) * t.out;
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> reduce_scatter(const Terms& t, Algorithm algorithm) {
  const double share = (t.n - 1) / t.n;
  switch (algorithm) {
    case Algorithm::ring:
      return ring_latency(t, 1) + t.slower(share, share) + (t.n - 1) * t.add;
    case Algorithm::halving_doubling:
    case Algorithm::recursive_doubling:
      return doubling_latency(t) + (t.g - 1) / t.g * t.in + (t.m - 1) / t.m * t.out;
    case Algorithm::hierarchical:
      return (t.g - 1) * t.a_in + (t.g - 1) / t.g * t.in + (t.m - 1) * t.a_out + (t.m - 1) / t.m * t.out;
    default:
      return std::nullopt;
  }
}

/// The payload is one worker's part; (n-1) parts arrive at each worker, (n-g) enter a node.
std::optional<double> all_gather(const Terms& t, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      // The link into a node carries every part but the one of the worker behind it: those of its own node
      // come round too. So reduce-scatter and all-gather make a ring all-reduce, on two levels as on one.
      return ring_latency(t, 1) + t.slower(t.n - 1, t.n - 1);
    case Algorithm::recursive_doubling:
    case Algorithm::halving_doubling:
      return doubling_latency(t) + (t.n - t.m) * t.in + (t.n - t.g) * t.out;
    case Algorithm::hierarchical:
      return (t.m - 1) * t.a_out + (t.n - t.g) * t.out + (t.g - 1) * t.a_in + (t.n - t.m) * t.in;
    case Algorithm::direct:  // every worker of the node fetches every remote part for itself
      return (t.n - t.g) * t.a_out + (t.g - 1) * t.a_in + t.slower(t.g - 1, t.g * (t.n - t.g));
    default:
      return std::nullopt;
  }
}

/// The payload is what one worker sends to all, 1/n of it to each. Nothing is summed inside the node.
std::optional<double> all_to_all(const Terms& t, Algorithm algorithm) {
  if (algorithm != Algorithm::direct) {
    return std::nullopt;
  }
  return (t.n - t.g) * t.a_out + (t.g - 1) * t.a_in + t.slower((t.g - 1) / t.n, t.g * (t.n - t.g) / t.n);
}

/// One message to each receiver at once. A node has at most one pair that crosses each way, so it has the
/// network link to itself.
double tree_step(const Terms& t) {
  if (t.pairs == 0) {
    return 0;
  }
  return t.cross ? t.a_out + t.out : t.a_in + t.in;
}

/// Binomial tree: log2 n (alpha + M beta), not pipelined, as gTop-k states it (hclhkbu/gtopkssgd,
/// allreducer.py, where it calls MPI's Bcast). First to one worker of every node, then inside.
double broadcast(const Terms& t) {
  return doubling_latency(t) + steps_to_double(t.m) * t.out + steps_to_double(t.g) * t.in;
}

std::optional<double> cost(const Terms& t, Exchange exchange, Algorithm algorithm, const Fabric& fabric) {
  switch (exchange) {
    case Exchange::all_reduce:
      return all_reduce(t, algorithm, fabric);
    case Exchange::reduce_scatter:
      return reduce_scatter(t, algorithm);
    case Exchange::all_gather:
      return all_gather(t, algorithm);
    case Exchange::all_to_all:
      return all_to_all(t, algorithm);
    case Exchange::push_pull:
      // Inside one node there is nobody to push to: the workers reduce among themselves.
      return all_reduce(t,
                        !t.several_nodes()               ? Algorithm::ring
                        : algorithm == Algorithm::byteps ? Algorithm::byteps
                                                         : Algorithm::parameter_server,
                        fabric);
    case Exchange::tree_step:
      return algorithm == Algorithm::tree ? std::optional(tree_step(t)) : std::nullopt;
    case Exchange::broadcast:
      return algorithm == Algorithm::tree ? std::optional(broadcast(t)) : std::nullopt;
    case Exchange::none:
      break;
  }
  return std::nullopt;
}

/// What every library has for this exchange.
Algorithm fallback(Exchange exchange) {
  switch (exchange) {
    case Exchange::all_to_all:
      return Algorithm::direct;
    case Exchange::push_pull:
      return Algorithm::parameter_server;
    case Exchange::tree_step:
    case Exchange::broadcast:
      return Algorithm::tree;
    default:
      return Algorithm::ring;
  }
}

/// What a worker sends in an all-reduce, in payloads, on average over the workers.
double sent_in_all_reduce(const Terms& t, Algorithm algorithm) {
  const double inner = 2 * (t.g - 1) / t.g;
  const double outer = 2 * (t.m - 1) / t.m;
  switch (algorithm) {
    case Algorithm::recursive_doubling:
      return steps_to_double(t.n);
    case Algorithm::halving_doubling:
    case Algorithm::hierarchical:
    case Algorithm::leader:  // each of g chunks, or one of g workers, crosses
      return inner + outer / t.g;
    case Algorithm::parameter_server:
      return 1;
    case Algorithm::byteps:
      return inner + 1 / t.g;
    default:  // ring; trees: every worker but the root sends up, every worker but one is sent to
      return 2 * (t.n - 1) / t.n;
  }
}

Bytes wire_bytes(const Terms& t, Exchange exchange, Bytes payload, Algorithm algorithm) {
  switch (exchange) {
    case Exchange::all_reduce:
    case Exchange::push_pull:
      return payload * sent_in_all_reduce(t, algorithm);
    case Exchange::reduce_scatter:
    case Exchange::all_to_all:
      return payload * ((t.n - 1) / t.n);
    case Exchange::all_gather:
      return payload * (t.n - 1);
    case Exchange::tree_step:  // on average over the workers, as of the trees above
      return payload * (t.pairs / t.n);
    case Exchange::broadcast:
      return payload * ((t.n - 1) / t.n);
    case Exchange::none:
      break;
  }
  return {};
}

double pairs_of(std::size_t workers, std::size_t distance) {
  const std::size_t pairs =
      distance == 0 || distance >= workers ? 0 : (workers - distance - 1) / (2 * distance) + 1;
  return static_cast<double>(pairs);
}

/// Worker r with r mod 2d = d sends to r-d: to another node where r is among the first d workers of its own.
bool some_pair_crosses(const Group& group, std::size_t distance) {
  if (distance >= group.per_node) {
    return true;
  }
  if (distance == 0 || group.nodes() == 1 || group.per_node % (2 * distance) == 0) {
    return false;
  }
  for (std::size_t sender = distance; sender < group.workers; sender += 2 * distance) {
    if (sender % group.per_node < distance) {
      return true;
    }
  }
  return false;
}

Terms terms_of(const Fabric& fabric, Bytes payload, const Group& group, std::size_t distance) {
  const auto pass = [payload](const Level& level, bool used) {
    if (!used || payload == Bytes{}) {
      return 0.0;
    }
    return (payload / level.effective()).base();
  };
  Terms t{};
  t.n = static_cast<double>(group.workers);
  t.m = static_cast<double>(group.nodes());
  t.g = t.n / t.m;
  t.a_in = fabric.inside.latency.base();
  t.a_out = fabric.across.latency.base();
  t.in = pass(fabric.inside, t.shared_nodes());
  t.out = pass(fabric.across, t.several_nodes());
  t.pairs = pairs_of(group.workers, distance);
  t.cross = some_pair_crosses(group, distance);
  return t;
}

const Table* table_for(const Fabric& fabric, Exchange exchange, const Group& group) {
  const auto found = std::find_if(fabric.tables.begin(), fabric.tables.end(), [&](const Table& table) {
    return table.exchange == exchange && table.workers == group.workers &&
           (table.per_node == 0 || table.per_node == group.per_node);
  });
  return found == fabric.tables.end() ? nullptr : &*found;
}

/// What cannot be faster, even where switches add: a node sends what the others lack, over its whole line. A
/// link that nobody stated bounds nothing.
double least(const Terms& t, const Fabric& fabric, Exchange exchange) {
  const double in = std::isfinite(t.in) ? t.in * fabric.inside.efficiency : 0;
  const double out = std::isfinite(t.out) ? t.out * fabric.across.efficiency : 0;
  switch (exchange) {
    case Exchange::all_reduce:
    case Exchange::reduce_scatter:
      return std::max((t.g - 1) / t.g * in, (t.m - 1) / t.m * out);
    case Exchange::all_gather:
      return std::max((t.g - 1) * in, (t.n - t.g) * out);
    case Exchange::all_to_all:
      return std::max((t.g - 1) / t.n * in, t.g * (t.n - t.g) / t.n * out);
    default:
      return 0;
  }
}

}  // namespace

Transfer transfer(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                  Algorithm algorithm, std::optional<Bytes> summed, std::size_t distance, Element element) {
  Transfer result;
  if (group.workers <= 1 || exchange == Exchange::none) {
    return result;
  }
  Terms terms = terms_of(fabric, payload, group, distance);
  if (!fabric.additions.points.empty()) {
    terms.add = fabric.additions.at(summed.value_or(payload) / terms.n).base();
  }
  const Table* table = fabric.tables.empty() ? nullptr : table_for(fabric, exchange, group);
  if (table != nullptr && algorithm == Algorithm::automatic) {
    result.time = table->at(payload);
    result.algorithm = Algorithm::automatic;
    result.from_table = true;
    result.extrapolated = !table->covers(payload);
    if (result.extrapolated) {  // the last two times may be equal, or nearly
      result.time = std::max(result.time, Seconds::of(least(terms, fabric, exchange)));
    }
    result.wire = wire_bytes(terms, exchange, payload, result.algorithm);
    return result;
  }
  std::optional<double> best;
  const auto consider = [&](Algorithm candidate) {
    std::optional<NcclCost> chosen;
    std::optional<double> seconds;
    if (candidate == Algorithm::nccl) {
      chosen = nccl_cost(fabric, exchange, payload, group, element);
      seconds = chosen ? std::optional(chosen->time.base()) : std::nullopt;
    } else {
      seconds = cost(terms, exchange, candidate, fabric);
    }
    if (seconds && (!best || *seconds < *best)) {
      best = seconds;
      result.algorithm = candidate;
      result.nccl = chosen;
    }
  };
  if (algorithm == Algorithm::automatic) {
    for (const Algorithm candidate : fabric.offered) {
      consider(candidate);
    }
  } else {
    consider(algorithm);
  }
  if (!best) {
    consider(fallback(exchange));
  }
  result.time = Seconds::of(best.value_or(0));
  result.wire = wire_bytes(terms, exchange, payload, result.algorithm);
  if (result.nccl && in_switch(result.nccl->algorithm) && exchange != Exchange::reduce_scatter) {
    result.wire = payload;  // sent once: the switch adds and spreads it
  }
  if (fabric.full_duplex &&
      (result.algorithm == Algorithm::parameter_server || result.algorithm == Algorithm::byteps)) {
    // Push and pull overlap but for one latency. What BytePS reduces inside the node comes before the push,
    // what it gathers there after the pull.
    const double gather = result.algorithm == Algorithm::byteps
                              ? (terms.g - 1) * terms.a_in + (terms.g - 1) / terms.g * terms.in
                              : 0;
    result.one_way = result.time - fabric.across.latency - Seconds::of(gather);
  }
  return result;
}

Bytes contributed(const Round& round, std::size_t workers) {
  const auto n = static_cast<double>(std::max<std::size_t>(workers, 1));
  switch (round.exchange) {
    case Exchange::tree_step:
      return round.payload * (pairs_of(workers, round.distance) / n);
    case Exchange::broadcast:
      return round.payload / n;
    default:
      return round.payload;
  }
}

Seconds ring_all_reduce(const Level& level, Bytes payload, std::size_t workers, double steps) {
  if (workers <= 1) {
    return {};
  }
  const auto n = static_cast<double>(workers);
  return steps * (n - 1) * level.latency + payload * (2 * (n - 1) / n) / level.effective();
}

}  // namespace breakeven
