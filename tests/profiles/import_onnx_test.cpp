// Are the tensors of an ONNX model found, in the order of its nodes, and broken files refused?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "profiles/import/onnx.h"
#include "profiles/import/protobuf.h"
#include "tests/profiles/helpers.h"

namespace breakeven {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7U) {
    bytes += static_cast<char>((value & 0x7fU) | 0x80U);
  }
  return bytes + static_cast<char>(value);
}
std::string number(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3U) + varint(value);
}
std::string bytes(std::uint32_t field, const std::string& content) {
  return varint(field << 3U | 2U) + varint(content.size()) + content;
}

// Fields of onnx.proto.
std::string tensor(const std::string& name, std::uint64_t type, const std::vector<std::uint64_t>& dims) {
  std::string message;
  for (const std::uint64_t dim : dims) {
    message += number(1, dim);
  }
  return bytes(5, message + number(2, type) + bytes(9, "raw data") + bytes(8, name));
}
std::string node(const std::string& type, const std::vector<std::string>& inputs) {
  std::string message;
  for (const std::string& input : inputs) {
    message += bytes(1, input);
  }
  return bytes(1, message + bytes(4, type));
}
std::string model(const std::string& graph) {
  return number(1, 8) + bytes(2, "a test") + bytes(7, graph);
}

constexpr std::uint64_t kFloat = 1, kInt64 = 7, kBfloat16 = 16;

std::string graph() {
  return node("Conv", {"x", "conv.weight"}) +
         node("BatchNormalization", {"c", "bn.weight", "bn.bias", "bn.mean", "bn.var"}) +
         node("Reshape", {"b", "shape"}) + node("Mul", {"r", "half"}) +
         node("Gemm", {"m", "fc.weight", "fc.bias"}) + tensor("fc.bias", kFloat, {10}) +
         tensor("fc.weight", kBfloat16, {10, 8}) + tensor("bn.bias", kFloat, {8}) +
         tensor("bn.mean", kFloat, {8}) + tensor("bn.var", kFloat, {8}) + tensor("bn.weight", kFloat, {8}) +
         tensor("conv.weight", kFloat, {8, 3, 3, 3}) + tensor("half", kFloat, {}) +
         tensor("shape", kInt64, {2}) + tensor("unused", kFloat, {100});
}

std::string refusal(const std::string& bytes) {
  return failure([&] { (void)read_onnx(bytes, "net.onnx"); });
}

TEST(ImportOnnx, InitializersAreInTheOrderOfTheNodes) {
  const TemporaryDirectory directory;
  const ImportedModel imported = import_onnx(directory.file("net.onnx", model(graph())), {});
  std::vector<std::string> names;
  for (const Tensor& tensor : imported.model.workload.tensors) {
    names.push_back(tensor.name);
  }
  EXPECT_THAT(names, ElementsAre("conv.weight", "bn.weight", "bn.bias", "fc.weight", "fc.bias"));
  EXPECT_THAT(imported.model.workload.tensors[0].dims, ElementsAre(8, 3, 3, 3));
  EXPECT_EQ(imported.model.workload.elements(), 216 + 8 + 8 + 80 + 10U);
  EXPECT_THAT(imported.notes,
              Contains("left out: 4 initializers that are single numbers, statistics of batch "
                       "normalisations or not used"));
  EXPECT_THAT(imported.notes, Contains(StartsWith("left out: 1 tensor of integers")));
}

TEST(ImportOnnx, DimensionsMayBePacked) {
  const std::string packed = bytes(5, bytes(1, varint(300) + varint(2)) + number(2, kFloat) + bytes(8, "w")) +
                             node("MatMul", {"x", "w"});
  EXPECT_THAT(read_onnx(model(packed), "net.onnx").tensors.at(0).dims, ElementsAre(300, 2));
}

TEST(ImportOnnx, WhatIsLargerThanAProtocolBufferIsRefused) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("net.onnx", model(graph()));
  std::filesystem::resize_file(path, 10'000'000'000);
  EXPECT_THAT(failure([&] { (void)import_onnx(path, {}); }),
              StartsWith("file " + path + ": is larger than 2 GiB: expected an ONNX model"));
}

TEST(ImportOnnx, BrokenFilesAreRefused) {
  const std::string whole = model(graph());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(refusal(whole.substr(0, size)), StartsWith("file net.onnx: ")) << size;
  }
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)).find("file net.onnx: byte "), 0U);
  EXPECT_EQ(refusal(number(1, 8)), "file net.onnx: holds no graph: expected an ONNX model");
  EXPECT_THAT(refusal(whole + bytes(7, "")), HasSubstr("there is a second graph"));
  EXPECT_THAT(refusal("{\"json\": 1}"), StartsWith("file net.onnx: byte "));
  EXPECT_THAT(refusal(number(7, 1)), HasSubstr("the field 7 is a number: expected a message"));
  EXPECT_THAT(refusal(std::string(11, '\xff')), HasSubstr("a number does not fit into 64 bits"));
  EXPECT_THAT(refusal(varint(3)), HasSubstr("a field has the number 0"));
  EXPECT_THAT(refusal(varint(1U << 3U | 3U)), HasSubstr("a field has the type 3"));
  EXPECT_THAT(refusal(varint(7U << 3U | 2U) + varint(std::numeric_limits<std::uint64_t>::max())),
              HasSubstr("the file ends inside a field of 18446744073709551615 bytes"));
  EXPECT_THAT(refusal(model(tensor("w", kFloat, {std::numeric_limits<std::uint64_t>::max()}))),
              HasSubstr("the tensor \"w\" has the dimension -1: expected 0 to 1e15"));
  EXPECT_THAT(refusal(model(tensor("", kFloat, {2}))), HasSubstr("an initializer has no name"));
  EXPECT_THAT(refusal(model(tensor("w", kFloat, {2}) + tensor("w", kFloat, {2}))),
              HasSubstr("\"w\" is there twice"));
  const TemporaryDirectory directory;
  EXPECT_THAT(failure([&] { (void)import_onnx(directory.file("net.onnx", model("")), {}); }),
              HasSubstr("holds no tensor that is trained"));
  EXPECT_THAT(failure([&] {
                (void)import_onnx(
                    directory.file("net.onnx", model(tensor("w", kFloat, {1'000'000'000, 1'000'000'000}) +
                                                     node("MatMul", {"x", "w"}))),
                    {});
              }),
              HasSubstr("more than 1e15 elements"));
}

}  // namespace
}  // namespace breakeven
