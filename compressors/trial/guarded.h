// Memory with a known pattern around it: shows who writes beside it, and differs from run to run for who
// reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace breakeven {

class Guarded {
 public:
  /// What lies around the data.
  struct Around {
    std::size_t offset = 0;      ///< of the data from an address that is a multiple of 16
    std::size_t behind = kZone;  ///< bytes; 0: the allocation ends with the data, for sanitizers to see
    std::uint8_t pattern = 0;
  };
  static constexpr std::size_t kZone = 256;

  Guarded() = default;
  Guarded(std::size_t size, const Around& around)
      : around_(around),
        size_(size),
        memory_(kZone + around.offset + size + around.behind, std::byte{around.pattern}) {}

  [[nodiscard]] std::span<std::byte> bytes() {
    return std::span(memory_).subspan(kZone + around_.offset, size_);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::span(memory_).subspan(kZone + around_.offset, size_);
  }
  /// The offset must be a multiple of 4.
  [[nodiscard]] std::span<float> floats() {
    return {reinterpret_cast<float*>(bytes().data()), size_ / sizeof(float)};
  }
  [[nodiscard]] std::span<const float> floats() const {
    return {reinterpret_cast<const float*>(bytes().data()), size_ / sizeof(float)};
  }
  void fill(std::span<const std::byte> from) { std::copy(from.begin(), from.end(), bytes().begin()); }
  [[nodiscard]] bool holds(std::span<const std::byte> expected) const {
    return expected.size() == size_ &&
           (size_ == 0 || std::memcmp(expected.data(), bytes().data(), size_) == 0);
  }
  /// "in front of", "past the end of": where the pattern has changed; else empty.
  [[nodiscard]] std::string damage() const {
    const auto changed = [&](std::span<const std::byte> zone) {
      return std::any_of(zone.begin(), zone.end(),
                         [&](std::byte byte) { return byte != std::byte{around_.pattern}; });
    };
    const std::span<const std::byte> all = memory_;
    return changed(all.first(kZone + around_.offset)) ? "in front of"
           : changed(all.last(around_.behind))        ? "past the end of"
                                                      : "";
  }

 private:
  Around around_;
  std::size_t size_ = 0;
  std::vector<std::byte> memory_;
};

}  // namespace breakeven
