// Codes of 1 to 16 bits without gaps: code i takes bits i * bits and up, low bits first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace breakeven {

constexpr std::size_t packed_bytes(std::size_t codes, unsigned bits) {
  return (codes * bits + 7) / 8;
}

// `packed` is as long as packed_bytes(n, bits) says. Bytes hold up to 8 bits, words 9 to 16. Bits past the
// last code are zero.
void pack(const std::uint8_t* codes, std::size_t n, unsigned bits, std::byte* packed);
void pack(const std::uint16_t* codes, std::size_t n, unsigned bits, std::byte* packed);
void unpack(const std::byte* packed, std::size_t n, unsigned bits, std::uint8_t* codes);
void unpack(const std::byte* packed, std::size_t n, unsigned bits, std::uint16_t* codes);

}  // namespace breakeven
