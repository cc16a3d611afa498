// The first bytes of a file of any size, of which only those that somebody looks at are read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace breakeven {

class FileBytes {
 public:
  /// `path` is "-" for standard input. A plain file is mapped up to `most` bytes, what is none, a pipe, is
  /// read up to `most_of_a_pipe`. Throws Error (file) for what is not there, cannot be read, is a directory
  /// or empty.
  FileBytes(const std::string& path, std::size_t most, std::size_t most_of_a_pipe);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// Whether that is all of it.
  [[nodiscard]] bool whole() const { return size_ == bytes_.size(); }
  /// Of the whole file, where it is known.
  [[nodiscard]] std::optional<std::size_t> size() const { return size_; }

 private:
  void read_pipe(int file, const std::string& place, std::size_t most);

  std::string_view bytes_;
  std::string copy_;  // of a pipe
  void* mapped_ = nullptr;
  std::optional<std::size_t> size_;
};

}  // namespace breakeven
