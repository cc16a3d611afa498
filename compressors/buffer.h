// Memory that kernels keep from step to step: fresh pages cost more than the kernels themselves.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace breakeven {

/// At least this many bytes may be read and written past the end of a Buffer: whole vectors fit.
constexpr std::size_t kBufferSlack = 256;

/// Zeroed, touched memory in huge pages where that pays. Throws std::bad_alloc.
std::shared_ptr<std::byte> allocate_pages(std::size_t bytes);

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size), pages_(allocate_pages(size * sizeof(T) + kBufferSlack)) {}
  /// Element `at` begins a cache line, in place of the first one.
  Buffer(std::size_t size, std::size_t at) : Buffer(size + kLine / sizeof(T)) {
    size_ = size;
    pages_ = {pages_, pages_.get() + (kLine - at * sizeof(T) % kLine) % kLine};
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* data() { return reinterpret_cast<T*>(pages_.get()); }
  [[nodiscard]] const T* data() const { return reinterpret_cast<const T*>(pages_.get()); }
  [[nodiscard]] T& operator[](std::size_t i) { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return data()[i]; }
  [[nodiscard]] std::span<T> span() { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), size_}; }
  /// The first `count` elements as bytes.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t count) const {
    return std::as_bytes(span().first(count));
  }

 private:
  static constexpr std::size_t kLine = 64;

  std::size_t size_ = 0;
  std::shared_ptr<std::byte> pages_;
};

}  // namespace breakeven
