// An ONNX model's initializers, in the order in which its nodes use them -> a model profile. Weights are
// never read.
#include "profiles/import/onnx.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/error.h"
#include "profiles/import/file_bytes.h"
#include "profiles/import/protobuf.h"
#include "profiles/option_values.h"

namespace breakeven {
namespace {

// https://protobuf.dev/programming-guides/encoding/#size-limit: larger models keep their weights in other
// files.
constexpr std::size_t kLargest = std::size_t{2} << 30;
constexpr std::size_t kMostOfAPipe = std::size_t{64} << 20;
constexpr std::size_t kMostTensors = 200'000, kMostInputs = 10'000'000;
constexpr double kMostDim = 1e15;

// Numbers of fields: onnx/onnx.proto of ONNX 1.16.
constexpr std::uint32_t kModelGraph = 7;
constexpr std::uint32_t kGraphNode = 1, kGraphInitializer = 5, kGraphSparse = 15;
constexpr std::uint32_t kNodeInput = 1, kNodeType = 4;
constexpr std::uint32_t kTensorDims = 1, kTensorType = 2, kTensorName = 8;

/// FLOAT, FLOAT16, DOUBLE, BFLOAT16 and the 8-bit floats; all others are no numbers that are trained.
bool is_floating(std::uint64_t type) {
  constexpr std::array<std::uint64_t, 8> kFloating = {1, 10, 11, 16, 17, 18, 19, 20};
  return std::find(kFloating.begin(), kFloating.end(), type) != kFloating.end();
}

std::string text_of(const ProtobufMessage& message, const ProtobufField& field) {
  if (field.type != WireType::bytes) {
    message.fail("the field " + std::to_string(field.number) + " is a number", "text");
  }
  return std::string(field.bytes);
}

StoredTensor read_tensor(ProtobufMessage message) {
  StoredTensor tensor;
  std::vector<std::uint64_t> dims;
  std::uint64_t type = 0;
  while (const auto field = message.next()) {
    if (field->number == kTensorDims) {
      add_varints(message, *field, dims);
    } else if (field->number == kTensorType) {
      type = field->value;
    } else if (field->number == kTensorName) {
      tensor.name = text_of(message, *field);
    }
  }
  for (const std::uint64_t dim : dims) {
    if (static_cast<double>(dim) > kMostDim) {  // a negative one too
      message.fail("the tensor " + quote(tensor.name) + " has the dimension " +
                       std::to_string(static_cast<std::int64_t>(dim)),
                   "0 to 1e15");
    }
    tensor.dims.push_back(dim);
  }
  if (tensor.name.empty()) {
    message.fail("an initializer has no name", "an ONNX model");
  }
  tensor.floating = is_floating(type);
  return tensor;
}

/// What the nodes tell about the tensors they take.
struct Uses {
  std::map<std::string, std::size_t, std::less<>> first;  ///< name -> place among all inputs
  std::set<std::string, std::less<>> statistics;          ///< mean and variance of a batch normalisation
  std::size_t inputs = 0;
};

void read_node(ProtobufMessage message, Uses& uses) {
  std::vector<std::string> inputs;
  std::string type;
  while (const auto field = message.next()) {
    if (field->number == kNodeInput) {
      inputs.push_back(text_of(message, *field));
    } else if (field->number == kNodeType) {
      type = text_of(message, *field);
    }
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (type == "BatchNormalization" && i >= 3) {  // after the data, the scale and the bias
      uses.statistics.insert(inputs[i]);
    }
    uses.first.emplace(inputs[i], uses.inputs++);
  }
  if (uses.inputs > kMostInputs) {
    message.fail("the nodes have more than ten million inputs", "a model");
  }
}

OnnxGraph read_graph(ProtobufMessage message) {
  OnnxGraph graph;
  Uses uses;
  std::set<std::string, std::less<>> names;
  while (const auto field = message.next()) {
    if (field->number == kGraphNode) {
      read_node(message.inside(*field), uses);
    } else if (field->number == kGraphInitializer) {
      graph.tensors.push_back(read_tensor(message.inside(*field)));
      if (graph.tensors.size() > kMostTensors || !names.insert(graph.tensors.back().name).second) {
        message.fail(graph.tensors.size() > kMostTensors
                         ? "more than 200,000 initializers"
                         : "the initializer " + quote(graph.tensors.back().name) + " is there twice",
                     "a model");
      }
    } else if (field->number == kGraphSparse) {
      ++graph.sparse;
    }
  }
  const auto constant = [&](const StoredTensor& tensor) {
    return !uses.first.contains(tensor.name) || product_of(tensor.dims) == 1 ||
           uses.statistics.contains(tensor.name);
  };
  const auto kept = std::stable_partition(graph.tensors.begin(), graph.tensors.end(),
                                          [&](const StoredTensor& tensor) { return !constant(tensor); });
  graph.constants = static_cast<std::size_t>(graph.tensors.end() - kept);
  graph.tensors.erase(kept, graph.tensors.end());
  std::sort(graph.tensors.begin(), graph.tensors.end(), [&](const StoredTensor& a, const StoredTensor& b) {
    return uses.first.at(a.name) < uses.first.at(b.name);
  });
  return graph;
}

}  // namespace

OnnxGraph read_onnx(std::string_view bytes, const std::string& where) {
  ProtobufMessage model(bytes, where);
  std::optional<OnnxGraph> graph;
  while (const auto field = model.next()) {
    if (field->number == kModelGraph) {
      if (graph) {
        model.fail("there is a second graph", "an ONNX model");
      }
      graph = read_graph(model.inside(*field));
    }
  }
  if (!graph) {
    throw Error(Fault::file, where, "holds no graph", "an ONNX model");
  }
  return *std::move(graph);
}

ImportedModel import_onnx(const std::string& path, const ModelOptions& options) {
  const std::string where = place_of(path);
  const FileBytes file(path, kLargest, kMostOfAPipe);
  if (!file.whole()) {
    throw Error(Fault::file, where, file.size() ? "is larger than 2 GiB" : "is larger than 64 MiB",
                file.size()
                    ? "an ONNX model: protocol buffers end there, and larger models keep their weights in "
                      "other files"
                    : "the name of a file, of which the weights are not read");
  }
  const OnnxGraph graph = read_onnx(file.bytes(), where);
  ImportedModel result = model_of(graph.tensors, options, where);
  result.model.source = "the initializers of an ONNX model, read by breakeven import onnx";
  result.notes.emplace_back(
      "the order is that in which the graph's nodes use the tensors; what an export folded or fused "
      "is no longer there");
  if (graph.constants > 0) {
    result.notes.push_back(
        "left out: " + with_commas(graph.constants) +
        " initializers that are single numbers, statistics of batch normalisations or not used");
  }
  if (graph.sparse > 0) {
    result.notes.push_back("left out: " + with_commas(graph.sparse) + " sparse initializers");
  }
  return result;
}

}  // namespace breakeven
