// Protocol buffers on the wire: the fields of a message, one after another, without a schema.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// https://protobuf.dev/programming-guides/encoding
enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct ProtobufField {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  ///< of a varint or a fixed number
  std::string_view bytes;   ///< of text, a message, packed numbers or raw data: not looked at
};

/// Goes over the fields of one message. Everything it refuses is an Error (file) that names the byte.
class ProtobufMessage {
 public:
  /// `where` must outlive it; `at` is where `bytes` begin in the file.
  ProtobufMessage(std::string_view bytes, const std::string& where, std::size_t at = 0)
      : rest_(bytes), where_(&where), at_(at) {}

  /// Nothing at the end of the message.
  std::optional<ProtobufField> next();
  /// The message that a field of this one holds.
  [[nodiscard]] ProtobufMessage inside(const ProtobufField& field) const;
  /// A varint at the front, as it also stands in front of each message of a stream.
  std::uint64_t varint();
  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  [[noreturn]] void fail(const std::string& wrong, const std::string& expected) const;

 private:
  std::uint64_t fixed(std::size_t size);
  std::string_view take(std::uint64_t size);

  std::string_view rest_;
  const std::string* where_;
  std::size_t at_;
};

/// The numbers of a repeated integer field, packed or one by one: appends what `field` holds.
void add_varints(const ProtobufMessage& message, const ProtobufField& field,
                 std::vector<std::uint64_t>& numbers);

}  // namespace breakeven
