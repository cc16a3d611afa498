#include "profiles/import/protobuf.h"

#include "model/error.h"

namespace breakeven {

void ProtobufMessage::fail(const std::string& wrong, const std::string& expected) const {
  throw Error(Fault::file, *where_ + ": byte " + std::to_string(at_), wrong, expected);
}

std::string_view ProtobufMessage::take(std::uint64_t size) {
  if (size > rest_.size()) {
    fail("the file ends inside a field of " + std::to_string(size) + " bytes", "a whole protocol buffer");
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  at_ += size;
  return taken;
}

std::uint64_t ProtobufMessage::varint() {
  constexpr unsigned kBits = 7, kLongest = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kLongest; shift += kBits) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    if (shift == kLongest - 1 && byte > 1) {
      break;
    }
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if ((byte & 0x80U) == 0) {
      return value;
    }
  }
  fail("a number does not fit into 64 bits", "a protocol buffer");
}

std::uint64_t ProtobufMessage::fixed(std::size_t size) {
  const std::string_view bytes = take(size);
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

std::optional<ProtobufField> ProtobufMessage::next() {
  if (rest_.empty()) {
    return std::nullopt;
  }
  const std::uint64_t tag = varint();
  constexpr std::uint64_t kLargestNumber = (1U << 29U) - 1;
  ProtobufField field;
  field.number = static_cast<std::uint32_t>(tag >> 3U);
  if (tag >> 3U == 0 || tag >> 3U > kLargestNumber) {
    fail("a field has the number " + std::to_string(tag >> 3U), "a protocol buffer");
  }
  field.type = static_cast<WireType>(tag & 7U);
  switch (field.type) {
    case WireType::varint:
      field.value = varint();
      break;
    case WireType::fixed64:
      field.value = fixed(8);
      break;
    case WireType::fixed32:
      field.value = fixed(4);
      break;
    case WireType::bytes:
      field.bytes = take(varint());
      break;
    default:
      fail("a field has the type " + std::to_string(tag & 7U), "a protocol buffer: 0, 1, 2 or 5");
  }
  return field;
}

ProtobufMessage ProtobufMessage::inside(const ProtobufField& field) const {
  if (field.type != WireType::bytes) {
    fail("the field " + std::to_string(field.number) + " is a number", "a message");
  }
  // `field` was the last that was taken.
  return {field.bytes, *where_, at_ - field.bytes.size()};
}

void add_varints(const ProtobufMessage& message, const ProtobufField& field,
                 std::vector<std::uint64_t>& numbers) {
  if (field.type == WireType::varint) {
    numbers.push_back(field.value);
    return;
  }
  constexpr std::size_t kMost = 1'000'000;
  ProtobufMessage packed = message.inside(field);
  while (packed.left() > 0) {
    numbers.push_back(packed.varint());
    if (numbers.size() > kMost) {
      message.fail("a field holds more than a million numbers", "fewer");
    }
  }
}

}  // namespace breakeven
