// PyTorch's execution trace (ExecutionTraceObserver): operators and their inputs, but no durations.
#include <algorithm>
#include <map>
#include <utility>

#include "model/error.h"
#include "profiles/import/run.h"
#include "profiles/json_reader.h"
#include "profiles/text_file.h"

namespace breakeven {
namespace {

struct Collective {
  std::string name, type;
  Element element = Element::f32;
  std::size_t elements = 0, group = 0;
};

/// What the attributes of a record_param_comms node state.
Collective read_collective(const Json& node) {
  Collective found;
  for (const Json& attribute : node.at("attrs", "the attributes that schema 1.1 has").list()) {
    const std::string& name = attribute.at("name", "an attribute's name").text();
    const Json value = attribute.at("value", "its value");
    if (name == "collective_name") {
      found.name = value.is_empty_text() ? std::string() : value.text();
    } else if (name == "dtype") {
      found.type = value.is_empty_text() ? std::string() : value.text();
    } else if (name == "in_msg_nelems") {
      found.elements = value.count();
    } else if (name == "pg_size") {
      found.group = value.count();
    }
  }
  return found;
}

}  // namespace

ImportedRun import_pytorch_et(std::string_view json, const std::string& where, const RunOptions& options) {
  constexpr double kMostElements = 1e15;
  const JsonDocument document(without_byte_order_mark(json), where);
  const Json root = document.root();
  ImportedRun run;
  run.profile.name = run.profile.workload.name = options.name;
  run.profile.summary = "all-reduces of a PyTorch execution trace";
  run.profile.source = options.source;
  std::vector<Collective> reduces;
  std::size_t others = 0;
  double total = 0;
  std::map<Element, double> bytes;
  for (const Json& node : root.at("nodes", "a list of operators").list()) {
    // nccl:all_reduce and c10d::allreduce_ stand for the same collective once more.
    if (node.at("name", "an operator's name").scalar() != "record_param_comms") {
      continue;
    }
    Collective one = read_collective(node);
    const bool reduce = one.name == "allreduce" || one.name == "allreduce_coalesced";
    const auto element = element_named(one.type);
    if (!reduce || one.elements == 0 || !element) {
      others += one.name == "wait" ? 0 : 1;
      continue;
    }
    one.element = *element;
    total += static_cast<double>(one.elements);
    bytes[one.element] += static_cast<double>(one.elements) * size_of(one.element);
    reduces.push_back(std::move(one));
  }
  if (reduces.empty()) {
    throw Error(Fault::file, where, "has no all-reduce of Float, Half or BFloat16",
                "record_param_comms nodes with in_msg_nelems (schema 1.1) of a step of several workers");
  }
  if (total > kMostElements) {
    throw Error(Fault::file, where, "has all-reduces of more than 1e15 elements", "a model's gradient");
  }
  const auto most = std::max_element(bytes.begin(), bytes.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  run.element = most->first;
  others += std::erase_if(reduces, [&](const Collective& one) { return one.element != run.element; });
  for (const Collective& one : reduces) {
    run.workers = std::max(run.workers, one.group);
  }
  for (std::size_t i = reduces.size(); i-- > 0;) {
    add_tensor(run.profile.workload, "bucket-" + std::to_string(i + 1), {reduces[i].elements}, 0);
  }
  run.notes = {
      counted(reduces.size(), "all-reduce") + " of " + to_string(Bytes::of(most->second)) + " in " +
          std::string(name(precision_of(run.element))) +
          (run.workers > 0 ? " among " + counted(run.workers, "worker") : "") +
          ", each counted once of its three nodes",
      "no durations: give --forward and --backward, or --throughput, or import the profiler's trace of "
      "the run (kineto)"};
  if (others > 0) {
    run.notes.push_back(counted(others, "other collective") + " left out");
  }
  return run;
}

}  // namespace breakeven
