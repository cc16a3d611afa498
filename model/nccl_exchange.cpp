#include "model/nccl_exchange.h"

#include <string>

#include "model/error.h"

namespace breakeven {
namespace {

/// Switches add floating-point numbers, no format of a codec's own.
bool switch_adds(Element element) {
  return element == Element::f32 || element == Element::f16 || element == Element::bf16;
}

NcclGroup nccl_group(const Fabric& fabric, const Group& group) {
  const NcclGroup ranks{group.workers, group.nodes(), fabric.inside.effective(), fabric.across.effective()};
  if (const auto lack = missing(fabric.nccl, ranks)) {
    throw Error(Fault::value, "--algorithm", "NCCL's model lacks " + std::string(lack->what),
                "a fabric whose \"nccl\" states \"" + std::string(lack->key) + "\"");
  }
  return ranks;
}

/// NCCL counts the whole tensor.
Bytes nccl_bytes(Exchange exchange, Bytes payload, const Group& group) {
  return payload * (exchange == Exchange::all_gather ? static_cast<double>(group.workers) : 1);
}

}  // namespace

std::optional<NcclCost> nccl_cost(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                                  Element element) {
  return nccl_cost(fabric.nccl, nccl_group(fabric, group), exchange, nccl_bytes(exchange, payload, group),
                   switch_adds(element));
}

NcclAnswer nccl_answer(const Fabric& fabric, Exchange exchange, Bytes payload, const Group& group,
                       Element element) {
  const NcclGroup ranks = nccl_group(fabric, group);
  NcclAnswer answer{
      nccl_costs(fabric.nccl, ranks, exchange, nccl_bytes(exchange, payload, group), switch_adds(element)),
      {}};
  if (!answer.costs.empty()) {
    answer.how = derivation(fabric.nccl, ranks, exchange, answer.costs.front());
  }
  return answer;
}

}  // namespace breakeven
