// The bytes of a file of any size, of which only those that somebody looks at are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace breakeven {

class FileBytes {
 public:
  /// `path` is "-" for standard input. What is no plain file, a pipe, is read up to `most` bytes. Throws
  /// Error (file) for what is not there, cannot be read, is a directory or empty.
  FileBytes(const std::string& path, std::size_t most);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;
  ~FileBytes();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// Whether that is all of it.
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  void read_pipe(int file, const std::string& place, std::size_t most);

  std::string_view bytes_;
  std::string copy_;  // of a pipe
  void* mapped_ = nullptr;
  bool whole_ = true;
};

}  // namespace breakeven
