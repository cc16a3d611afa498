// Chakra execution traces: a stream of protobuf messages, each behind its length, or JSON.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/error.h"
#include "profiles/import/run.h"
#include "profiles/json_reader.h"
#include "profiles/option_values.h"
#include "profiles/text_file.h"
#include "profiles/write.h"

namespace breakeven {
namespace {

constexpr double kMostBytes = 1e15;

/// What is used of a node (et_def.proto of mlcommons/chakra).
struct Node {
  std::string name;
  bool collective = false;
  std::uint64_t start = 0, duration = 0;  // microseconds
  std::optional<std::uint64_t> exchange, bytes;
};
constexpr std::uint64_t kCollective = 7;  // NodeType COMM_COLL_NODE
constexpr std::uint64_t kAllReduce = 0;   // CollectiveCommType ALL_REDUCE
constexpr unsigned kLength = 2;           // wire type of what has a length

/// Protobuf's wire format, bounds checked.
class Wire {
 public:
  Wire(std::string_view bytes, const std::string& place) : rest_(bytes), place_(place) {}

  [[noreturn]] void fail(const std::string& wrong) const {
    throw Error(Fault::file, place_, wrong, "a Chakra trace, as protobuf or JSON");
  }
  [[nodiscard]] bool more() const { return !rest_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    fail("has a number of more than 10 bytes");
  }
  std::string_view text() { return take(varint()); }

  struct Field {
    std::uint64_t number = 0;
    unsigned type = 0;
    std::uint64_t value = 0;  ///< of a varint
    std::string_view text;    ///< of what has a length
  };
  Field field() {
    Field field;
    const std::uint64_t tag = varint();
    field.number = tag >> 3U;
    field.type = static_cast<unsigned>(tag & 7U);
    constexpr unsigned kVarint = 0, kFixed64 = 1, kFixed32 = 5;
    switch (field.type) {
      case kVarint:
        field.value = varint();
        break;
      case kFixed64:
        take(8);
        break;
      case kLength:
        field.text = text();
        break;
      case kFixed32:
        take(4);
        break;
      default:
        fail("has a field of wire type " + std::to_string(field.type));
    }
    return field;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) {
      fail("ends inside a message");
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  const std::string& place_;
};

/// AttributeProto: its name, and its value whichever whole number it is stored as.
void read_attribute(std::string_view bytes, const std::string& place, Node& node) {
  Wire wire(bytes, place);
  std::string_view name;
  std::optional<std::uint64_t> value;
  while (wire.more()) {
    const Wire::Field field = wire.field();
    if (field.number == 1) {
      name = field.text;
    } else if (field.type == 0) {
      constexpr std::uint64_t kSint32 = 15, kSint64 = 17;  // those are zigzag-coded
      value = field.number == kSint32 || field.number == kSint64 ? field.value >> 1U : field.value;
    }
  }
  if (name == "comm_type") {
    node.exchange = value;
  } else if (name == "comm_size") {
    node.bytes = value;
  }
}

Node read_node(std::string_view bytes, const std::string& place) {
  constexpr std::uint64_t kVersion = 1;  // text in GlobalMetadata, where a node has its number
  constexpr std::uint64_t kName = 2, kType = 3, kStart = 6, kDuration = 7, kAttribute = 10;
  Node node;
  Wire wire(bytes, place);
  while (wire.more()) {
    const Wire::Field field = wire.field();
    if (field.number == kVersion && field.type == kLength) {
      wire.fail("is the head of another trace: several files in one");
    } else if (field.number == kName) {
      node.name = field.text;
    } else if (field.number == kType) {
      node.collective = field.value == kCollective;
    } else if (field.number == kStart) {
      node.start = field.value;
    } else if (field.number == kDuration) {
      node.duration = field.value;
    } else if (field.number == kAttribute) {
      read_attribute(field.text, place, node);
    }
  }
  // proto3 leaves out what is zero: a collective without comm_type's value is an all-reduce.
  return node;
}

std::vector<Node> read_protobuf(std::string_view bytes, const std::string& where) {
  Wire wire(bytes, where);
  (void)wire.text();  // GlobalMetadata
  std::vector<Node> nodes;
  while (wire.more()) {
    nodes.push_back(read_node(wire.text(), where + ": node " + std::to_string(nodes.size() + 1)));
  }
  return nodes;
}

std::optional<Json> either(const Json& object, std::string_view one, std::string_view other) {
  const auto found = object.find(one);
  return found ? found : object.find(other);
}

/// The JSON form mixes its spellings: "NodeType" and "type", "runtime" and "duration_micros".
std::vector<Node> read_json(std::string_view text, const std::string& where) {
  const JsonDocument document(text, where);
  std::vector<Node> nodes;
  for (const Json& row : document.root().at("workload_graph", "a list of nodes").list()) {
    Node node;
    if (const auto name = either(row, "Name", "name")) {
      node.name = name->text();
    }
    if (const auto type = either(row, "NodeType", "type")) {
      node.collective = type->count() == kCollective;
    }
    if (const auto time = either(row, "runtime", "duration_micros")) {
      node.duration = time->count();
    }
    if (const auto exchange = either(row, "comm_type", "commType");
        exchange && exchange->is(JsonValue::Kind::number)) {
      node.exchange = exchange->count();
    }
    if (const auto bytes = either(row, "comm_size", "commSize")) {
      node.bytes = bytes->count();
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

ImportedRun import_chakra(std::string_view bytes, const std::string& where, const RunOptions& options) {
  const std::string_view text = without_byte_order_mark(bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  const std::vector<Node> nodes = json ? read_json(text, where) : read_protobuf(bytes, where);
  ImportedRun run;
  run.profile.name = run.profile.workload.name = options.name;
  run.profile.summary = "all-reduces of a Chakra trace";
  run.profile.source = options.source;
  std::vector<const Node*> reduces;
  std::size_t others = 0;
  double total = 0;
  std::uint64_t compute = 0;
  for (const Node& node : nodes) {
    const bool reduce =
        node.collective && node.bytes.value_or(0) > 0 && node.exchange.value_or(kAllReduce) == kAllReduce;
    if (reduce) {
      reduces.push_back(&node);
      total += static_cast<double>(*node.bytes);
    } else if (node.collective) {
      ++others;
    } else {
      compute += std::min<std::uint64_t>(node.duration, std::uint64_t{1} << 40U);
    }
  }
  if (reduces.empty()) {
    throw Error(Fault::file, where,
                "has no all-reduce with a size among its " + counted(nodes.size(), "node"),
                "collective nodes with comm_type 0 and comm_size in bytes");
  }
  if (total > kMostBytes) {
    throw Error(Fault::file, where, "has all-reduces of " + to_string(Bytes::of(total)),
                "at most 1e15 bytes");
  }
  for (std::size_t i = reduces.size(); i-- > 0;) {
    const std::size_t elements =
        (static_cast<std::size_t>(*reduces[i]->bytes) + sizeof(float) - 1) / sizeof(float);
    add_tensor(run.profile.workload, "bucket-" + std::to_string(i + 1), {elements}, 0);
  }
  run.notes = {counted(nodes.size(), "node") + ", " + counted(reduces.size(), "all-reduce") + " of " +
                   to_string(Bytes::of(total)) + " (comm_size counts bytes; elements are taken as fp32)",
               "in the order of the file, which backward is taken to follow"};
  if (others > 0) {
    run.notes.push_back(counted(others, "other collective") + " left out, or without a size");
  }
  run.notes.push_back(
      compute > 0 ? "compute nodes take " + to_string(Seconds::of(static_cast<double>(compute) * 1e-6)) +
                        " one after the other; which of them are backward the trace does not say"
                  : std::string("no compute times: give --forward and --backward, or --throughput"));
  return run;
}

}  // namespace breakeven
